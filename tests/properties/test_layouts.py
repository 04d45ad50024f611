"""Groups of ranks against a count of their members, whatever the layout and the domain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooftree.facts.architecture_files import find_architecture
from rooftree.facts.catalogue import folders, open_catalogue
from rooftree.models.layout import Layout, divisors, faults, group, members, size_and_stride
from rooftree.models.pipeline import bubble_share, microbatches_in_flight, stage_layers

KINDS = ("tensor", "context", "data", "gradient", "pipeline", "expert", "expert_data")
EACH_KIND = pytest.mark.parametrize("kind", KINDS)

LLAMA = find_architecture("llama-3.1-8b", folders(open_catalogue()))

sizes = st.integers(1, 9)
domains = st.integers(1, 80)


@st.composite
def layouts(draw):
    tensor, context, data, pipeline = (draw(sizes) for _ in range(4))
    expert = draw(st.sampled_from(divisors(tensor * context * data)))
    return Layout(tensor=tensor, context=context, data=data, pipeline=pipeline, expert=expert)


@EACH_KIND
@given(layout=layouts())
def test_groups_of_a_kind_hold_each_rank_once(kind, layout):
    rows = members(layout, kind)
    assert np.sort(rows, axis=None).tolist() == list(range(layout.devices))
    assert rows.shape[1] == size_and_stride(layout, kind)[0]


@given(layout=layouts())
def test_groups_have_the_sizes_of_the_layout(layout):
    block = layout.tensor * layout.context * layout.data
    found = {kind: members(layout, kind).shape[1] for kind in KINDS}
    assert found == {
        "tensor": layout.tensor,
        "context": layout.context,
        "data": layout.data,
        "gradient": layout.data * layout.context,
        "pipeline": layout.pipeline,
        "expert": layout.expert,
        "expert_data": block // layout.expert,
    }


@given(layout=layouts())
def test_two_ranks_meet_in_one_kind_of_group_at_most(layout):
    for one, other in (("tensor", "context"), ("tensor", "data"), ("tensor", "pipeline"), ("context", "data")):
        labels = np.empty((2, layout.devices), dtype=int)
        for row, kind in enumerate((one, other)):
            ranks = members(layout, kind)
            labels[row, ranks] = np.arange(len(ranks))[:, None]
        assert len(set(map(tuple, labels.T))) == layout.devices


@EACH_KIND
@given(layout=layouts(), domain=domains)
def test_local_members_are_those_counted_in_the_worst_domain(kind, layout, domain):
    worst = min(np.unique(ranks // domain, return_counts=True)[1].min() for ranks in members(layout, kind))
    found = group(layout, kind, domain)
    assert (found.size, found.local) == (members(layout, kind).shape[1], worst)


@EACH_KIND
@given(layout=layouts(), domain=domains)
def test_a_group_touches_no_more_domains_than_it_is_charged_for(kind, layout, domain):
    touched = max(len(np.unique(ranks // domain)) for ranks in members(layout, kind))
    assert touched <= group(layout, kind, domain).domains


@given(layout=layouts())
def test_the_devices_that_a_layout_takes_are_no_fault(layout):
    assert not any("devices" in line for line in faults(layout, LLAMA, layout.devices))
    assert any("devices" in line for line in faults(layout, LLAMA, layout.devices + 1))


@given(layers=st.integers(1, 200), pipeline=st.integers(1, 20), interleave=st.integers(1, 6))
def test_stages_hold_all_layers_and_the_last_no_more_than_the_others(layers, pipeline, interleave):
    full, last = stage_layers(layers, Layout(pipeline=pipeline, interleave=interleave))
    assert 0 <= last <= full
    assert full * (pipeline - 1) + last >= layers
    assert full % interleave == 0
    assert full - interleave < layers / pipeline


@given(pipeline=st.integers(1, 20), interleave=st.integers(1, 6), microbatches=st.integers(1, 200))
def test_more_microbatches_shrink_the_bubble_and_fill_the_memory(pipeline, interleave, microbatches):
    layout = Layout(pipeline=pipeline, interleave=interleave)
    assert bubble_share(layout, microbatches + 1) <= bubble_share(layout, microbatches)
    held = microbatches_in_flight(layout, microbatches)
    assert min(microbatches, pipeline) <= held <= min(microbatches, 2 * pipeline)
