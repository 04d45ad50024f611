import itertools
import math
import re
from dataclasses import replace

import pytest

from rooftree.errors import DoesNotFit, ScenarioError
from rooftree.models.layout import Layout, faults
from rooftree.models.memory import training_bytes
from rooftree.models.step import step_times
from rooftree.studies.run import quiet, run
from rooftree.studies.search import domain_of, search_training, spread, training_layouts

SHORT = {"tp": "tensor", "cp": "context", "pp": "pipeline", "ep": "expert", "mb": "microbatch", "vp": "interleave"}


def capacity_bytes(case):
    return case.cluster.rack.host.accelerator.memory_bytes


def held_bytes(case):
    parts = training_bytes(case.model, case.layout, case.workload, case.cluster.stack, case.linear, case.core)
    return sum(parts.values())


def brute_force(case, devices):
    """All layouts that divide, found by trying every combination."""
    sizes, layers, batch = range(1, devices + 1), case.model.layers, case.workload.global_batch
    for tensor, pipeline, context in itertools.product(sizes, repeat=3):
        data, rest = divmod(devices, tensor * pipeline * context)
        if rest or case.workload.sequence % (2 * context) or case.domain % tensor:
            continue
        for microbatch, interleave, recompute in itertools.product(
            (1, 2, 4, 8, 16, 32), range(1, layers + 1), ("none", "selective", "full")
        ):
            layout = Layout(
                tensor=tensor,
                pipeline=pipeline,
                context=context,
                data=data,
                microbatch=microbatch,
                interleave=interleave,
                recompute=recompute,
            )
            fullest = interleave * math.ceil(layers / (pipeline * interleave))
            if faults(layout, case.model, devices, batch) or fullest != math.ceil(layers / pipeline):
                continue
            if interleave > 1 and batch // (data * microbatch) % pipeline:
                continue
            yield replace(case, layout=layout)


@pytest.mark.parametrize(("model", "gpus", "batch"), [("llama-3.1-8b", 4, 8), ("llama-3.1-70b", 8, 8)])
def test_the_winner_is_the_fastest_of_all(train, model, gpus, batch):
    question = train(model=model, accelerators=gpus, global_batch=batch).training
    fitting = [case for case in brute_force(question.case, gpus) if held_bytes(case) <= capacity_bytes(case)]
    times_s = [sum(step_times(case).values()) for case in fitting]
    found = search_training(question.case, gpus, quiet)
    assert len(times_s) > 20
    assert found.candidates[0].step_s == pytest.approx(min(times_s), rel=1e-12)


@pytest.mark.parametrize(("model", "gpus", "batch"), [("llama-3.1-8b", 8, 16), ("llama-3.1-70b", 6, 12)])
def test_every_layout_that_divides_is_looked_at_once(train, model, gpus, batch):
    case = train(model=model, accelerators=gpus, global_batch=batch).training.case
    looked_at = list(training_layouts(case, gpus))
    every = {tried.layout for tried in brute_force(case, gpus) if tried.layout.recompute == "none"}
    assert len(looked_at) == len(set(looked_at))
    assert set(looked_at) == every


def test_every_candidate_divides_and_fits(train):
    question = train(model="llama-3.1-70b", accelerators=16, global_batch=32).training
    found = search_training(question.case, 16, quiet)
    assert 0 < len(found.candidates) < found.looked_at
    for candidate in found.candidates:
        assert faults(candidate.case.layout, question.case.model, 16, 32) == []
        assert held_bytes(candidate.case) <= capacity_bytes(question.case)


def test_candidates_come_fastest_first(train):
    question = train(accelerators=16).training
    times_s = [candidate.step_s for candidate in search_training(question.case, 16, quiet).candidates]
    assert times_s == sorted(times_s)


def test_the_memo_of_the_search_changes_no_time(train):
    question = train(model="deepseek-v3", accelerators=64, global_batch=64).training
    for candidate in search_training(question.case, 64, quiet).candidates[::50]:
        assert step_times(candidate.case) == candidate.times_s


def test_two_searches_find_the_same_in_the_same_order(train):
    question = train(accelerators=16).training
    first, second = (search_training(question.case, 16, quiet) for _ in range(2))
    assert [c.case.layout for c in first.candidates] == [c.case.layout for c in second.candidates]


def test_recomputation_is_the_least_that_fits(train):
    question = train(model="llama-3.1-70b", accelerators=8, global_batch=8).training
    for candidate in search_training(question.case, 8, quiet).candidates:
        if candidate.case.layout.recompute == "full":
            less = replace(candidate.case, layout=replace(candidate.case.layout, recompute="selective"))
            assert held_bytes(less) > capacity_bytes(question.case)


