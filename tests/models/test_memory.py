from dataclasses import replace

import pytest

from rooftree.facts.workloads import Training
from rooftree.models import memory, parameters
from rooftree.models.layout import Layout

# weights of one layer of `tiny`: attention 100 x 10 x (16 + 4), norms 200, MLP 3 x 100 x 300
LAYER = 20_000 + 200 + 90_000
TABLE = 1000 * 100
# weights of one layer of `mixed` beside its routed experts: latent attention, norms, router, one shared expert
LATENT = 40 * (100 + 80) + 100 * 34 + 30 * 88 + 40 * 100 + 70
EXPERT = 3 * 100 * 50
MIXED_LAYER = LATENT + 200 + 1600 + EXPERT
WORK = Training(global_batch=16, sequence=64, precision="bf16")


def test_one_device_holds_all_layers_and_both_tables(tiny):
    assert memory.local_parameters(tiny, Layout()) == (8 * LAYER + 2 * TABLE, 0)


def test_the_first_stage_holds_its_layers_and_the_embedding_spread_over_the_tensor_group(tiny):
    assert memory.local_parameters(tiny, Layout(pipeline=4, tensor=2)) == ((2 * LAYER + TABLE) / 2, 0)


def test_tied_tables_are_held_once(tiny):
    assert memory.local_parameters(replace(tiny, tied_embeddings=True), Layout()) == (8 * LAYER + TABLE, 0)


def test_routed_experts_are_spread_over_the_expert_group_alone(mixed):
    dense = 2 * (LATENT + 200 + 90_000)
    assert memory.local_parameters(mixed, Layout(tensor=2, data=4, expert=8)) == (
        (dense + 6 * MIXED_LAYER + 2 * TABLE) / 2,
        6 * 16 * EXPERT / 8,
    )


def test_the_fullest_stage_of_a_mixture_has_experts_in_all_its_layers(mixed):
    assert memory.local_parameters(mixed, Layout(pipeline=4)) == (2 * MIXED_LAYER + TABLE, 2 * 16 * EXPERT)


def test_no_stage_has_more_layers_with_experts_than_the_model(mixed):
    mostly_dense = replace(mixed, dense_layers=7)
    spread, experts = memory.local_parameters(mostly_dense, Layout(pipeline=2))
    assert experts == 16 * EXPERT
    assert spread == 3 * (LATENT + 200 + 90_000) + MIXED_LAYER + TABLE


def test_undivided_devices_hold_the_whole_model_but_its_last_norm(find_model):
    for name in ("llama-3.1-8b", "deepseek-v3"):
        model = find_model(name)
        held = sum(memory.local_parameters(model, Layout()))
        assert held == parameters.total_parameters(model) - model.hidden


def test_attention_keeps_its_inputs_and_its_output(tiny, mixed):
    assert memory.attention_values(tiny.attention) == ((8 + 4) * 10, 80)
    # compressed queries, keys and rotary key; then a query, a key and a value for each head
    assert memory.attention_values(mixed.attention) == (40 + 30 + 4 + 8 * (10 + 10 + 5), 40)


def test_a_layer_keeps_norm_inputs_attention_and_the_inner_mlp(tiny):
    core = 2 * 100 + 120 + 2 * 300
    linear = 80 + 2 * 100 + 300
    assert memory.layer_activations(tiny, Layout()) == (core, linear)
    assert memory.layer_activations(tiny, Layout(tensor=4)) == (core / 4, linear / 4)


def test_an_ungated_layer_keeps_one_inner_value_less(tiny):
    core, _ = memory.layer_activations(tiny, Layout())
    assert core - memory.layer_activations(replace(tiny, gated=False), Layout())[0] == 300


def test_selective_recomputation_keeps_what_is_no_element_wise_output(tiny):
    assert memory.layer_activations(tiny, Layout(recompute="selective")) == (2 * 100 + 120 + 2 * 300, 80)


def test_full_recomputation_keeps_the_input_of_the_layer(tiny):
    assert memory.layer_activations(tiny, Layout(recompute="full", tensor=4)) == (25, 0)


