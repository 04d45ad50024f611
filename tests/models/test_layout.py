from dataclasses import replace

import pytest

from rooftree.models.layout import Group, Layout, divisors, faults, group, members, size_and_stride

WIDE = Layout(tensor=2, context=2, data=3, pipeline=2, expert=4)


def test_devices_are_the_product_of_all_but_the_experts():
    assert WIDE.devices == 2 * 2 * 3 * 2
    assert Layout().devices == 1


def test_the_short_form_says_what_differs_from_one():
    assert str(Layout()) == "one device"
    assert str(replace(WIDE, microbatch=2, interleave=3)) == "tp2 cp2 pp2 dp3 ep4 mb2 vp3"
    assert str(Layout(data=2, recompute="selective", shard="full")) == "dp2 recompute selective fsdp"


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        ("tensor", [0, 1]),
        ("context", [0, 2]),
        ("data", [0, 4, 8]),
        ("gradient", [0, 2, 4, 6, 8, 10]),
        ("pipeline", [0, 12]),
        ("expert", [0, 1, 2, 3]),
        ("expert_data", [0, 4, 8]),
    ],
)
def test_ranks_are_numbered_tensor_context_data_pipeline(kind, first):
    assert members(WIDE, kind)[0].tolist() == first


def test_one_device_is_alone_in_each_group():
    for kind in ("tensor", "context", "data", "gradient", "pipeline", "expert", "expert_data"):
        assert size_and_stride(Layout(), kind)[0] == 1
        assert group(Layout(), kind, 72) == Group(1, 1)


@pytest.mark.parametrize(
    ("layout", "kind", "domain", "local"),
    [
        (Layout(tensor=8, data=9), "tensor", 72, 8),
        (Layout(tensor=16, data=9), "tensor", 72, 8),  # 16 + 16 + 16 + 16 + 8, then 8 + 16 …
        (Layout(tensor=8, data=576), "data", 72, 9),
        (Layout(tensor=8, data=5), "data", 72, 5),  # 40 ranks in one domain
        (Layout(data=100), "data", 72, 28),  # 72 in the first domain, 28 in the second
        (Layout(tensor=3, data=10), "data", 10, 3),  # 4 + 3 + 3
        (Layout(tensor=12, data=4), "data", 8, 1),
        (Layout(tensor=4, data=4, pipeline=4), "pipeline", 8, 1),
        (Layout(data=16, expert=8), "expert", 4, 4),
        (Layout(data=16, expert=4), "expert_data", 8, 2),
    ],
)
def test_members_in_a_domain_are_those_of_the_worst_group(layout, kind, domain, local):
    assert group(layout, kind, domain).local == local


def test_domains_are_counted_as_if_all_held_as_few():
    assert (Group(16, 4).domains, Group(8, 8).domains, Group(10, 4).domains) == (4, 1, 3)


def test_divisors_rise_and_hold_both_ends():
    assert divisors(1) == [1]
    assert divisors(36) == [1, 2, 3, 4, 6, 9, 12, 18, 36]


def test_a_layout_that_divides_everything_has_no_fault(tiny, mixed):
    assert faults(Layout(tensor=2, pipeline=2, data=2), tiny, 8, global_batch=16) == []
    assert faults(Layout(tensor=2, data=4, expert=8), mixed, 8, global_batch=4) == []


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (Layout(tensor=0), "layout.tensor = 0: must be 1 or more"),
        (Layout(microbatch=-1), "layout.microbatch = -1: must be 1 or more"),
        (Layout(tensor=3, data=1), "layout.tensor = 3 does not divide 8 heads; try 2 or 4"),
        (Layout(tensor=16), "layout.tensor = 16 does not divide 8 heads; try 8"),
        (Layout(pipeline=3, interleave=4), "layout.pipeline x layout.interleave = 12 is more than the 8 layers"),
        (Layout(interleave=2), "layout.interleave = 2 needs a pipeline"),
        (Layout(data=4), "layout takes 4 devices, the job has 8; set layout.data = 8"),
        (Layout(tensor=4, pipeline=4), "layout takes 16 devices, the job has 8; use a multiple of 16 devices"),
        (Layout(data=8, expert=2), "layout.expert = 2, but tiny has no experts; set layout.expert = 1"),
        (Layout(data=8, microbatch=3), "global_batch = 16 is no multiple of layout.data x layout.microbatch = 24"),
    ],
)
def test_a_fault_says_what_is_wrong_and_what_would_do(tiny, layout, words):
    assert any(words in line for line in faults(layout, tiny, 8, global_batch=16)), faults(layout, tiny, 8, 16)


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (Layout(data=9, expert=3), "layout.expert = 3 does not divide 16 experts; try 2 or 4"),
        (Layout(data=9, expert=2), "layout.expert = 2 does not divide tensor x context x data = 9; try 1 or 3"),
    ],
)
def test_an_expert_group_divides_the_experts_and_the_block(mixed, layout, words):
    assert faults(layout, mixed, 9) == [words]


def test_all_faults_come_at_once(tiny):
    assert len(faults(Layout(tensor=3, interleave=2, expert=2), tiny, 8)) == 4


def test_the_batch_that_is_offered_is_a_multiple(tiny):
    (line,) = faults(Layout(data=8), tiny, 8, global_batch=3)
    assert line.endswith("try 8")
