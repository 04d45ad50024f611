from dataclasses import replace

import pytest

from rooftree.facts.architectures import Experts, GroupedQuery, Latent
from rooftree.models import kernels
from rooftree.models.roofline import Work

TOKENS = 32.0
GROUPED = GroupedQuery(heads=8, kv_heads=2, head_dim=10)
LATENT = Latent(heads=8, query_rank=40, kv_rank=30, nope_dim=6, rope_dim=4, value_dim=5)
EXPERTS = Experts(routed=4, active=2, shared=0, width=50)


def named(made, name):
    (found,) = [kernel for kernel in made if kernel.name == name]
    return found


def products(made):
    return {kernel.name: kernel.work.flops for kernel in made if kernel.kind == "gemm"}


def test_a_product_reads_two_operands_and_writes_one(share):
    made = kernels.gemm("x", 3, 5, 7, share())
    assert made.work == Work(flops=2 * 3 * 5 * 7, peak="bf16", read_bytes=(3 + 5) * 7 * 2, written_bytes=3 * 5 * 2)
    assert made.width == 3


def test_a_product_in_eight_bits_reads_bytes_and_writes_sixteen_bits(share, fp8):
    made = kernels.gemm("x", 3, 5, 7, share(linear=fp8))
    assert made.work == Work(flops=210, peak="fp8", read_bytes=(3 + 5) * 7, written_bytes=3 * 5 * 2)


def test_a_product_in_the_core_format_stays_there(share, fp8):
    assert kernels.gemm("x", 3, 5, 7, share(linear=fp8), core=True) == kernels.gemm("x", 3, 5, 7, share())


def test_a_cast_reads_sixteen_bits_and_writes_eight(share, fp8):
    (made,) = kernels.cast("x", 100, share(linear=fp8))
    assert made.work == Work(flops=0.0, peak="bf16", read_bytes=200, written_bytes=100)
    assert made.kind == "stream"


def test_one_format_needs_no_cast(share):
    assert kernels.cast("x", 100, share()) == []


def test_grouped_query_projections_by_hand(share):
    made = products(kernels.projections(GROUPED, 100, TOKENS, share()))
    assert made == {
        "query, key, value": 2 * 32 * (80 + 20 + 20) * 100,
        "attention output": 2 * 32 * 100 * 80,
    }


def test_a_tensor_group_larger_than_the_key_heads_keeps_one_head_each(share):
    made = products(kernels.projections(GROUPED, 100, TOKENS, share(tensor=8)))
    assert made["query, key, value"] == 2 * 32 * (10 + 10 + 10) * 100


def test_latent_projections_by_hand(share):
    made = products(kernels.projections(LATENT, 100, TOKENS, share(tensor=2)))
    assert made == {
        "query down": 2 * 32 * 40 * 100,  # what compresses is not divided
        "query up": 2 * 32 * (4 * 10) * 40,
        "key, value down": 2 * 32 * (30 + 4) * 100,
        "key, value up": 2 * 32 * (4 * (6 + 5)) * 30,
        "attention output": 2 * 32 * 100 * (4 * 5),
    }


def test_latent_queries_that_are_not_compressed_take_one_product(share):
    made = products(kernels.projections(replace(LATENT, query_rank=0), 100, TOKENS, share()))
    assert "query down" not in made
    assert made["query up"] == 2 * 32 * (8 * 10) * 100


def test_causal_attention_counts_half_of_the_scores(share):
    made = kernels.attention_core(GROUPED, TOKENS, 1000, share(tensor=2))
    assert made.work == Work(
        flops=32 * 1000 * 4 * (10 + 10),
        peak="bf16",
        read_bytes=32 * (4 * 10 + 1 * 20) * 2,
        written_bytes=32 * 4 * 10 * 2,
    )
    assert made.phase == "forward"


def test_latent_attention_has_a_key_and_a_value_for_each_head(share):
    made = kernels.attention_core(LATENT, TOKENS, 1000, share())
    assert made.work == Work(
        flops=32 * 1000 * 8 * (10 + 5),
        peak="bf16",
        read_bytes=32 * 8 * (10 + 10 + 5) * 2,
        written_bytes=32 * 8 * 5 * 2,
    )


@pytest.mark.parametrize(("gated", "inputs"), [(True, 2), (False, 1)])
def test_a_dense_mlp_has_its_gate_in_the_first_product(share, gated, inputs):
    made = kernels.dense_mlp(300, 100, gated, TOKENS, share(tensor=3))
    assert products(made) == {"mlp up": 2 * 32 * inputs * 100 * 100, "mlp down": 2 * 32 * 100 * 100}
    assert named(made, "mlp activation").work.read_bytes == 32 * inputs * 100 * 2
    assert named(made, "mlp activation").work.written_bytes == 32 * 100 * 2


