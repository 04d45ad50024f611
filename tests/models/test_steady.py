from dataclasses import replace

import pytest

from rooftree.facts.workloads import Serving
from rooftree.models import steady
from rooftree.models.efficiency import kernel_s
from rooftree.models.layout import Layout

WORK = Serving(
    input_tokens=200,
    output_tokens=50,
    precision="bf16",
    kv_precision="fp8",
    concurrency=0,
    time_per_output_token_limit_s=0,
)


@pytest.fixture
def replica(tiny, made, bf16, fp8):
    """One device; `replica(tensor=2, …)` cuts it."""
    base = steady.Replica(
        model=tiny, layout=Layout(), workload=WORK, cluster=made, linear=bf16, core=bf16, kv=fp8, domain=8
    )

    def cut(model=tiny, **layout):
        return replace(base, model=model, layout=Layout(**layout))

    return cut


def named(kernels, name):
    (found,) = [kernel for kernel in kernels if kernel.name == name]
    return found


def test_a_new_token_reads_the_cache_of_grouped_queries(replica):
    (made,) = steady.decode_attention(replica(), 3, 1000)
    assert made.phase == "decode"
    assert made.work.flops == 4 * 3 * 1000 * 8 * 10
    assert made.work.read_bytes == 3 * 1000 * 40  # FP8 cache: 2 heads, key and value
    assert made.work.written_bytes == 3 * 80 * 2


def test_a_tensor_group_splits_heads_and_cache(replica):
    (made,) = steady.decode_attention(replica(tensor=2), 3, 1000)
    assert (made.work.flops, made.work.read_bytes) == (4 * 3 * 1000 * 4 * 10, 3 * 1000 * 20)


def test_a_new_token_of_latent_attention_works_on_the_compressed_cache(replica, mixed):
    core, key, value = steady.decode_attention(replica(mixed, tensor=2), 3, 1000)
    assert core.work.flops == 2 * 3 * 1000 * 4 * (2 * 30 + 4)
    assert core.work.read_bytes == 3 * 1000 * 34  # not divided
    assert core.work.written_bytes == 3 * 4 * 30 * 2
    assert key.work.flops == 2 * 3 * (4 * 6) * 30
    assert value.work.flops == 2 * 3 * (4 * 5) * 30


def test_absorbed_attention_does_not_expand_the_cache(replica, mixed):
    names = [kernel.name for kernel in steady.decode_layer(replica(mixed), 3, 1000, routed=False)]
    assert "key, value up" not in names
    assert "absorbed key" in names


def test_a_layer_decodes_one_row_for_each_sequence(replica):
    made = steady.decode_layer(replica(), 3, 1000, routed=False)
    assert named(made, "mlp up").work.flops == 2 * 3 * 600 * 100
    assert [kernel.work.moved_bytes for kernel in made if kernel.name == "norm and residual"] == [4 * 3 * 100 * 2] * 2


def test_a_tensor_group_sums_after_attention_and_mlp(replica):
    # 5 tokens x 100 x 2 B in the switches: 12 us + 3/2 of 1 kB at 40 GB/s; a ring takes 12 us + 1 kB at 50 GB/s
    made = steady.layer_communication(replica(tensor=2), 5, routed=False)
    assert made == {"tensor parallel": pytest.approx(2 * (12e-6 + 1000 / 50e9))}


def test_experts_bring_an_exchange_beside_the_sum_of_the_shared_ones(replica, mixed):
    assert mixed.experts.shared
    made = steady.layer_communication(replica(mixed, tensor=2, data=2, expert=4), 5, routed=True)
    # 5/2 tokens x 2 experts x 200 B to 4 devices at 80 GB/s, twice
    assert made["expert parallel"] == pytest.approx(2 * (11e-6 + 1000 * 3 / 4 / 80e9))
    assert made["tensor parallel"] == pytest.approx(2 * (12e-6 + 1000 / 50e9))
    alone = replace(mixed, experts=replace(mixed.experts, shared=0))
    made = steady.layer_communication(replica(alone, tensor=2, data=2, expert=4), 5, routed=True)
    assert made["tensor parallel"] == pytest.approx(12e-6 + 1000 / 50e9)


def test_one_device_does_not_talk(replica):
    times_s = steady.decode_times(replica(), 3, 1000)
    assert (times_s["tensor parallel"], times_s["expert parallel"]) == (0, 0)


