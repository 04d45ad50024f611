from dataclasses import replace
from itertools import pairwise

import pytest

from rooftree.errors import NotModelled, ScenarioError
from rooftree.facts.catalogue import cluster
from rooftree.facts.measurements import table
from rooftree.facts.parts import with_figure
from rooftree.studies.collective import ask, residuals
from rooftree.studies.rows import predict_all, predict_collective

GIB = 2.0**30


@pytest.fixture(scope="module")
def pod(catalogue):
    return cluster(catalogue, "azure-gb300-4608")


@pytest.fixture(scope="module")
def asked(catalogue):
    return lambda *question: ask(*question, catalogue)


def test_the_chosen_algorithm_is_the_fastest(pod, asked):
    reply = asked("all_reduce", 8 * GIB, 72, pod)
    assert set(reply.alternatives_s) == {"ring", "tree", "nvls"}
    assert reply.time_s.value == min(reply.alternatives_s.values()) == reply.alternatives_s[reply.algorithm]


@pytest.mark.parametrize(
    ("op", "factor"),
    [("all_reduce", 2 * 71 / 72), ("all_gather", 71 / 72), ("all_to_all", 71 / 72), ("broadcast", 1.0)],
)
def test_bandwidths_follow_nccl_tests(pod, op, factor, asked):
    reply = asked(op, GIB, 72, pod)
    assert reply.algbw_bytes_per_s.value == pytest.approx(GIB / reply.time_s.value)
    assert reply.busbw_bytes_per_s.value == pytest.approx(factor * reply.algbw_bytes_per_s.value)


def test_ranges_hold_the_values(pod, asked):
    reply = asked("all_reduce", GIB, 144, pod)
    for estimate in (reply.time_s, reply.algbw_bytes_per_s, reply.busbw_bytes_per_s):
        assert estimate.low < estimate.value < estimate.high


@pytest.mark.parametrize(("gpus", "words"), [(72, ()), (4608, ("4,608 GPUs are more than the",))])
def test_only_more_gpus_than_were_measured_are_extrapolated(pod, gpus, words, asked):
    reply = asked("all_reduce", GIB, gpus, pod)
    assert reply.extrapolated is bool(words)
    assert all(any(word in note for note in reply.notes) for word in words)


def test_a_size_that_was_not_measured_is_extrapolated(pod, asked):
    reply = asked("all_reduce", 2.0**50, 72, pod)
    assert reply.extrapolated
    assert any("outside the measured sizes" in note for note in reply.notes)


def test_an_operation_that_was_not_measured_is_extrapolated(pod, asked):
    assert "no broadcast was measured on gb300" in asked("broadcast", GIB, 8, pod).notes


def test_larger_messages_never_take_less_time(pod, asked):
    for op in ("all_reduce", "all_gather", "all_to_all", "broadcast"):
        times_s = [asked(op, 8.0**n, 144, pod).time_s.value for n in range(1, 12)]
        assert all(small <= large for small, large in pairwise(times_s))


def test_a_faster_link_is_never_slower(pod, asked):
    value = pod.rack.scale_up.figures["bandwidth_bytes_per_s"].value
    fast = with_figure(pod, "link", pod.rack.scale_up.name, "bandwidth_bytes_per_s", 2 * value)
    assert asked("all_reduce", GIB, 72, fast).time_s.value < asked("all_reduce", GIB, 72, pod).time_s.value


def test_the_same_question_has_the_same_answer(pod, asked):
    first, second = (asked("all_reduce", GIB, 144, pod) for _ in range(2))
    assert first.time_s == second.time_s


@pytest.mark.parametrize("gpus", [0, 1, 4609])
def test_gpus_out_of_range_are_refused(pod, gpus, asked):
    with pytest.raises(ScenarioError, match=f"gpus = {gpus}: azure-gb300-4608 has 4,608; write 2 to 4,608"):
        asked("all_reduce", GIB, gpus, pod)


@pytest.mark.parametrize("size_bytes", [0.0, -1.0, float("nan")])
def test_a_size_must_be_above_zero(pod, size_bytes, asked):
    with pytest.raises(ScenarioError, match="must be above 0"):
        asked("all_reduce", size_bytes, 8, pod)


def test_an_unknown_operation_comes_with_the_nearest(pod, asked):
    with pytest.raises(NotModelled, match="did you mean 'all_reduce'"):
        asked("all_reduze", GIB, 8, pod)


def test_a_range_is_no_narrower_where_nothing_was_measured(pod, asked):
    measured, beyond = asked("all_reduce", GIB, 72, pod).time_s, asked("all_reduce", GIB, 4608, pod).time_s
    assert beyond.high / beyond.value > measured.high / measured.value


def test_the_models_errors_on_test_rows_are_no_part_of_a_range(catalogue):
    rows = [replace(row, split="test") for row in table("collectives").rows]
    done, _ = predict_all(rows, catalogue, predict_collective)
    assert residuals(done, op="all_reduce", message_bytes=GIB, beyond=False).log_errors == ()
