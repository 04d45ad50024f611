"""Memory, power and money: what is divided falls, and parts make up the whole."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooftree.facts.architecture_files import architecture_names, find_architecture
from rooftree.facts.catalogue import cluster, folders, names, open_catalogue, precision
from rooftree.facts.workloads import Training
from rooftree.models import memory, parameters
from rooftree.models.cost import usd_per_million_tokens
from rooftree.models.layout import Layout, divisors
from rooftree.models.power import cluster_w

CATALOGUE = open_catalogue()
MODELS = [find_architecture(name, folders(CATALOGUE)) for name in architecture_names(folders(CATALOGUE))]
CLUSTERS = [cluster(CATALOGUE, name) for name in names(CATALOGUE, "cluster")]
FORMATS = [precision(CATALOGUE, name) for name in names(CATALOGUE, "precision")]
BF16 = precision(CATALOGUE, "bf16")
STACK = CLUSTERS[0].stack
KEPT = ("weights", "gradients", "optimizer state")

models = st.sampled_from(MODELS)
formats = st.sampled_from(FORMATS)
clusters = st.sampled_from(CLUSTERS)
counts = st.integers(1, 20_000)
fractions = st.floats(0, 1)


@st.composite
def cuts(draw):
    """Draw a model and a layout in which every size can be doubled."""
    model = draw(models)
    tensor, context, data = (draw(st.sampled_from([1, 2, 4, 8])) for _ in range(3))
    block = tensor * context * data
    expert = 1 if model.experts is None else draw(st.sampled_from(divisors(min(block, model.experts.routed // 2))))
    return model, Layout(
        tensor=tensor,
        context=context,
        data=data,
        expert=expert,
        pipeline=draw(st.integers(1, 16)),
        microbatch=draw(st.integers(1, 4)),
        recompute=draw(st.sampled_from(["none", "selective", "full"])),
        shard=draw(st.sampled_from(["none", "optimizer", "full"])),
    )


def held_bytes(model, layout, linear=BF16, batch=1024):
    workload = Training(global_batch=batch, sequence=4096, precision="")
    return memory.training_bytes(model, layout, workload, STACK, linear, BF16)


def grown(layout, field, factor=2):
    return replace(layout, **{field: getattr(layout, field) * factor})


@given(cut=cuts(), linear=formats)
def test_what_training_holds_is_finite_and_not_negative(cut, linear):
    held = held_bytes(*cut, linear)
    assert all(math.isfinite(part_bytes) and part_bytes >= 0 for part_bytes in held.values())
    assert min(held[part] for part in KEPT) > 0


@pytest.mark.parametrize("field", ["tensor", "context", "data"])
@given(cut=cuts(), linear=formats)
def test_no_part_grows_with_a_group(field, cut, linear):
    model, layout = cut
    once, more = held_bytes(model, layout, linear), held_bytes(model, grown(layout, field), linear)
    assert all(more[part] <= once[part] * (1 + 1e-12) for part in once)


@given(cut=cuts().filter(lambda cut: cut[0].experts), linear=formats)
def test_more_expert_parallelism_holds_fewer_weights_and_shards_them_less(cut, linear):
    """Weights and gradients halve; sharded state stays, for half as many devices hold the same experts."""
    model, layout = with_room(cut)
    once, more = held_bytes(model, layout, linear), held_bytes(model, grown(layout, "expert"), linear)
    assert all(more[part] <= once[part] * (1 + 1e-12) for part in once)
    if layout.shard != "full":
        assert more["weights"] < once["weights"]


def with_room(cut):
    """Return a cut whose block can be divided by twice its expert group."""
    model, layout = cut
    return model, grown(layout, "data", 2 * layout.expert)


@given(cut=cuts())
def test_sharding_more_holds_less(cut):
    model, layout = cut
    none, optimizer, full = (
        sum(held_bytes(model, replace(layout, shard=shard)).values()) for shard in ("none", "optimizer", "full")
    )
    assert full <= optimizer <= none


@given(cut=cuts(), linear=formats)
def test_recomputing_more_holds_less(cut, linear):
    """Where a stage has two layers in flight or more: one alone is kept whole while it is recomputed."""
    model, layout = cut
    none, selective, full = (
        held_bytes(model, replace(layout, recompute=kind), linear)["activations"]
        for kind in ("none", "selective", "full")
    )
    assert full < selective < none


@given(cut=cuts())
def test_the_fullest_stage_times_the_stages_holds_the_model(cut):
    """The head aside where the last stage has it, and the last norm: neither lies on the first stage."""
    model, layout = cut
    spread, experts = memory.local_parameters(model, layout)
    held = layout.pipeline * (spread * layout.tensor + experts * layout.expert)
    elsewhere = model.hidden + (parameters.head_parameters(model) if layout.pipeline > 1 else 0)
    assert held >= (parameters.total_parameters(model) - elsewhere) * (1 - 1e-12)


@given(cut=cuts(), linear=formats, kv=formats, sequences=st.floats(0, 1000), tokens=st.floats(0, 1e6))
def test_serving_holds_more_with_more_sequences_and_less_with_more_devices(cut, linear, kv, sequences, tokens):
    model, layout = cut

    def served(layout, sequences, tokens):
        return memory.serving_bytes(model, layout, linear, BF16, kv, STACK, sequences, tokens, 8192.0)

    once = served(layout, sequences, tokens)
    for more in (served(layout, sequences + 1, tokens), served(layout, sequences, tokens + 1)):
        assert all(more[part] >= once[part] for part in once)
    wider = served(grown(layout, "tensor"), sequences, tokens)
    assert all(wider[part] <= once[part] for part in once)


@given(on=clusters, devices=counts, fraction=fractions)
def test_power_is_made_of_parts_that_are_not_negative(on, devices, fraction):
    parts_w = cluster_w(on, devices, fraction)
    assert set(parts_w) == {"accelerators", "hosts", "rack", "fabric", "site"}
    assert all(math.isfinite(part_w) and part_w >= 0 for part_w in parts_w.values())


@given(on=clusters, devices=counts, fraction=fractions)
def test_what_enters_the_site_is_the_equipment_times_its_overhead(on, devices, fraction):
    parts_w = cluster_w(on, devices, fraction)
    equipment_w = sum(parts_w.values()) - parts_w["site"]
    assert sum(parts_w.values()) == pytest.approx(on.site.pue * equipment_w)


@given(on=clusters, devices=counts, fraction=fractions, limit_fraction=st.floats(0.1, 2))
def test_racks_stay_below_their_limit_or_idle(on, devices, fraction, limit_fraction):
    on = replace(on, rack=replace(on.rack, power_limit_w=on.rack.power_limit_w * limit_fraction))
    parts_w = cluster_w(on, devices, fraction)
    racks = devices / (on.rack.hosts * on.rack.host.accelerators)
    idle_w = devices * on.rack.host.accelerator.idle_w
    inside_w = parts_w["accelerators"] + parts_w["hosts"] + parts_w["rack"]
    assert inside_w <= racks * on.rack.power_limit_w * (1 + 1e-12) or parts_w["accelerators"] == idle_w
    assert idle_w <= parts_w["accelerators"] <= devices * on.rack.host.accelerator.peak_w


@given(on=clusters, devices=counts, fraction=fractions, more=st.floats(1, 10))
def test_busier_devices_never_draw_less(on, devices, fraction, more):
    assert sum(cluster_w(on, devices, fraction * more).values()) >= sum(cluster_w(on, devices, fraction).values())


@given(on=clusters, one=counts, other=counts, fraction=fractions)
def test_two_jobs_draw_what_both_draw_as_one(on, one, other, fraction):
    apart = [cluster_w(on, devices, fraction) for devices in (one, other)]
    together = cluster_w(on, one + other, fraction)
    assert together == pytest.approx({part: apart[0][part] + apart[1][part] for part in together})


@given(devices=counts, usd_per_h=st.floats(0.01, 100), tokens_per_s=st.floats(1, 1e9), hours=st.floats(0.1, 1000))
def test_the_tokens_of_some_hours_cost_the_rent_of_those_hours(devices, usd_per_h, tokens_per_s, hours):
    millions = tokens_per_s * 3600 * hours / 1e6
    cost_usd = usd_per_million_tokens(devices, usd_per_h, tokens_per_s) * millions
    assert cost_usd == pytest.approx(devices * usd_per_h * hours)
