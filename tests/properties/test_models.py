"""Whole steps of training and serving: bounds, monotony, and no eye for names."""

import math
from dataclasses import fields, is_dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooftree.facts.architecture_files import architecture_names, find_architecture
from rooftree.facts.catalogue import cluster, folders, names, open_catalogue, precision
from rooftree.facts.parts import with_figure
from rooftree.facts.workloads import Serving, Training
from rooftree.models import steady, step
from rooftree.models.layout import Layout, divisors, faults

CATALOGUE = open_catalogue()
MODELS = [find_architecture(name, folders(CATALOGUE)) for name in architecture_names(folders(CATALOGUE))]
CLUSTERS = [cluster(CATALOGUE, name) for name in names(CATALOGUE, "cluster")]
FORMATS = [precision(CATALOGUE, name) for name in names(CATALOGUE, "precision")]
BF16 = precision(CATALOGUE, "bf16")
FASTER = st.floats(1, 50)


def layouts(draw, model, *, serving=False):
    """Draw a layout that cuts the model without a fault."""
    heads, experts = model.attention.heads, model.experts
    tensor = draw(st.sampled_from([t for t in divisors(heads) if t <= 16]))
    data = draw(st.integers(1, 12))
    context = 1 if serving else draw(st.sampled_from([1, 2, 4]))
    block = tensor * context * data
    expert = 1 if experts is None else draw(st.sampled_from(divisors(math.gcd(block, experts.routed))))
    if serving:
        return Layout(tensor=tensor, data=data, expert=expert)
    pipeline = draw(st.integers(1, min(8, model.layers)))
    return Layout(
        tensor=tensor,
        context=context,
        data=data,
        expert=expert,
        pipeline=pipeline,
        interleave=1 if pipeline == 1 else draw(st.integers(1, model.layers // pipeline)),
        microbatch=draw(st.integers(1, 3)),
        recompute=draw(st.sampled_from(["none", "selective", "full"])),
        shard=draw(st.sampled_from(["none", "optimizer", "full"])),
    )


def formats(on):
    return st.sampled_from([form for form in FORMATS if form.peak in on.rack.host.accelerator.peak_flops_per_s])


@st.composite
def shapes(draw):
    """Draw a published model with another number of layers, and now and then none of them dense."""
    model, layers = draw(st.sampled_from(MODELS)), draw(st.integers(3, 40))
    dense = layers if model.experts is None else draw(st.sampled_from([0, model.dense_layers]))
    return replace(model, layers=layers, dense_layers=dense)


@st.composite
def cases(draw):
    model, on = draw(shapes()), draw(st.sampled_from(CLUSTERS))
    layout = layouts(draw, model)
    batch = layout.data * layout.microbatch * draw(st.integers(1, 20))
    sequence = draw(st.sampled_from([512, 4096, 8192, 131_072]))
    workload = Training(global_batch=batch, sequence=sequence, precision="", prediction=draw(st.booleans()))
    assert faults(layout, model, layout.devices, batch) == []
    domain = draw(st.sampled_from([1, 4, 8, 64, 72]))
    linear = draw(formats(on))
    return step.Case(model=model, layout=layout, workload=workload, cluster=on, linear=linear, core=BF16, domain=domain)


@st.composite
def replicas(draw):
    model, on = draw(shapes()), draw(st.sampled_from(CLUSTERS))
    workload = Serving(
        input_tokens=draw(st.integers(1, 100_000)),
        output_tokens=draw(st.integers(1, 10_000)),
        precision="",
        kv_precision="",
        concurrency=0,
        time_per_output_token_limit_s=0,
    )
    return steady.Replica(
        model=model,
        layout=layouts(draw, model, serving=True),
        workload=workload,
        cluster=on,
        linear=draw(formats(on)),
        core=BF16,
        kv=draw(st.sampled_from(FORMATS)),
        domain=draw(st.sampled_from([1, 4, 8, 64, 72])),
    )


TRAINING = pytest.param(cases(), step.step_times, id="training")
SERVING = pytest.param(replicas(), lambda replica: steady.mixed_times(replica, 7.5), id="serving")
BOTH = pytest.mark.parametrize(("questions", "times"), [TRAINING, SERVING])


def no_slower(faster, slower):
    return sum(faster.values()) <= sum(slower.values()) * (1 + 1e-9)


def better(on, what, factor):
    """Return the cluster with one rate of its parts multiplied."""
    chip = on.rack.host.accelerator
    where = {
        "memory": ("accelerator", chip.name, "memory_bandwidth_bytes_per_s", chip.memory_bandwidth_bytes_per_s),
        "scale-up": ("link", on.rack.scale_up.name, "bandwidth_bytes_per_s", on.rack.scale_up.bandwidth_bytes_per_s),
        "scale-out": ("link", on.scale_out.name, "bandwidth_bytes_per_s", on.scale_out.bandwidth_bytes_per_s),
    }
    if what == "peak":
        for name, rate_flops_per_s in chip.peak_flops_per_s.items():
            on = with_figure(on, "accelerator", chip.name, f"peak_flops_per_s.{name}", rate_flops_per_s * factor)
        return on
    kind, name, key, value = where[what]
    return with_figure(on, kind, name, key, value * factor)


@BOTH
@pytest.mark.parametrize("what", ["memory", "scale-up", "scale-out", "peak"])
@settings(max_examples=40)
@given(data=st.data(), factor=FASTER)
def test_better_hardware_is_never_slower(questions, times, what, data, factor):
    question = data.draw(questions)
    faster = replace(question, cluster=better(question.cluster, what, factor))
    assert no_slower(times(faster), times(question))


@BOTH
@given(data=st.data())
def test_every_part_is_there_finite_and_not_negative(questions, times, data):
    question = data.draw(questions)
    found = times(question)
    assert set(found) == set((step if times is step.step_times else steady).PARTS)
    assert all(math.isfinite(time_s) and time_s >= 0 for time_s in found.values())


def renamed(thing):
    """Return a thing with other names, titles and sources in it and everything that it is made of."""
    changes = {}
    for each in fields(thing):
        value = getattr(thing, each.name)
        if each.name in ("name", "title", "generation", "source", "where", "precision", "kv_precision"):
            changes[each.name] = f"other {value[::-1]}"
        elif each.name in ("figures", "notes"):
            changes[each.name] = type(value)()
        elif is_dataclass(value):
            changes[each.name] = renamed(value)
    return replace(thing, **changes)


@BOTH
@given(data=st.data())
def test_names_titles_and_sources_change_nothing_to_the_bit(questions, times, data):
    question = data.draw(questions)
    other = renamed(question)
    assert other.model.name != question.model.name
    assert other.cluster.rack.host.accelerator.efficiency.name != question.cluster.rack.host.accelerator.efficiency.name
    assert times(other) == times(question)


@given(case=cases(), factor=st.integers(2, 5))
def test_a_longer_sequence_is_never_faster(case, factor):
    longer = replace(case, workload=replace(case.workload, sequence=case.workload.sequence * factor))
    assert no_slower(step.step_times(case), step.step_times(longer))


@given(case=cases(), factor=st.integers(2, 5))
def test_a_larger_batch_is_never_faster_and_its_sequences_never_slower(case, factor):
    larger = replace(case, workload=replace(case.workload, global_batch=case.workload.global_batch * factor))
    once, more = sum(step.step_times(case).values()), sum(step.step_times(larger).values())
    assert once <= more * (1 + 1e-9)
    assert more <= factor * once * (1 + 1e-9)


@given(case=cases(), more=st.integers(1, 3))
def test_more_layers_are_never_faster(case, more):
    """As many on each stage: a layer that only lengthens the first stages empties the last, which has the head."""
    model, layout = case.model, case.layout
    layers = model.layers + more * layout.pipeline * layout.interleave
    deeper = replace(model, layers=layers, dense_layers=layers if model.experts is None else model.dense_layers)
    assert no_slower(step.step_times(case), step.step_times(replace(case, model=deeper)))


@given(case=cases())
def test_a_step_takes_the_models_operations_at_the_peak_at_least(case):
    tokens = case.workload.global_batch * case.workload.sequence
    needed_flops = tokens * step.model_flops_per_token(
        case.model, case.workload.sequence, case.share, prediction=case.workload.prediction
    )
    peaks = case.cluster.rack.host.accelerator.peak_flops_per_s
    peak_flops_per_s = max(peaks[case.linear.peak], peaks[case.core.peak])
    assert sum(step.step_times(case).values()) >= needed_flops / (case.layout.devices * peak_flops_per_s)


@given(case=cases())
def test_a_step_lies_between_its_largest_part_with_everything_hidden_and_nothing_hidden(case):
    def exposed(share):
        stack = case.cluster.stack
        shares = dict.fromkeys(stack.exposed, share)
        return step.step_times(replace(case, cluster=replace(case.cluster, stack=replace(stack, exposed=shares))))

    hidden, found, open_ = exposed(0.0), step.step_times(case), exposed(1.0)
    assert max(hidden.values()) <= sum(hidden.values())
    assert no_slower(hidden, found)
    assert no_slower(found, open_)
    assert sum(hidden[part] for part in step.NETWORK_PARTS) == 0


@given(case=cases())
def test_recomputing_more_is_never_faster(case):
    kinds = ("none", "selective", "full")
    none, selective, full = (
        step.step_times(replace(case, layout=replace(case.layout, recompute=kind))) for kind in kinds
    )
    assert no_slower(none, selective)
    assert no_slower(selective, full)


@given(case=cases())
def test_a_memo_of_other_layouts_changes_nothing(case):
    memo = {}
    for recompute in ("full", "none", "selective"):
        for tensor in (1, case.layout.tensor):
            layout = replace(case.layout, recompute=recompute, tensor=tensor, expert=1)
            cut = replace(case, layout=layout)
            assert step.step_times(cut, memo) == step.step_times(cut)


@given(replica=replicas(), sequences=st.floats(0.5, 500), factor=st.floats(1, 10))
def test_more_sequences_or_longer_ones_are_never_faster(replica, sequences, factor):
    once = steady.mixed_times(replica, sequences)
    assert no_slower(once, steady.mixed_times(replica, sequences * factor))
    workload = replace(replica.workload, input_tokens=replica.workload.input_tokens * 2)
    assert no_slower(once, steady.mixed_times(replace(replica, workload=workload), sequences))


@given(replica=replicas())
def test_the_first_token_takes_longer_than_an_iteration(replica):
    times_s = steady.mixed_times(replica, 10.0)
    assert steady.first_token_s(replica, times_s) > 1.5 * sum(times_s.values())


@given(replica=replicas(), more=st.integers(1, 20))
def test_a_deeper_model_serves_no_faster(replica, more):
    model = replica.model
    layers = model.layers + more
    deeper = replace(model, layers=layers, dense_layers=layers if model.experts is None else model.dense_layers)
    assert no_slower(steady.mixed_times(replica, 7.5), steady.mixed_times(replace(replica, model=deeper), 7.5))
