import itertools
import re
from dataclasses import replace

import pytest

from rooftree.errors import DoesNotFit, ScenarioError
from rooftree.models.layout import Layout, faults
from rooftree.models.steady import mixed_times
from rooftree.studies.run import run
from rooftree.studies.serve import memory, most_sequences, replica_layouts, replicas_on, search_serving, serve


def at(replica, **changes):
    return replace(replica, workload=replace(replica.workload, **changes))


@pytest.mark.parametrize("concurrency", [1, 8, 64, 500])
@pytest.mark.parametrize("layout", [Layout(tensor=8), Layout(tensor=2, pipeline=4)])
def test_littles_law_holds_at_a_stated_concurrency(infer, concurrency, layout):
    served = serve(at(replace(infer().serving.replica, layout=layout), concurrency=concurrency), 8)
    requests_per_s = served.tokens_per_s / 1024
    stay_s = served.first_token_s + 1024 * served.iteration_s
    assert requests_per_s * stay_s == pytest.approx(concurrency, rel=1e-6)
    assert served.in_flight == pytest.approx(concurrency, rel=1e-6)


@pytest.mark.parametrize("model", ["llama-3.1-8b", "deepseek-r1"])
def test_more_requests_never_lower_the_throughput(infer, model):
    replica = infer(model=model, precision="fp8").serving.replica
    layout = Layout(tensor=1, data=8, expert=8) if replica.model.experts else Layout(tensor=8)
    replica = at(replace(replica, layout=layout), time_per_output_token_limit_s=0.0)
    rates = [serve(at(replica, concurrency=n), 8).tokens_per_s for n in (1, 2, 4, 16, 64, 256, 1024, 4096)]
    assert rates == sorted(rates)
    assert rates[-1] > 4 * rates[0]


def test_as_many_sequences_as_memory_holds_and_not_one_more(infer):
    replica = replace(infer().serving.replica, layout=Layout(tensor=1))
    capacity_bytes = replica.cluster.rack.host.accelerator.memory_bytes
    most = most_sequences(replica, 0.0)
    assert sum(memory(replica, most).values()) <= capacity_bytes < sum(memory(replica, most + 1).values())


def test_as_many_sequences_as_the_limit_of_time_allows_and_not_one_more(infer):
    replica = replace(infer().serving.replica, layout=Layout(tensor=8))
    most = most_sequences(replica, 0.02)
    assert sum(mixed_times(replica, most).values()) <= 0.02 < sum(mixed_times(replica, most + 1).values())


def test_a_limit_that_a_single_request_breaks_serves_none(infer):
    replica = at(replace(infer().serving.replica, layout=Layout(tensor=8)), time_per_output_token_limit_s=1e-6)
    assert serve(replica, 8) is None


def test_every_replica_of_a_search_keeps_memory_and_limit(infer):
    replica = infer(model="deepseek-r1", accelerators=72, precision="nvfp4").serving.replica
    found, looked_at = search_serving(replica, 72)
    assert 0 < len(found) <= looked_at
    for one in found:
        assert sum(memory(one.replica, one.sequences).values()) <= replica.cluster.rack.host.accelerator.memory_bytes
        assert one.iteration_s <= 0.05


def brute_force(replica, devices):
    """All replicas of a dense model that divide, by trying every size."""
    for tensor, pipeline in itertools.product(range(1, devices + 1), (1, 2, 4, 8)):
        layout = Layout(tensor=tensor, pipeline=pipeline)
        if tensor * pipeline <= devices and not faults(layout, replica.model, layout.devices):
            yield replace(replica, layout=layout)


def test_the_winner_gives_the_most_tokens_of_all_replicas(infer):
    replica = infer(model="llama-3.1-70b").serving.replica
    rates = [one.tokens_per_s for tried in brute_force(replica, 8) if (one := serve(tried, 8)) is not None]
    found, _ = search_serving(replica, 8)
    assert len(rates) == len(found) > 3
    assert [one.tokens_per_s for one in found] == sorted(rates, reverse=True)


def test_every_replica_divides(infer):
    for model in ("llama-3.1-405b", "deepseek-r1"):
        replica = infer(model=model, accelerators=72).serving.replica
        layouts = list(replica_layouts(replica, 72))
        assert len(layouts) > 5
        assert [faults(layout, replica.model, layout.devices) for layout in layouts] == [[]] * len(layouts)


def test_what_does_not_fit_names_term_amount_and_a_replica_that_fits(infer):
    asked = {"model": "llama-3.1-405b", "precision": "bf16"}
    with pytest.raises(DoesNotFit) as raised:
        run(infer(**asked, accelerators=1))
    text = str(raised.value)
    assert re.search(r"does not fit 298 GB a GPU: .* needs 825 GB, 527 GB too much, mostly weights \(812 GB\)", text)
    enough = int(re.search(r"a replica of (\d+) GPUs \('.*'\) fits", text)[1])
    assert run(infer(**asked, accelerators=enough)).answers[0].metrics["tokens_per_s"].value > 0
    with pytest.raises(DoesNotFit):
        run(infer(**asked, accelerators=enough - 1))


def test_requests_that_no_replica_holds_propose_none(infer):
    with pytest.raises(DoesNotFit, match="no replica in a scale-up domain does"):
        run(infer(model="llama-3.1-405b", input_tokens=10**8))


def test_a_limit_that_no_replica_keeps_names_the_fastest(infer):
    with pytest.raises(DoesNotFit, match=r"no replica gives a token every 1.00 µs; the fastest \(tp8\) takes 4"):
        run(infer(time_per_output_token_limit_s=1e-6))


def test_a_stated_replica_that_does_not_fit_is_refused(infer):
    with pytest.raises(DoesNotFit, match="the closest replica"):
        run(infer(model="llama-3.1-405b", precision="bf16", layout={"tensor": 2}))


@pytest.mark.parametrize(
    ("layout", "message"),
    [({"tensor": 5}, "does not divide 32 heads; try 4 or 8"), ({"tensor": 16}, "takes 16 devices a replica")],
)
def test_a_stated_replica_that_does_not_divide_is_refused(infer, layout, message):
    with pytest.raises(ScenarioError, match=message):
        infer(layout=layout)


@pytest.mark.parametrize(
    ("devices", "size", "replicas"), [(72, 16, 4), (144, 16, 8), (144, 64, 2), (72, 64, 1), (68, 64, 1), (80, 8, 10)]
)
def test_replicas_do_not_straddle_racks(infer, devices, size, replicas):
    layout = Layout(tensor=1, data=size, expert=size)
    assert replicas_on(replace(infer().serving.replica, layout=layout, domain=72), devices) == replicas


def test_a_larger_replica_takes_whole_domains(infer):
    layout = Layout(tensor=1, data=128, expert=128)
    assert replicas_on(replace(infer().serving.replica, layout=layout, domain=64), 256) == 2


def test_more_gpus_never_serve_less(infer):
    replica = replace(infer(model="llama-3.1-70b", cluster="h100-superpod", precision="fp8").serving.replica, domain=8)
    rates = [search_serving(replica, devices)[0][0].tokens_per_s for devices in (8, 9, 12, 16, 64, 65, 140)]
    assert rates == sorted(rates)
