from dataclasses import replace

import pytest

from rooftree.facts.catalogue import cluster
from rooftree.models.memory import training_bytes
from rooftree.models.step import step_times
from rooftree.studies.run import quiet, run
from rooftree.studies.training import SHOWN, careful, find, metrics, runners_up, surely_fits, why


@pytest.fixture(scope="module")
def scenario(catalogue):
    from rooftree.studies.scenario import training_scenario

    return training_scenario(
        model="llama-3.1-70b",
        cluster="azure-gb300-4608",
        accelerators=64,
        precision="fp8",
        sequence=8192,
        global_batch=128,
        layout={},
        catalogue=catalogue,
    )


@pytest.fixture(scope="module")
def answer(scenario):
    return run(scenario).answers[0]


def test_the_parts_of_the_time_add_up_to_the_step(answer):
    assert sum(part.value for part in answer.time) == pytest.approx(answer.metrics["step_s"].value)
    assert all(part.what for part in answer.time)


def test_the_parts_of_the_memory_add_up_and_fit(answer):
    used = sum(part.value for part in answer.memory)
    assert used == pytest.approx(answer.metrics["memory_bytes"].value)
    assert used <= answer.memory_capacity_bytes


def test_the_step_comes_first(answer):
    assert next(iter(answer.metrics)) == "step_s"


def test_rates_follow_from_the_step(answer):
    value = {name: estimate.value for name, estimate in answer.metrics.items()}
    assert value["tokens_per_s"] * value["step_s"] == pytest.approx(128 * 8192)
    assert value["tokens_per_s_per_accelerator"] * 64 == pytest.approx(value["tokens_per_s"])
    assert value["energy_j_per_token"] * value["tokens_per_s"] == pytest.approx(value["power_w"])
    assert 0 < value["mfu"] < 1


def test_the_utilisation_counts_six_operations_a_parameter_and_attention(answer):
    value = {name: estimate.value for name, estimate in answer.metrics.items()}
    attention = 6 * 80 * 8192 * 64 * 128  # causal: half of 12 layers sequence heads head_dim
    by_hand = (6 * 70.55e9 - 6 * 128256 * 8192 + attention) * value["tokens_per_s_per_accelerator"]
    assert value["model_flops_per_s_per_accelerator"] == pytest.approx(by_hand, rel=0.01)


def test_the_answer_tells_the_layout_that_it_computed(answer, train):
    shown = {key: answer.layout[key] for key in ("tensor", "pipeline", "context", "microbatch", "interleave")}
    stated = shown | {"recompute": answer.layout["recompute"]}
    again = train(model="llama-3.1-70b", accelerators=64, global_batch=128, layout=stated)
    assert sum(step_times(again.training.case).values()) == pytest.approx(answer.metrics["step_s"].value)
    assert answer.layout["data"] * shown["tensor"] * shown["pipeline"] * shown["context"] == 64


def test_runners_up_are_slower_and_differ_in_a_parallel_size(scenario, answer):
    assert len(answer.alternatives) == SHOWN
    slower = [other.headline for other in answer.alternatives]
    assert slower == sorted(slower)
    assert slower[0] >= answer.metrics["step_s"].value
    found = find(scenario.training, quiet)
    assert [other.layout for other in runners_up(found)] == [other.layout for other in answer.alternatives]


def test_a_runner_up_says_which_parts_cost_it_time(scenario):
    found = find(scenario.training, quiet).candidates
    best, last = found[0], found[-1]
    assert why(best, best) == "+0.0% in all"
    part = max(best.times_s, key=lambda name: abs(last.times_s[name] - best.times_s[name]))
    total, parts = why(best, last).split(": ")
    assert total == f"{last.step_s / best.step_s - 1:+.1%} in all"
    assert parts.startswith(f"{part} ")


def test_a_stated_layout_has_no_runners_up(train):
    answer = run(train(layout={"tensor": 8})).answers[0]
    assert (answer.candidates, answer.alternatives) == (1, ())


def test_the_models_error_stretches_the_time_and_nothing_else(scenario):
    case = replace(find(scenario.training, quiet).candidates[0].case)
    plain, slow = metrics(case, 64), metrics(case, 64, 2.0)
    assert slow["step_s"] == 2 * plain["step_s"]
    assert slow["tokens_per_s"] == plain["tokens_per_s"] / 2
    assert {m for m in plain if plain[m] == slow[m]} == {"network_share", "bubble_share", "memory_bytes", "power_w"}


@pytest.mark.parametrize(
    ("gpus", "precision", "extrapolated"), [(512, "fp8", False), (4608, "fp8", True), (64, "bf16", True)]
)
def test_beyond_the_measured_runs_an_answer_is_called_extrapolated(train, gpus, precision, extrapolated):
    layout = {"tensor": 2, "pipeline": 4}
    asked = {"accelerators": gpus, "global_batch": gpus * 2, "precision": precision, "layout": layout}
    answer = run(train(model="llama-3.1-70b", **asked)).answers[0]
    assert answer.extrapolated is extrapolated
    assert any("measured" in line for line in answer.validity) is extrapolated


def test_an_extrapolated_answer_has_the_wider_range(train):
    layout = {"tensor": 2, "pipeline": 4}
    within, beyond = (
        run(train(accelerators=gpus, global_batch=2 * gpus, layout=layout)).answers[0].metrics["step_s"]
        for gpus in (512, 4608)
    )
    assert beyond.high / beyond.value > within.high / within.value


def test_a_layout_that_surely_fits_is_named_when_the_fastest_may_not(scenario):
    found = find(scenario.training, quiet)
    worst = careful(found.candidates[0].case.cluster)
    capacity_bytes = worst.rack.host.accelerator.memory_bytes

    def needs_bytes(case):
        return sum(training_bytes(case.model, case.layout, case.workload, worst.stack, case.linear, case.core).values())

    fitting = [one for one in found.candidates if needs_bytes(one.case) <= capacity_bytes]
    if fitting[0] is found.candidates[0]:
        assert surely_fits(found) == ()
    else:
        assert str(fitting[0].case.layout) in surely_fits(found)[0]


def test_the_careful_cluster_has_the_worst_of_every_memory_figure(catalogue):
    pod = cluster(catalogue, "azure-gb300-4608")
    worst = careful(pod)
    assert worst.stack.reserved_bytes == pod.stack.figures["reserved_bytes"].high
    assert worst.stack.parameter_bytes["gradient"] == pod.stack.figures["parameter_bytes.gradient"].high
    assert worst.rack.host.accelerator.memory_bytes == pod.rack.host.accelerator.figures["memory_bytes"].low
    assert worst.stack.host_s == pod.stack.host_s
