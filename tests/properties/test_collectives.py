"""Collectives conserve bytes, and no better link makes them slower."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooftree.facts.catalogue import cluster, names, open_catalogue
from rooftree.facts.hardware import Link
from rooftree.models import collectives
from rooftree.models.layout import Group

CATALOGUE = open_catalogue()
CLUSTERS = [cluster(CATALOGUE, name) for name in names(CATALOGUE, "cluster")]
LINKS = [(each.rack.scale_up, each.scale_out) for each in CLUSTERS]
EACH_OP = pytest.mark.parametrize("op", collectives.OPERATIONS)
RISING = ("bandwidth_bytes_per_s", "ring_fraction", "cross_fraction", "reduce_fraction", "all_to_all_fraction")

links = st.sampled_from(LINKS)
groups = st.builds(lambda local, domains: Group(local * domains, local), st.integers(1, 72), st.integers(1, 64))
messages = st.floats(1, 2**36)
factors = st.floats(1, 100)


def sent(op, group, message_bytes, pair):
    return collectives.timing(op, message_bytes, group, *pair)


def no_slower(faster_s, slower_s):
    return faster_s <= slower_s * (1 + 1e-12)


@EACH_OP
@given(group=groups, message_bytes=messages, pair=links, factor=factors)
def test_a_larger_message_is_never_faster(op, group, message_bytes, pair, factor):
    assert no_slower(sent(op, group, message_bytes, pair).time_s, sent(op, group, message_bytes * factor, pair).time_s)


@EACH_OP
@pytest.mark.parametrize("tier", [0, 1])
@pytest.mark.parametrize("field", RISING)
@given(group=groups, message_bytes=messages, pair=links, factor=factors)
def test_a_better_link_is_never_slower(op, tier, field, group, message_bytes, pair, factor):
    better = list(pair)
    better[tier] = replace(pair[tier], **{field: getattr(pair[tier], field) * factor})
    assert no_slower(sent(op, group, message_bytes, better).time_s, sent(op, group, message_bytes, pair).time_s)


@EACH_OP
@pytest.mark.parametrize("tier", [0, 1])
@pytest.mark.parametrize("field", ["base_s", "step_s"])
@given(group=groups, message_bytes=messages, pair=links, factor=factors)
def test_a_slower_start_is_never_faster(op, tier, field, group, message_bytes, pair, factor):
    worse = list(pair)
    worse[tier] = replace(pair[tier], **{field: getattr(pair[tier], field) * factor})
    assert no_slower(sent(op, group, message_bytes, pair).time_s, sent(op, group, message_bytes, worse).time_s)


@EACH_OP
@given(local=st.integers(1, 72), domains=st.integers(1, 32), pair=links)
def test_the_latency_grows_with_the_ranks(op, local, domains, pair):
    def latency_s(group):
        return sent(op, group, 1e-9, pair).time_s

    assert no_slower(latency_s(Group(local * domains, local)), latency_s(Group(local * (domains + 1), local)))
    assert no_slower(latency_s(Group(local, local)), latency_s(Group(local + 1, local + 1)))


@given(group=groups.filter(lambda group: group.size > 1), message_bytes=messages, pair=links)
def test_a_ring_all_reduce_is_a_scatter_and_a_gather_with_one_start(group, message_bytes, pair):
    base_s = pair[group.domains > 1].base_s
    ring_s = sent("all_reduce", group, message_bytes, pair).alternatives_s["ring"]
    halves_s = sum(sent(op, group, message_bytes, pair).time_s for op in ("reduce_scatter", "all_gather"))
    assert ring_s == pytest.approx(halves_s - base_s, rel=1e-9)


@EACH_OP
@given(group=groups.filter(lambda group: group.size > 1), message_bytes=messages, pair=links)
def test_what_is_sent_is_what_the_operation_needs(op, group, message_bytes, pair):
    """All-reduce moves each byte twice, the others once, less the part that stays; switches take one part in n more."""
    needed = {"all_reduce": 2}.get(op, 1) * (group.size - 1) / group.size * message_bytes
    for algorithm in sent(op, group, message_bytes, pair).alternatives_s:
        tiers = collectives.sent_by_tier(op, algorithm, message_bytes, group)
        assert min(tiers.values()) >= 0
        if algorithm == "nvls":
            needed = (1 + 1 / group.size) * message_bytes
        assert sum(tiers.values()) == pytest.approx(needed)
        if group.domains == 1:
            assert tiers["scale_out"] == 0
        if group.local == 1:
            assert tiers["scale_up"] == pytest.approx(0, abs=1e-9 * message_bytes)


@pytest.mark.parametrize("op", ["all_reduce", "all_gather", "reduce_scatter", "broadcast"])
@given(group=groups.filter(lambda group: group.size > 1), message_bytes=messages, pair=links)
def test_no_ring_or_chain_is_faster_than_its_links(op, group, message_bytes, pair):
    algorithm = "chain" if op == "broadcast" else "ring"
    time_s = sent(op, group, message_bytes, pair).alternatives_s[algorithm]
    busbw = message_bytes / time_s * collectives.busbw_factor(op, group.size)
    up, out = pair
    assert busbw <= up.bandwidth_bytes_per_s
    if group.domains > 1:
        assert busbw <= out.bandwidth_bytes_per_s * group.local


@EACH_OP
@given(group=groups.filter(lambda group: group.size > 1), message_bytes=messages, pair=links)
def test_the_time_is_that_of_the_fastest_algorithm(op, group, message_bytes, pair):
    made = sent(op, group, message_bytes, pair)
    assert made.time_s == made.alternatives_s[made.algorithm] == min(made.alternatives_s.values())


@given(group=groups, message_bytes=messages, pair=links)
def test_an_all_to_all_lies_between_the_larger_share_and_both(group, message_bytes, pair):
    def bytes_s(up: Link, out: Link):
        return collectives.all_to_all_s(message_bytes, group, up, out) - collectives.all_to_all_s(0, group, up, out)

    up, out = pair
    endless = 1e30
    inside_s = bytes_s(up, replace(out, bandwidth_bytes_per_s=endless))
    across_s = bytes_s(replace(up, bandwidth_bytes_per_s=endless), out)
    both_s = bytes_s(up, out)
    # beside the latency of some 10 us, differences of times are exact to about 1e-20 s
    assert max(inside_s, across_s) * (1 - 1e-9) - 1e-15 <= both_s <= (inside_s + across_s) * (1 + 1e-9) + 1e-15


@given(message_bytes=messages, pair=links, group=groups, scale=st.sampled_from([0.25, 0.5, 2.0, 4.0]))
@EACH_OP
def test_clocks_that_run_slower_scale_each_time(op, message_bytes, pair, group, scale):
    """Time has one unit: links with all seconds multiplied take all times multiplied."""
    slow = [
        replace(
            link,
            base_s=link.base_s * scale,
            step_s=link.step_s * scale,
            bandwidth_bytes_per_s=link.bandwidth_bytes_per_s / scale,
        )
        for link in pair
    ]
    expected_s = sent(op, group, message_bytes, pair).time_s * scale
    assert sent(op, group, message_bytes, slow).time_s == pytest.approx(expected_s, rel=1e-9)