def test_an_iteration_is_all_layers_the_head_and_the_host(replica, accelerator):
    one = replica()
    layer = sum(kernel_s(kernel, accelerator) for kernel in steady.decode_layer(one, 3, 1000, routed=False))
    head = sum(kernel_s(kernel, accelerator) for kernel in steady.head(one.model, 3, one.share))
    times_s = steady.decode_times(one, 3, 1000)
    assert set(times_s) == set(steady.PARTS)
    assert times_s["prefill"] == 0
    assert sum(times_s.values()) == pytest.approx(8 * layer + head + 1e-3)


def test_a_mixture_decodes_its_dense_and_its_routed_layers(replica, mixed, accelerator):
    one = replica(mixed)
    kernels = {routed: steady.decode_layer(one, 3, 1000, routed=routed) for routed in (False, True)}
    dense, routed = (sum(kernel_s(kernel, accelerator) for kernel in kernels[r]) for r in (False, True))
    head = sum(kernel_s(kernel, accelerator) for kernel in steady.head(mixed, 3, one.share))
    assert sum(steady.decode_times(one, 3, 1000).values()) == pytest.approx(2 * dense + 6 * routed + head + 1e-3)


def test_a_prompt_passes_all_layers_but_no_head(replica, accelerator):
    one = replica()
    layer = sum(kernel_s(k, accelerator) for k in steady.layer_forward(one.model, 100, 200, one.share, routed=False))
    assert sum(steady.prefill_times(one, 100, 200).values()) == pytest.approx(8 * layer + 1e-3)


def test_each_iteration_takes_the_prompts_of_what_it_finishes(replica):
    # 10 sequences of 50 tokens: a fifth of a request ends, and 40 prompt tokens come in, of a chunk of 100
    one = replica()
    chunk_s = sum(steady.prefill_times(one, 100, 200).values())
    mixed_s, alone_s = steady.mixed_times(one, 10), steady.decode_times(one, 10, 225)
    assert mixed_s["prefill"] == pytest.approx(0.4 * chunk_s)
    assert {**mixed_s, "prefill": 0} == alone_s


def test_the_first_token_waits_for_its_prompt_in_chunks(replica):
    one, times_s = replica(), {"attention": 2.0, "prefill": 1.0}
    chunk_s = sum(steady.prefill_times(one, 100, 200).values())
    # half an iteration, two chunks of 100 with the decoding between them, one iteration
    assert steady.first_token_s(one, times_s) == pytest.approx(1.5 + 2 * chunk_s + 2.0 + 3.0)


def test_a_short_prompt_takes_one_pass_of_its_own_length(replica):
    one = replica()
    short = replace(one, workload=replace(WORK, input_tokens=40))
    pass_s = sum(steady.prefill_times(short, 40, 40).values())
    assert steady.first_token_s(short, {"attention": 2.0, "prefill": 0.0}) == pytest.approx(1.0 + pass_s + 2.0)


def test_a_replica_that_fits_in_a_domain_lies_in_one(replica):
    small = replica(tensor=2, data=3)
    # 6 of 8 devices: as with a domain of 6, the exchange never leaves it
    alone = replace(small, domain=6)
    assert steady.mixed_times(small, 5) == steady.mixed_times(alone, 5)


@pytest.mark.parametrize("layout", [{"data": 6, "expert": 6}, {"tensor": 2, "data": 3, "expert": 6}, {"pipeline": 5}])
def test_inside_a_domain_the_adapter_counts_nothing(replica, mixed, layout):
    inside = replica(mixed, **layout)
    slow = replace(inside.cluster, scale_out=replace(inside.cluster.scale_out, bandwidth_bytes_per_s=1.0))
    assert steady.mixed_times(inside, 5) == steady.mixed_times(replace(inside, cluster=slow), 5)


def test_a_pipeline_pays_a_hop_between_its_stages(replica):
    one, four = (steady.decode_times(replica(pipeline=stages), 8, 1000) for stages in (1, 4))
    assert one["pipeline transfers"] == 0
    cut = replica(pipeline=4)
    link = cut.cluster.rack.scale_up
    sent_bytes = 8 * cut.model.hidden * 2
    hop_s = link.base_s + link.step_s + sent_bytes / (link.bandwidth_bytes_per_s * link.ring_fraction)
    assert four["pipeline transfers"] == pytest.approx(3 * hop_s)
