from dataclasses import replace

import pytest

from rooftree.facts.workloads import Training
from rooftree.models import step
from rooftree.models.efficiency import kernel_s
from rooftree.models.layout import Layout
from rooftree.models.pipeline import stage_layers

WORK = Training(global_batch=16, sequence=64, precision="bf16")


@pytest.fixture
def case(tiny, made, bf16):
    """One device; `case(tensor=2, …)` cuts it."""
    base = step.Case(model=tiny, layout=Layout(), workload=WORK, cluster=made, linear=bf16, core=bf16, domain=8)

    def cut(model=tiny, workload=WORK, **layout):
        return replace(base, model=model, workload=workload, layout=Layout(**layout))

    return cut


def test_a_case_knows_its_microbatches_and_tokens(case):
    assert case().microbatches == 16
    cut = case(data=2, context=2, microbatch=4)
    assert (cut.microbatches, cut.tokens) == (2, 128)


def test_one_device_neither_talks_nor_waits(case):
    times_s = step.step_times(case())
    assert set(times_s) == set(step.PARTS)
    assert {part for part, time_s in times_s.items() if time_s == 0} == {*step.NETWORK_PARTS, "pipeline bubble"}


def test_the_step_of_one_device_is_its_kernels_and_its_optimizer(case):
    one = case()
    layer, head = step.layer_times(one, routed=False), step.head_times(one)
    parameters = 8 * 110_200 + 200_000
    # reads and writes 12 bytes of state, reads 4 of gradient, writes 2 of weight, at 0.5 TB/s
    expected = 16 * (8 * sum(layer.values()) + sum(head.values())) + parameters * (24 + 4 + 2) / 0.5e12
    assert sum(step.step_times(one).values()) == pytest.approx(expected)


def test_full_recomputation_repeats_the_forward_pass(case):
    once, again = (step.layer_times(case(recompute=kind), routed=False) for kind in ("none", "full"))
    # products: three passes and one more; attention: forward at 0.5 and 2.5 times backward at 0.4, and forward again
    assert again["matrix products"] == pytest.approx(once["matrix products"] * 4 / 3)
    assert again["memory-bound kernels"] == pytest.approx(once["memory-bound kernels"] * 4 / 3)
    assert again["attention"] > once["attention"]


def test_selective_recomputation_repeats_element_wise_kernels_alone(case):
    once, again = (step.layer_times(case(recompute=kind), routed=False) for kind in ("none", "selective"))
    assert again["memory-bound kernels"] == pytest.approx(once["memory-bound kernels"] * 4 / 3)
    assert {part: again[part] for part in ("matrix products", "attention")} == {
        part: once[part] for part in ("matrix products", "attention")
    }


@pytest.mark.parametrize(("recompute", "rounds"), [("none", 5), ("selective", 5), ("full", 7)])
def test_tensor_groups_gather_and_scatter_around_attention_and_mlp(case, recompute, rounds):
    # 64 tokens x 100 x 2 B among 2 devices of a domain: 10 us + 1 us + 1/2 of 12.8 kB at 50 GB/s
    made = step.layer_communication(case(tensor=2), routed=False, recompute=recompute == "full")
    assert made == {"tensor parallel": pytest.approx(2 * rounds * (11e-6 + 6400 / 50e9))}


@pytest.mark.parametrize(("recompute", "rounds"), [(False, 3), (True, 4)])
def test_context_groups_gather_keys_and_values(case, recompute, rounds):
    # 64 tokens of 2 x 2 heads x 10 x 2 B among 4 devices: 13 us + 3/4 of 5,120 B at 50 GB/s
    made = step.layer_communication(case(context=4), routed=False, recompute=recompute)
    assert made == {"context parallel": pytest.approx(rounds * (13e-6 + 3840 / 50e9))}


def test_context_groups_of_latent_attention_gather_the_compressed_vector(case, mixed):
    made = step.layer_communication(case(mixed, context=2), routed=False, recompute=False)
    assert made["context parallel"] == pytest.approx(3 * (11e-6 + 64 * 34 * 2 / 2 / 50e9))


