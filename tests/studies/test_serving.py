import pytest

from rooftree.studies.run import run
from rooftree.studies.serving import SHOWN, find, metrics, why


@pytest.fixture
def ask(infer):
    def answered(**changes):
        return run(infer(**changes)).answers[0]

    return answered


def test_the_parts_add_up_to_the_time_between_tokens_and_to_the_memory(ask):
    answer = ask()
    assert sum(part.value for part in answer.time) == pytest.approx(answer.metrics["time_per_output_token_s"].value)
    assert sum(part.value for part in answer.memory) == pytest.approx(answer.metrics["memory_bytes"].value)


def test_rates_follow_from_each_other(ask):
    value = {name: estimate.value for name, estimate in ask().metrics.items()}
    assert next(iter(value)) == "tokens_per_s"
    assert value["requests_per_s"] * 1024 == pytest.approx(value["tokens_per_s"])
    assert value["tokens_per_s_per_accelerator"] * 8 == pytest.approx(value["tokens_per_s"])
    assert value["energy_j_per_token"] * value["tokens_per_s"] == pytest.approx(value["power_w"])


def test_the_limit_of_time_is_kept(ask):
    assert ask(time_per_output_token_limit_s=0.01).metrics["time_per_output_token_s"].value <= 0.01


def test_a_tighter_limit_never_gives_more_tokens(ask):
    rates = [ask(time_per_output_token_limit_s=s).metrics["tokens_per_s"].value for s in (0.005, 0.01, 0.02, 0.05)]
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]


def test_requests_that_do_not_all_fit_are_told(ask):
    layout = {"tensor": 8}
    assert not any("the rest wait" in note for note in ask(concurrency=64, layout=layout).notes)
    (note,) = [note for note in ask(concurrency=10**6, layout=layout).notes if "the rest wait" in note]
    assert note.startswith("of 1,000,000 requests a replica, memory and limit let ")


def test_gpus_that_stand_idle_are_told(ask):
    answer = ask(accelerators=70, layout={"tensor": 8})
    assert answer.layout["replicas"] == 8
    assert any(note.startswith("6 GPUs stand idle") for note in answer.notes)


def test_replicas_add_up(ask):
    one, nine = (ask(accelerators=gpus, layout={"tensor": 8}, concurrency=32).metrics for gpus in (8, 72))
    assert nine["tokens_per_s"].value == pytest.approx(9 * one["tokens_per_s"].value, rel=1e-6)
    assert nine["time_per_output_token_s"].value == pytest.approx(one["time_per_output_token_s"].value, rel=1e-6)


def test_runners_up_give_fewer_tokens(ask):
    answer = ask(model="deepseek-r1", accelerators=72, precision="nvfp4")
    rates = [answer.metrics["tokens_per_s"].value, *(other.headline for other in answer.alternatives)]
    assert len(rates) == SHOWN + 1
    assert rates == sorted(rates, reverse=True)


def test_a_runner_up_says_what_costs_it_throughput(infer):
    found, _ = find(infer(model="deepseek-r1", accelerators=72, precision="nvfp4").serving)
    assert why(found[0], found[0]) == "equal"
    assert "time per token +" in why(found[0], found[-1]) or "sequences at once -" in why(found[0], found[-1])


def test_the_models_error_stretches_times_and_shrinks_rates(infer):
    question = infer(layout={"tensor": 8}).serving
    (best,), _ = find(question)
    plain, slow = (metrics(best, 8, question.replica.cluster, factor) for factor in (1.0, 2.0))
    for metric in ("time_per_output_token_s", "time_to_first_token_s"):
        assert slow[metric] == pytest.approx(2 * plain[metric])
    assert slow["tokens_per_s"] == pytest.approx(plain["tokens_per_s"] / 2)


@pytest.mark.parametrize(("gpus", "extrapolated"), [(72, False), (144, True)])
def test_more_gpus_than_were_measured_are_extrapolated(ask, gpus, extrapolated):
    asked = {"model": "deepseek-r1", "precision": "nvfp4", "layout": {"expert": 8}}
    assert ask(accelerators=gpus, **asked).extrapolated is extrapolated
