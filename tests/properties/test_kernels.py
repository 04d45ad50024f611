"""What the devices of a group compute adds up to the layer, whatever its shape and however it is cut."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooftree.facts.architecture_files import architecture_names, find_architecture
from rooftree.facts.architectures import Experts, GroupedQuery
from rooftree.facts.catalogue import folders, load, names, open_catalogue, precision
from rooftree.models import parameters
from rooftree.models.efficiency import kernel_s
from rooftree.models.kernels import Slice, backward, head, layer_forward
from rooftree.models.layout import divisors
from rooftree.models.roofline import roofline_s
from rooftree.models.step import model_flops_per_token

CATALOGUE = open_catalogue()
MODELS = [find_architecture(name, folders(CATALOGUE)) for name in architecture_names(folders(CATALOGUE))]
CHIPS = [load(CATALOGUE, "accelerator", name) for name in names(CATALOGUE, "accelerator")]
FORMATS = {name: precision(CATALOGUE, name) for name in names(CATALOGUE, "precision")}
BF16 = FORMATS["bf16"]
WHOLE = Slice(tensor=1, context=1, expert=1, linear=BF16, core=BF16)
REPEATED = ("query down", "key, value down")
"""Products that each device of a tensor group does alike: what latent attention compresses is not divided."""

formats = st.sampled_from(list(FORMATS.values()))
tokens = st.sampled_from([2.0**n for n in range(16)])


@st.composite
def models(draw):
    """A published shape, or one with other numbers."""
    model = draw(st.sampled_from(MODELS))
    changes = {"gated": draw(st.booleans()), "hidden": 64 * draw(st.integers(1, 64))}
    changes |= {"vocabulary": draw(st.integers(1, 10**6)), "layers": draw(st.integers(5, 80))}
    changes["prediction_layers"] = draw(st.integers(0, 2))
    if model.experts is None:
        return replace(model, **changes, dense_layers=changes["layers"])
    routed, active, shared = draw(st.sampled_from([8, 64, 256])), draw(st.integers(1, 8)), draw(st.integers(0, 2))
    changes["experts"] = Experts(routed=routed, active=active, shared=shared, width=512)
    return replace(model, **changes, dense_layers=draw(st.integers(0, 4)))


def layer(model, rows, share):
    return layer_forward(model, rows, 4096.0, share, routed=model.experts is not None)


def total(kernels, field, *kinds):
    return math.fsum(getattr(kernel.work, field) for kernel in kernels if not kinds or kernel.kind in kinds)


@given(data=st.data(), model=models(), rows=tokens, linear=formats)
def test_the_products_of_a_tensor_group_are_those_of_the_layer(data, model, rows, linear):
    """Routers are no exception: each device routes its own slice of the tokens."""
    attention = model.attention
    heads = attention.kv_heads if isinstance(attention, GroupedQuery) else attention.heads
    tensor = data.draw(st.sampled_from(divisors(heads)))
    whole = layer(model, rows, replace(WHOLE, linear=linear))
    part = layer(model, rows, replace(WHOLE, linear=linear, tensor=tensor))
    repeated = (tensor - 1) * total([kernel for kernel in whole if kernel.name in REPEATED], "flops")
    assert tensor * total(part, "flops", "gemm") == pytest.approx(total(whole, "flops", "gemm") + repeated)
    assert tensor * total(part, "flops", "attention") == pytest.approx(total(whole, "flops", "attention"))


@given(data=st.data(), model=models(), rows=tokens)
def test_the_element_wise_traffic_of_a_tensor_group_is_that_of_the_layer(data, model, rows):
    """Casts are left out: the input of a product is quantised by each device that gathered it."""
    heads = getattr(model.attention, "kv_heads", model.attention.heads)
    tensor = data.draw(st.sampled_from(divisors(heads)))

    def moved_bytes(share):
        return total(layer(model, rows, share), "moved_bytes", "stream", "attention")

    assert tensor * moved_bytes(replace(WHOLE, tensor=tensor)) == pytest.approx(moved_bytes(WHOLE))


@given(data=st.data(), model=models().filter(lambda model: model.experts), rows=tokens, linear=formats)
def test_an_expert_group_does_the_work_of_one_device_with_all_tokens(data, model, rows, linear):
    """Operations, traffic and the weights that are read; but each device has a router of its own."""
    expert = data.draw(st.sampled_from(divisors(model.experts.routed)))

    def routed(rows, share):
        kernels = layer(model, rows, replace(share, linear=linear))
        return [k for k in kernels if "expert" in k.name or "permute" in k.name or k.name == "router"]

    one, each = routed(rows * expert, WHOLE), routed(rows, replace(WHOLE, expert=expert))
    for field in ("flops", "written_bytes"):
        assert expert * total(each, field) == pytest.approx(total(one, field))
    in_router = [sum(k.work.read_bytes for k in kernels if k.name == "router") for kernels in (one, each)]
    read_bytes = [total(kernels, "read_bytes") - router for kernels, router in zip((one, each), in_router, strict=True)]
    assert expert * read_bytes[1] == pytest.approx(read_bytes[0])


@given(model=models().filter(lambda model: model.experts is None), rows=tokens, linear=formats)
def test_a_dense_layer_reads_each_of_its_weights_once(model, rows, linear):
    """What a product reads grows with the tokens from its weights on."""

    def read_bytes(count):
        return total(layer(model, count, replace(WHOLE, linear=linear)), "read_bytes", "gemm")

    weights = parameters.layer_parameters(model, 0) - 2 * model.hidden
    read = 2 * read_bytes(rows) - read_bytes(2 * rows)
    assert read == pytest.approx(weights * linear.bits / 8, rel=1e-6)


@given(model=models(), rows=tokens)
def test_a_layer_multiplies_each_active_weight_once_for_each_token(model, rows):
    """Twice the tokens times the weights, norms and experts that are not chosen left out, is the layer's products."""
    products = total(layer(model, rows, WHOLE), "flops", "gemm")
    attention, experts = model.attention, model.experts
    idle = 0 if experts is None else (experts.routed - experts.active) * parameters.expert_parameters(model)
    norms = 2 * model.hidden
    if not isinstance(attention, GroupedQuery):
        norms += attention.query_rank + attention.kv_rank
    weights = parameters.layer_parameters(model, model.layers - 1) - idle - norms
    assert products == pytest.approx(2 * rows * weights)