@pytest.mark.parametrize(("recompute", "exchanges"), [(False, 4), (True, 6)])
def test_experts_are_sent_each_token_and_send_it_back(case, mixed, recompute, exchanges):
    # 64 tokens x 2 experts x 100 x 2 B to 4 devices: 11 us + 3/4 of 25.6 kB at 80 GB/s
    made = step.layer_communication(case(mixed, data=4, expert=4), routed=True, recompute=recompute)
    assert made == {"expert parallel": pytest.approx(exchanges * (11e-6 + 19_200 / 80e9))}


def test_a_dense_layer_of_a_mixture_sends_nothing_to_experts(case, mixed):
    assert step.layer_communication(case(mixed, data=4, expert=4), routed=False, recompute=False) == {}


def test_what_the_stack_hides_is_not_counted(case, mixed, made):
    hidden = dict.fromkeys(made.stack.exposed, 0.0)
    cut = case(mixed, tensor=2, context=2, data=2, pipeline=2, expert=4)
    quiet = replace(cut, cluster=replace(made, stack=replace(made.stack, exposed=hidden)))
    assert all(step.step_times(cut)[part] > 0 for part in step.NETWORK_PARTS)
    assert [step.step_times(quiet)[part] for part in step.NETWORK_PARTS] == [0] * 5


def test_stages_pass_on_their_output_and_a_gradient_back(case):
    # 64 tokens x 100 x 2 B / 2 devices; twice for each of 2 chunks; in a domain of 8: 11 us + 6.4 kB at 50 GB/s
    assert step.transfer_s(case(tensor=2, pipeline=4, interleave=2)) == pytest.approx(4 * (11e-6 + 6400 / 50e9))
    # across domains: 25 us + 6.4 kB at 10 GB/s
    assert step.transfer_s(case(tensor=2, pipeline=4, data=2)) == pytest.approx(2 * (25e-6 + 6400 / 10e9))


def test_a_single_stage_passes_nothing_on(case):
    assert step.transfer_s(case()) == 0.0


def test_the_bubble_is_a_share_of_all_the_slowest_stage_does(case):
    times_s = step.step_times(case(pipeline=4, data=2))  # 8 microbatches
    outside = ("pipeline bubble", "data parallel", "optimizer")
    busy_s = sum(time_s for part, time_s in times_s.items() if part not in outside)
    assert times_s["pipeline bubble"] == pytest.approx(busy_s * 3 / 8)


def test_the_last_stage_is_slowest_when_stages_are_equal(case):
    cut = case(pipeline=4)
    dense, ends = {"matrix products": 1.0}, {"matrix products": 0.5}
    assert step.slowest_stage(cut, dense, {}, ends) == {"matrix products": 2.5}


def test_a_rounded_up_first_stage_outruns_a_short_last_one(case, tiny):
    cut = case(replace(tiny, layers=7, dense_layers=7), pipeline=3)
    assert stage_layers(7, cut.layout) == (3, 1)
    assert step.slowest_stage(cut, {"attention": 1.0}, {}, {"attention": 0.5}) == {"attention": 3.0}


def test_a_middle_stage_of_experts_is_slowest_where_they_are(case, mixed):
    cut = case(replace(mixed, layers=7), pipeline=3)  # stages of 2 dense + 1, 3, 1
    assert step.slowest_stage(cut, {"attention": 1.0}, {"attention": 2.0}, {}) == {"attention": 6.0}


def test_no_middle_stage_has_more_experts_than_the_layers_before_the_last(case, mixed):
    cut = case(replace(mixed, layers=7, dense_layers=5), pipeline=3)  # the middle one: 2 dense + 1
    assert step.slowest_stage(cut, {"attention": 1.0}, {"attention": 2.0}, {}) == {"attention": 4.0}


def test_layers_that_predict_further_tokens_lie_on_the_last_stage(case, mixed):
    cut = case(mixed, replace(WORK, prediction=True), pipeline=4)
    dense, routed, ends = {"attention": 1.0}, {"attention": 2.0}, {"attention": 0.5}
    assert step.slowest_stage(cut, dense, routed, ends) == {"attention": 2 * 2 + 0.5 + 2 + 0.5}