def test_a_layer_with_experts_keeps_their_inputs_and_inner_values(mixed):
    width = (2 + 1) * 50
    assert memory.layer_activations(mixed, Layout()) == (2 * 100 + 274 + 2 * 100 + 2 * width, 40 + 200 + width)


def test_kept_values_take_the_bytes_of_their_format(tiny, bf16, fp8):
    assert memory.activation_bytes(tiny, Layout(), bf16, bf16) == 2 * 920 + 2 * 580
    assert memory.activation_bytes(tiny, Layout(), fp8, bf16) == 2 * 920 + 580


def test_training_on_one_device_by_hand(tiny, stack, bf16):
    held = memory.training_bytes(tiny, Layout(), WORK, stack, bf16, bf16)
    weights = 8 * LAYER + 2 * TABLE
    assert held == {
        "weights": 2 * weights,
        "gradients": 4 * weights,
        "optimizer state": 12 * weights,
        "activations": 8 * 3000 * 64,
        "logits": 64 * 1000 * 4,
        "reserved": 1e9,
    }


def test_a_pipeline_holds_a_microbatch_for_each_stage_and_no_logits(tiny, stack, bf16):
    held = memory.training_bytes(tiny, Layout(pipeline=4), WORK, stack, bf16, bf16)
    assert (held["activations"], held["logits"]) == (2 * 3000 * 4 * 64, 0)


def test_full_recomputation_holds_inputs_and_one_working_layer(tiny, stack, bf16):
    held = memory.training_bytes(tiny, Layout(recompute="full"), WORK, stack, bf16, bf16)
    assert held["activations"] == (8 * 200 + 3000) * 64


@pytest.mark.parametrize(("shard", "kept", "state"), [("none", 1, 1), ("optimizer", 1, 8), ("full", 8, 8)])
def test_what_is_sharded_is_spread_over_data_and_context(tiny, stack, bf16, shard, kept, state):
    whole = memory.training_bytes(tiny, Layout(), WORK, stack, bf16, bf16)
    held = memory.training_bytes(tiny, Layout(data=4, context=2, shard=shard), WORK, stack, bf16, bf16)
    assert held["weights"] * kept == whole["weights"]
    assert held["gradients"] * kept == whole["gradients"]
    assert held["optimizer state"] * state == whole["optimizer state"]


def test_experts_are_sharded_over_those_that_hold_the_same(mixed, stack, bf16):
    layout = Layout(tensor=2, data=8, expert=4, shard="optimizer")
    spread, experts = memory.local_parameters(mixed, layout)
    held = memory.training_bytes(mixed, layout, WORK, stack, bf16, bf16)
    assert held["optimizer state"] == 12 * (spread / 8 + experts / 4)


def test_a_context_group_splits_the_tokens(tiny, stack, bf16):
    one, two = (memory.training_bytes(tiny, Layout(context=c), WORK, stack, bf16, bf16) for c in (1, 2))
    assert two["activations"] == one["activations"] / 2
    assert two["logits"] == one["logits"] / 2


def test_a_cached_token_takes_keys_and_values_of_the_local_heads(tiny, mixed, fp8, bf16):
    assert memory.cached_bytes(tiny, Layout(), bf16) == 2 * 2 * 10 * 2
    assert memory.cached_bytes(tiny, Layout(tensor=2), fp8) == 2 * 1 * 10
    assert memory.cached_bytes(tiny, Layout(tensor=8), fp8) == 2 * 1 * 10  # one head at least
    assert memory.cached_bytes(mixed, Layout(tensor=8), fp8) == 30 + 4  # a latent cache is not divided


def test_serving_on_one_device_by_hand(tiny, stack, bf16, fp8):
    held = memory.serving_bytes(tiny, Layout(), fp8, bf16, fp8, stack, sequences=3, tokens_each=50, chunk=10)
    assert held == {
        "weights": 8 * LAYER + 2 * TABLE * 2,
        "KV cache": 3 * 50 * 8 * 40,
        "activations": 10 * (2 * 920 + 580),
        "reserved": 1e9,
    }