@given(model=models(), sequence=st.integers(1, 10**6), prediction=st.booleans())
def test_model_operations_are_three_forward_passes(model, sequence, prediction):
    """Layer by layer, and a head for each token that is predicted."""
    ahead = model.prediction_layers if prediction else 0
    kernels = (1 + ahead) * head(model, sequence, WHOLE)
    for index in range(model.layers + ahead):
        routed = parameters.has_experts(model, index)
        kernels += layer_forward(model, sequence, sequence, WHOLE, routed=routed)
    expected = 3 * total(kernels, "flops") / sequence
    assert model_flops_per_token(model, sequence, WHOLE, prediction=prediction) == pytest.approx(expected)


@given(model=models(), sequence=st.integers(1, 10**6))
def test_model_operations_are_six_a_weight_and_six_a_causal_score(model, sequence):
    """6 x (active weights, no norms) + 3 layers sequence heads (key dim + value dim): half of the scores."""
    attention = model.attention
    norms = model.hidden * (2 * model.layers + 1)
    if isinstance(attention, GroupedQuery):
        dims = 2 * attention.head_dim
    else:
        dims = attention.nope_dim + attention.rope_dim + attention.value_dim
        norms += model.layers * (attention.query_rank + attention.kv_rank)
    multiplied = parameters.active_parameters(model) - norms
    expected = 6 * multiplied + 3 * model.layers * sequence * attention.heads * dims
    assert model_flops_per_token(model, sequence, WHOLE) == pytest.approx(expected)


def all_kernels(model, rows, share):
    forward = [*layer(model, rows, share), *head(model, rows, share)]
    return [*forward, *backward(forward)]


@pytest.mark.parametrize("chip", CHIPS, ids=lambda chip: chip.name)
@given(data=st.data(), model=models(), rows=tokens, tensor=st.sampled_from([1, 2, 8]))
def test_a_kernel_takes_the_bound_at_least_and_launch_arithmetic_and_traffic_at_most(chip, data, model, rows, tensor):
    linear = data.draw(st.sampled_from([form for form in FORMATS.values() if form.peak in chip.peak_flops_per_s]))
    fit = chip.efficiency
    for kernel in all_kernels(model, rows, replace(WHOLE, tensor=tensor, linear=linear)):
        time_s, work = kernel_s(kernel, chip), kernel.work
        arithmetic_s = 0.0
        if work.flops:
            share = fit.attention_fraction.get(kernel.phase, 1.0)
            if kernel.kind == "gemm":
                share = fit.gemm_fraction[work.peak] * kernel.width / (kernel.width + fit.gemm_half_width)
            arithmetic_s = work.flops / (chip.peak_flops_per_s[work.peak] * share)
        traffic_s = work.moved_bytes / (chip.memory_bandwidth_bytes_per_s * fit.memory_fraction)
        assert time_s >= roofline_s(work, chip)
        assert max(arithmetic_s, traffic_s) <= time_s * (1 + 1e-9)
        assert time_s <= (fit.launch_s + arithmetic_s + traffic_s) * (1 + 1e-9)


@pytest.mark.parametrize("chip", CHIPS, ids=lambda chip: chip.name)
@given(data=st.data(), model=models(), rows=tokens)
def test_a_perfect_chip_runs_at_the_roofline(chip, data, model, rows):
    linear = data.draw(st.sampled_from([form for form in FORMATS.values() if form.peak in chip.peak_flops_per_s]))
    fit = chip.efficiency
    perfect = replace(
        fit,
        gemm_fraction=dict.fromkeys(fit.gemm_fraction, 1.0),
        attention_fraction=dict.fromkeys(fit.attention_fraction, 1.0),
        gemm_half_width=0.0,
        memory_fraction=1.0,
        launch_s=0.0,
    )
    for kernel in all_kernels(model, rows, replace(WHOLE, linear=linear)):
        assert kernel_s(kernel, replace(chip, efficiency=perfect)) == roofline_s(kernel.work, chip)