def test_gradients_are_scattered_and_weights_gathered_once_a_step(case):
    times_s = step.data_parallel_times(case(data=4))
    parameters = 8 * 110_200 + 200_000
    # among 4 devices of a domain: 13 us and 3/4 of the bytes at 50 GB/s, for 4 and for 2 bytes a parameter
    assert times_s["data parallel"] == pytest.approx(26e-6 + 3 / 4 * 6 * parameters / 50e9)
    assert times_s["optimizer"] == pytest.approx(parameters / 4 * 30 / 0.5e12)


def test_sharded_weights_are_gathered_in_both_passes_of_each_microbatch(case):
    times_s = step.data_parallel_times(case(data=4, shard="full"))  # 4 microbatches
    parameters = 8 * 110_200 + 200_000
    assert times_s["data parallel"] == pytest.approx(4 * (39e-6 + 3 / 4 * (4 + 2 * 2) * parameters / 50e9))


def test_an_optimizer_that_is_not_sharded_updates_everything(case):
    sharded, whole = (step.data_parallel_times(case(data=4, shard=shard)) for shard in ("optimizer", "none"))
    assert whole["optimizer"] == pytest.approx(4 * sharded["optimizer"])


def test_experts_are_exchanged_among_those_that_hold_the_same(case, mixed):
    alone = step.data_parallel_times(case(mixed, data=4, expert=4))
    assert alone["data parallel"] == pytest.approx(_exchange_s(spread_parameters(), 4))
    shared = step.data_parallel_times(case(mixed, data=8, expert=4))
    experts = 6 * 16 * 15_000 / 4
    assert shared["data parallel"] == pytest.approx(_exchange_s(spread_parameters(), 8) + _exchange_s(experts, 2))


def spread_parameters():
    """Weights of `mixed` beside its routed experts: attention, norms, MLPs, router and shared expert, tables."""
    latent = 40 * 180 + 3400 + 30 * 88 + 4000 + 70
    return 8 * (latent + 200) + 2 * 90_000 + 6 * (1600 + 15_000) + 200_000


def _exchange_s(parameters, ranks):
    """Scatter 4 and gather 2 bytes a parameter in one domain."""
    return 2 * (10e-6 + (ranks - 1) * 1e-6) + (ranks - 1) / ranks * parameters * 6 / 50e9


def test_a_memo_changes_nothing(case, mixed):
    memo = {}
    for cut in (case(mixed, pipeline=2), case(mixed, pipeline=4), case(mixed, tensor=2), case(mixed, recompute="full")):
        assert step.step_times(cut, memo) == step.step_times(cut)
    assert len(memo) == 9  # three layouts of a layer; dense, routed and head each


def test_kernels_are_added_up_by_kind(case, accelerator):
    one = case()
    kernels = step.head(one.model, one.tokens, one.share)
    norm, product, softmax = kernels
    assert step.kernel_times(one, kernels) == {
        "matrix products": kernel_s(product, accelerator),
        "memory-bound kernels": kernel_s(norm, accelerator) + kernel_s(softmax, accelerator),
    }


def test_model_operations_of_a_token_by_hand(case, tiny):
    products = 8 * (20_000 + 90_000) + 100_000
    attention = 8 * 64 * 8 * (10 + 10)  # half of 2 x keys x heads x both dimensions
    assert step.model_flops_per_token(tiny, 64, case().share) == 3 * (2 * products + attention)


def test_recomputation_and_layout_do_not_count_as_model_operations(case, mixed):
    whole, cut = case(mixed).share, case(mixed, tensor=4, data=4, expert=16, recompute="full").share
    assert step.model_flops_per_token(mixed, 64, whole) == step.model_flops_per_token(mixed, 64, cut)


def test_a_predicting_layer_adds_a_layer_with_experts_and_a_head(case, mixed):
    plain, more = (step.model_flops_per_token(mixed, 64, case().share, prediction=p) for p in (False, True))
    deeper = step.model_flops_per_token(replace(mixed, layers=9), 64, case().share)
    assert more - plain == pytest.approx(deeper - plain + 6 * 100_000)