def test_eight_bit_products_of_an_mlp_are_preceded_by_casts(share, fp8):
    made = [kernel.name for kernel in kernels.dense_mlp(300, 100, True, TOKENS, share(linear=fp8))]
    assert made == ["cast mlp input", "mlp up", "mlp activation", "cast mlp inner", "mlp down"]


def test_experts_work_on_each_token_as_often_as_it_chooses(share):
    made = products(kernels.expert_mlp(EXPERTS, 100, True, TOKENS, share()))
    assert made == {
        "router": 2 * 32 * 4 * 100,
        "expert up": 2 * (32 * 2) * 100 * 100,
        "expert down": 2 * (32 * 2) * 100 * 50,
    }


def test_one_token_reads_the_weights_of_the_experts_that_it_chose(share):
    # one token, 2 of 4 experts: rows 2 x 50 in, weights of 2 experts
    made = named(kernels.expert_mlp(EXPERTS, 100, True, 1.0, share()), "expert down")
    assert made.work.read_bytes == pytest.approx((2 * 50 + 2 * 100 * 50) * 2)


def test_two_tokens_share_some_of_their_experts(share):
    # each leaves an expert out with chance 1/2, so 4 x (1 - 1/4) = 3 are read
    made = named(kernels.expert_mlp(EXPERTS, 100, True, 2.0, share()), "expert down")
    assert made.work.read_bytes == pytest.approx((4 * 50 + 3 * 100 * 50) * 2)


def test_a_member_of_an_expert_group_holds_its_part_and_sees_all_tokens(share):
    # 2 devices with 16 tokens each: 2 local experts, each with 32 x 2/4 = 16 rows
    made = named(kernels.expert_mlp(EXPERTS, 100, True, 16.0, share(expert=2)), "expert up")
    assert made.work.flops == 2 * (16 * 2) * 100 * 100
    assert made.width == 16
    assert made.work.read_bytes == pytest.approx((32 * 100 + 2 * 100 * 100) * 2, rel=1e-6)


def test_a_single_expert_works_as_a_dense_mlp(share):
    one = Experts(routed=1, active=1, shared=0, width=300)
    as_expert = kernels.expert_mlp(one, 100, True, TOKENS, share())
    as_dense = kernels.dense_mlp(300, 100, True, TOKENS, share())
    assert named(as_expert, "expert up").work == named(as_dense, "mlp up").work
    assert named(as_expert, "expert down").work == named(as_dense, "mlp down").work


def test_a_dense_layer_of_a_mixture_has_no_experts(share, mixed):
    made = products(kernels.mlp(mixed, TOKENS, share(), routed=False))
    assert made == {"mlp up": 2 * 32 * 600 * 100, "mlp down": 2 * 32 * 100 * 300}


def test_a_routed_layer_has_routed_and_shared_experts(share, mixed):
    made = products(kernels.mlp(mixed, TOKENS, share(tensor=2), routed=True))
    assert made["expert up"] == 2 * (16 * 2) * 100 * 100  # a slice of the tokens, whole experts
    assert made["mlp up"] == 2 * 32 * (2 * 25) * 100  # all tokens, a slice of the shared expert
    without = replace(mixed, experts=replace(mixed.experts, shared=0))
    assert "mlp up" not in products(kernels.mlp(without, TOKENS, share(), routed=True))


def test_a_layer_has_two_norms_of_a_slice_of_the_tokens(share, tiny):
    made = kernels.layer_forward(tiny, TOKENS, 64.0, share(tensor=2), routed=False)
    norms = [kernel.work for kernel in made if kernel.name == "norm and residual"]
    assert [work.moved_bytes for work in norms] == [4 * 16 * 100 * 2] * 2
    assert [kernel.kind for kernel in made].count("attention") == 1


def test_the_backward_pass_has_two_products_for_one_and_two_and_a_half_attentions(share):
    product, attention = kernels.gemm("x", 3, 5, 7, share()), kernels.attention_core(GROUPED, TOKENS, 8, share())
    made = kernels.backward([product, attention])
    assert made[:2] == [product, product]
    assert made[2].phase == "backward"
    assert made[2].work == attention.work * 2.5


def test_the_head_multiplies_by_a_slice_of_the_vocabulary_in_the_core_format(share, tiny, fp8):
    norm, product, softmax = kernels.head(tiny, TOKENS, share(tensor=4, linear=fp8))
    assert norm.work.moved_bytes == 2 * 8 * 100 * 2
    assert (product.work.flops, product.work.peak) == (2 * 32 * 250 * 100, "bf16")
    assert softmax.work.moved_bytes == 3 * 32 * 250 * 2