@pytest.mark.parametrize(
    ("model", "gpus", "batch", "sequence"),
    [("llama-3.1-405b", 8, 64, 8192), ("deepseek-r1", 8, 256, 4096), ("llama-3.1-8b", 2, 64, 2**21)],
)
def test_what_does_not_fit_names_term_amount_and_a_number_of_gpus_that_fits(train, model, gpus, batch, sequence):
    asked = {"model": model, "global_batch": batch, "sequence": sequence}
    with pytest.raises(DoesNotFit) as raised:
        run(train(**asked, accelerators=gpus))
    text = str(raised.value)
    assert re.search(rf"{model} does not fit {gpus} GPUs of 298 GB: .* needs .* each, .* too much", text)
    assert re.search(r"mostly (optimizer state|activations|weights) \(", text)
    enough = int(re.search(r"(\d+) GPUs are enough", text)[1])
    assert run(train(**asked, accelerators=enough)).answers[0].metrics["step_s"].value > 0


def test_a_model_that_no_number_of_gpus_holds_is_said_to_be_so(train):
    with pytest.raises(DoesNotFit, match="no number of GPUs that this cluster has was found to be enough"):
        run(train(model="llama-3.1-405b", accelerators=2304, global_batch=4608, sequence=10**8))


def test_a_batch_that_no_layout_divides_is_refused(train):
    with pytest.raises(DoesNotFit, match="no layout divides 4608 GPUs and a global batch of 7"):
        run(train(accelerators=4608, global_batch=7))


def proposed(text):
    """Read the layout that a message proposes as what one would ask for."""
    words = re.search(r"'([^']*)' would fit", text)[1].split()
    sizes = {SHORT[word[:2]]: int(word[2:]) for word in words if word[:2] in SHORT and word[2:].isdigit()}
    return sizes | ({"recompute": words[words.index("recompute") + 1]} if "recompute" in words else {})


@pytest.mark.parametrize(
    ("model", "gpus", "layout"),
    [("llama-3.1-70b", 16, {"data": 16}), ("llama-3.1-405b", 64, {"tensor": 2}), ("deepseek-v3", 128, {"expert": 2})],
)
def test_the_layout_proposed_for_one_that_does_not_fit_fits(train, model, gpus, layout):
    asked = {"model": model, "accelerators": gpus, "global_batch": 2 * gpus}
    with pytest.raises(ScenarioError, match=r"needs .* of 298 GB, .* too much, mostly") as raised:
        train(**asked, layout=layout)
    case = train(**asked, layout=proposed(str(raised.value))).training.case
    assert held_bytes(case) <= capacity_bytes(case)


def test_a_layout_proposed_for_an_unsharded_one_says_how_to_shard(read):
    change = {"model": '"llama-3.1-70b"', "gpus": "16"}
    with pytest.raises(ScenarioError, match="would fit with shard = optimizer"):
        read(change, end='[training.layout]\nshard = "none"\n')


def test_too_few_gpus_for_any_layout_propose_none(train):
    with pytest.raises(ScenarioError, match="no layout fits this many GPUs"):
        train(model="llama-3.1-405b", accelerators=4, layout={"tensor": 4})


@pytest.mark.parametrize(
    ("gpus", "domain"),
    [(1, 1), (36, 36), (72, 72), (144, 72), (512, 64), (100, 50), (4608, 72), (73, 37), (146, 49), (4600, 72)],
)
def test_a_job_is_spread_evenly_over_few_domains_and_no_more_than_there_are(train, gpus, domain):
    assert domain_of(train().cluster, gpus) == domain


def test_progress_goes_from_nothing_towards_one(train):
    seen = []
    question = train(accelerators=64, global_batch=128).training
    search_training(question.case, 64, lambda what, fraction: seen.append(fraction))
    assert seen[0] == 0
    assert seen == sorted(seen)
    assert all(fraction < 1 for fraction in seen)


@pytest.mark.parametrize("model", ["llama-3.1-70b", "deepseek-v3"])
def test_every_layout_of_a_search_could_be_stated(train, model):
    case = train(model=model, accelerators=96, global_batch=96).training.case
    layouts = list(training_layouts(case, 96))
    assert len(layouts) > 100
    assert [layout for layout in layouts if faults(layout, case.model, 96, 96)] == []


@pytest.mark.parametrize("sequence", [1, 7, 4095, 4097])
def test_a_sequence_of_any_length_is_answered(train, sequence):
    question = train(accelerators=8, global_batch=8, sequence=sequence).training
    assert all(one.case.layout.context == 1 for one in search_training(question.case, 8, quiet).candidates)


@pytest.mark.parametrize(("sequence", "context"), [(1, 8), (8192, 9), (4095, 2)])
def test_a_sequence_that_does_not_fall_into_equal_pieces_is_refused(train, sequence, context):
    with pytest.raises(ScenarioError, match=f"layout.context = {context}: a sequence of {sequence} "):
        train(accelerators=72, global_batch=72, sequence=sequence, layout={"context": context})


@pytest.mark.parametrize(
    ("gpus", "local", "domains"), [(72, 72, 1), (73, 36, 2), (144, 72, 2), (512, 64, 8), (4608, 72, 64)]
)
def test_a_group_of_all_knows_its_emptiest_domain(train, gpus, local, domains):
    group = spread(train().cluster, gpus)
    assert (group.size, group.local, group.domains) == (gpus, local, domains)
