"""Serving in the steady state: one decode iteration, one prefill, and the two mixed in one engine."""

from collections.abc import Mapping
from dataclasses import dataclass

from rooftree.facts.architectures import GroupedQuery, Latent, Transformer
from rooftree.facts.hardware import Cluster, Precision
from rooftree.facts.workloads import Serving
from rooftree.models import collectives
from rooftree.models.efficiency import kernel_s
from rooftree.models.kernels import Kernel, Slice, gemm, has_tensor_mlp, head, layer_forward, mlp, projections, stream
from rooftree.models.layout import GroupKind, Layout, group
from rooftree.models.memory import cached_bytes
from rooftree.models.roofline import Work

PARTS = (
    "matrix products",
    "attention",
    "memory-bound kernels",
    "tensor parallel",
    "expert parallel",
    "pipeline transfers",
    "host",
    "prefill",
)
NETWORK_PARTS = ("tensor parallel", "expert parallel", "pipeline transfers")
_PART_OF = {"gemm": "matrix products", "attention": "attention", "stream": "memory-bound kernels"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """One copy of a model that serves requests.

    Its `layout.data` attention ranks (data-parallel attention) of `layout.tensor` devices each share the experts.
    """

    model: Transformer
    layout: Layout
    workload: Serving
    cluster: Cluster
    linear: Precision
    core: Precision
    kv: Precision
    domain: int

    @property
    def chunk(self) -> float:
        """Prompt tokens that an attention rank takes at once."""
        return self.cluster.stack.prefill_tokens

    @property
    def share(self) -> Slice:
        """What one device computes."""
        return Slice(
            tensor=self.layout.tensor, context=1, expert=self.layout.expert, linear=self.linear, core=self.core
        )


def decode_attention(replica: Replica, sequences: float, keys: float) -> list[Kernel]:
    """Attention of one new token of each sequence over `keys` cached tokens, with what latent attention adds.

    Grouped-query: flops = 4 sequences keys heads head_dim, traffic = the cache. Latent, in the absorbed form: scores
    and values against the compressed cache, flops = 2 sequences keys heads (2 kv_rank + rope_dim), and two small
    products a head before and after. The tensor group splits the heads but each device reads the whole latent cache.
    """
    attention, share = replica.model.attention, replica.share
    heads = attention.heads / share.tensor
    read_bytes = sequences * keys * cached_bytes(replica.model, replica.layout, replica.kv)
    extra: list[Kernel] = []
    if isinstance(attention, GroupedQuery):
        per_key, out_values = 4.0 * heads * attention.head_dim, heads * attention.head_dim
    else:
        per_key, out_values = 2.0 * heads * (2 * attention.kv_rank + attention.rope_dim), heads * attention.kv_rank
        extra = _absorbed(attention, sequences, share)
    work = Work(
        flops=per_key * sequences * keys,
        peak=share.core.peak,
        read_bytes=read_bytes,
        written_bytes=sequences * out_values * share.core_bytes,
    )
    return [Kernel("attention", "attention", work, phase="decode"), *extra]


def _absorbed(attention: Latent, sequences: float, share: Slice) -> list[Kernel]:
    """Products with the key and value up-projections that absorbed latent attention does for each head."""
    heads = attention.heads / share.tensor
    return [
        gemm("absorbed key", sequences, heads * attention.nope_dim, attention.kv_rank, share, core=True),
        gemm("absorbed value", sequences, heads * attention.value_dim, attention.kv_rank, share, core=True),
    ]


def decode_layer(replica: Replica, sequences: float, keys: float, *, routed: bool) -> list[Kernel]:
    """Kernels of one layer for one decode iteration of `sequences` sequences on each attention rank."""
    model, share = replica.model, replica.share
    products = projections(model.attention, model.hidden, sequences, share)
    if isinstance(model.attention, Latent):
        products = [kernel for kernel in products if kernel.name != "key, value up"]
    values = sequences * model.hidden
    return [
        stream("norm and residual", 2 * values, 2 * values, share),
        *products,
        *decode_attention(replica, sequences, keys),
        stream("norm and residual", 2 * values, 2 * values, share),
        *mlp(model, sequences, share, routed=routed),
    ]


def layer_communication(replica: Replica, tokens: float, *, routed: bool) -> dict[str, float]:
    """Seconds of a layer's collectives in a forward pass of `tokens` tokens on each attention rank.

    Tensor parallel: an all-reduce of tokens x hidden after attention, and after a dense MLP or shared experts. Expert
    parallel: dispatch and combine, all-to-all of tokens x active experts x hidden.
    """
    model, layout, cluster = replica.model, replica.layout, replica.cluster
    up, out, exposed = cluster.rack.scale_up, cluster.scale_out, cluster.stack.exposed
    times_s: dict[str, float] = {}
    value_bytes = replica.share.core_bytes

    def exchange_s(op: str, message_bytes: float, kind: GroupKind) -> float:
        return collectives.timing(op, message_bytes, group(layout, kind, replica.domain), up, out).time_s

    if layout.tensor > 1:
        reductions = 2 if has_tensor_mlp(model, routed=routed) or layout.expert == 1 else 1
        times_s["tensor parallel"] = reductions * exchange_s(
            "all_reduce", tokens * model.hidden * value_bytes, "tensor"
        )
    if layout.expert > 1 and routed and model.experts is not None:
        sent_bytes = tokens / layout.tensor * model.experts.active * model.hidden * value_bytes
        times_s["expert parallel"] = 2 * exchange_s("all_to_all", sent_bytes, "expert") * exposed["expert"]
    return times_s


def _pass_times(replica: Replica, tokens: float, dense: list[Kernel], routed: list[Kernel]) -> dict[str, float]:
    """Seconds of one forward pass through all layers, by part, with the hops between stages and the host's share."""
    model, accelerator = replica.model, replica.cluster.rack.host.accelerator
    times_s = dict.fromkeys(PARTS, 0.0)
    dense_layers = model.layers if model.experts is None else model.dense_layers
    for kernels, layers, is_routed in ((dense, dense_layers, False), (routed, model.layers - dense_layers, True)):
        if not layers:
            continue
        for kernel in kernels:
            times_s[_PART_OF[kernel.kind]] += layers * kernel_s(kernel, accelerator)
        for part, time_s in layer_communication(replica, tokens, routed=is_routed).items():
            times_s[part] += layers * time_s
    times_s["pipeline transfers"] = transfers_s(replica, tokens)
    times_s["host"] = replica.cluster.stack.host_s
    return times_s


def transfers_s(replica: Replica, tokens: float) -> float:
    """Seconds that a token spends between the stages of a pipeline: one hop fewer than stages, of tokens x hidden."""
    stages, cluster = replica.layout.pipeline, replica.cluster
    if stages == 1:
        return 0.0
    sent_bytes = tokens * replica.model.hidden * replica.share.core_bytes / replica.layout.tensor
    between = group(replica.layout, "pipeline", replica.domain)
    return (stages - 1) * collectives.point_to_point_s(sent_bytes, between, cluster.rack.scale_up, cluster.scale_out)


def decode_times(replica: Replica, sequences: float, keys: float) -> dict[str, float]:
    """Seconds of one decode iteration: every sequence of every attention rank gets one token.

    t = layers x (kernels + collectives) + head + host. Pipeline stages work on different sequences at the same time, so
    `sequences` is what one stage holds, and pipeline x data x sequences tokens come out of each iteration.
    """
    dense = decode_layer(replica, sequences, keys, routed=False)
    routed = decode_layer(replica, sequences, keys, routed=True) if replica.model.experts is not None else []
    times_s = _pass_times(replica, sequences, dense, routed)
    accelerator = replica.cluster.rack.host.accelerator
    for kernel in head(replica.model, sequences, replica.share):
        times_s[_PART_OF[kernel.kind]] += kernel_s(kernel, accelerator)
    return times_s


def prefill_times(replica: Replica, tokens: float, keys: float) -> dict[str, float]:
    """Seconds to take `tokens` prompt tokens on each attention rank, in prompts of `keys` tokens."""
    model, share = replica.model, replica.share
    dense = layer_forward(model, tokens, keys, share, routed=False)
    routed = layer_forward(model, tokens, keys, share, routed=True) if model.experts is not None else []
    return _pass_times(replica, tokens, dense, routed)


def mixed_times(replica: Replica, sequences: float) -> dict[str, float]:
    """Seconds between two tokens of a sequence when the same devices also take the prompts of new requests.

    In the steady state each iteration finishes sequences / output_tokens requests a rank, and as many prompts of
    input_tokens come in: t = decode(sequences) + sequences input_tokens / output_tokens x prefill time a token.
    Sequences hold on average input_tokens + output_tokens / 2 cached tokens.
    """
    workload = replica.workload
    times_s = decode_times(replica, sequences, workload.input_tokens + workload.output_tokens / 2)
    prefill_s = sum(prefill_times(replica, replica.chunk, float(workload.input_tokens)).values())
    arriving = sequences * workload.input_tokens / workload.output_tokens
    times_s["prefill"] = arriving * prefill_s / replica.chunk
    return times_s


def first_token_s(replica: Replica, times_s: Mapping[str, float]) -> float:
    """Time from a request's arrival to its first token, without a queue before the engine.

    t = half an iteration (it arrives in the middle of one) + its prompt's prefill, stretched by the decoding that goes
    on between its chunks + one iteration. Queueing behind other requests comes on top when arrivals are bursty.
    """
    workload = replica.workload
    iteration_s = sum(times_s.values())
    tokens = float(workload.input_tokens)
    prefill_s = sum(prefill_times(replica, min(tokens, replica.chunk), tokens).values())
    chunks = max(1.0, tokens / replica.chunk)
    return iteration_s / 2 + chunks * prefill_s + (chunks - 1) * (iteration_s - times_s["prefill"]) + iteration_s
