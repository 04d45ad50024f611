"""The kernels of a transformer layer on one accelerator, as work; how long they take is `models.efficiency`.

Shapes follow tensor parallelism with sequence parallelism: matrix products see all tokens of the microbatch and a slice
of the weights; element-wise kernels see a slice of the tokens.
"""

from dataclasses import dataclass
from typing import Literal

from rooftree.facts.architectures import Experts, GroupedQuery, Latent, Transformer
from rooftree.facts.hardware import Precision
from rooftree.models.roofline import Work

Kind = Literal["gemm", "attention", "stream"]
BITS_PER_BYTE = 8
CAUSAL = 0.5  # a causal mask leaves half of the score matrix


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel: its kind, its work, the smaller side of its output, and for attention the phase."""

    name: str
    kind: Kind
    work: Work
    width: float = 0.0
    phase: str = "forward"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """The share of a model that one accelerator computes, and in which formats."""

    tensor: int
    context: int
    expert: int
    linear: Precision
    core: Precision

    @property
    def core_bytes(self) -> float:
        """Bytes of one value in the format of activations and attention."""
        return self.core.bits / BITS_PER_BYTE


def gemm(name: str, rows: float, columns: float, inner: float, share: Slice, *, core: bool = False) -> Kernel:
    """Matrix product [rows, inner] x [inner, columns].

    flops = 2 rows columns inner; reads both operands in the linear format (`cast` makes it), writes the result in the
    core format.
    """
    form = share.core if core else share.linear
    operand_bytes = form.bits / BITS_PER_BYTE
    work = Work(
        flops=2 * rows * columns * inner,
        peak=form.peak,
        read_bytes=(rows + columns) * inner * operand_bytes,
        written_bytes=rows * columns * share.core_bytes,
    )
    return Kernel(name, "gemm", work, min(rows, columns))


def stream(name: str, values_read: float, values_written: float, share: Slice) -> Kernel:
    """Element-wise kernel that reads and writes so many activation values."""
    work = Work(
        flops=0.0,
        peak=share.core.peak,
        read_bytes=values_read * share.core_bytes,
        written_bytes=values_written * share.core_bytes,
    )
    return Kernel(name, "stream", work)


def cast(name: str, values: float, share: Slice) -> list[Kernel]:
    """Quantise activations before a matrix product: read in the core format, write in the linear one.

    Nothing to do when the two formats are the same.
    """
    if share.linear.name == share.core.name:
        return []
    work = Work(
        flops=0.0,
        peak=share.core.peak,
        read_bytes=values * share.core_bytes,
        written_bytes=values * share.linear.bits / BITS_PER_BYTE,
    )
    return [Kernel(f"cast {name}", "stream", work)]


def projections(attention: GroupedQuery | Latent, hidden: int, tokens: float, share: Slice) -> list[Kernel]:
    """Matrix products around the attention core: inputs, and the output product."""
    heads = attention.heads / share.tensor
    if isinstance(attention, GroupedQuery):
        kv_heads = max(1.0, attention.kv_heads / share.tensor)
        columns = (heads + 2 * kv_heads) * attention.head_dim
        return [
            *cast("attention input", tokens * hidden, share),
            gemm("query, key, value", tokens, columns, hidden, share),
            *cast("attention output", tokens * heads * attention.head_dim, share),
            gemm("attention output", tokens, hidden, heads * attention.head_dim, share),
        ]
    key_dim = attention.nope_dim + attention.rope_dim
    query_inner = attention.query_rank or hidden
    down = [gemm("query down", tokens, attention.query_rank, hidden, share)] if attention.query_rank else []
    return [
        *cast("attention input", tokens * hidden, share),
        *down,
        gemm("query up", tokens, heads * key_dim, query_inner, share),
        gemm("key, value down", tokens, attention.kv_rank + attention.rope_dim, hidden, share),
        gemm("key, value up", tokens, heads * (attention.nope_dim + attention.value_dim), attention.kv_rank, share),
        *cast("attention output", tokens * heads * attention.value_dim, share),
        gemm("attention output", tokens, hidden, heads * attention.value_dim, share),
    ]


def attention_core(attention: GroupedQuery | Latent, tokens: float, keys: float, share: Slice) -> Kernel:
    """Causal attention of `tokens` queries over sequences of `keys` tokens, as one fused kernel.

    flops = 2 tokens keys heads (key dim + value dim) / 2 for the causal mask; traffic is queries, keys, values, output.
    """
    heads = attention.heads / share.tensor
    if isinstance(attention, GroupedQuery):
        key_dim = value_dim = float(attention.head_dim)
        kv_heads = max(1.0, attention.kv_heads / share.tensor)
    else:
        key_dim, value_dim = float(attention.nope_dim + attention.rope_dim), float(attention.value_dim)
        kv_heads = heads
    work = Work(
        flops=2 * tokens * keys * heads * (key_dim + value_dim) * CAUSAL,
        peak=share.core.peak,
        read_bytes=tokens * (heads * key_dim + kv_heads * (key_dim + value_dim)) * share.core_bytes,
        written_bytes=tokens * heads * value_dim * share.core_bytes,
    )
    return Kernel("attention", "attention", work)


def dense_mlp(width: float, hidden: int, gated: bool, tokens: float, share: Slice) -> list[Kernel]:
    """MLP of `width`, its activation function between the products."""
    inner = width / share.tensor
    inputs = 2 if gated else 1
    return [
        *cast("mlp input", tokens * hidden, share),
        gemm("mlp up", tokens, inputs * inner, hidden, share),
        stream("mlp activation", tokens * inputs * inner, tokens * inner, share),
        *cast("mlp inner", tokens * inner, share),
        gemm("mlp down", tokens, hidden, inner, share),
    ]


def expert_mlp(experts: Experts, hidden: int, gated: bool, tokens: float, share: Slice) -> list[Kernel]:
    """Routed experts on one accelerator when every one of the expert group holds `tokens` tokens, evenly routed.

    Each token goes to `active` experts, so an accelerator works on tokens x active rows, spread over routed / expert
    local experts; a local expert sees tokens x expert x active / routed rows. Weights are read of those experts that
    at least one token chose: local x (1 - (1 - active/routed)^(tokens x expert)).
    """
    local = experts.routed / share.expert
    rows = tokens * experts.active
    rows_each = tokens * share.expert * experts.active / experts.routed
    chosen = local * (1 - (1 - experts.active / experts.routed) ** (tokens * share.expert))
    inputs = 2 if gated else 1
    operand_bytes = share.linear.bits / BITS_PER_BYTE

    def grouped(name: str, columns: float, inner: float) -> Kernel:
        work = Work(
            flops=2 * rows * columns * inner,
            peak=share.linear.peak,
            read_bytes=(rows * inner + chosen * columns * inner) * operand_bytes,
            written_bytes=rows * columns * share.core_bytes,
        )
        return Kernel(name, "gemm", work, min(max(rows_each, 1.0), columns))

    return [
        gemm("router", tokens, experts.routed, hidden, share, core=True),
        stream("permute", rows * hidden, rows * hidden, share),
        *cast("expert input", rows * hidden, share),
        grouped("expert up", inputs * experts.width, hidden),
        stream("expert activation", rows * inputs * experts.width, rows * experts.width, share),
        *cast("expert inner", rows * experts.width, share),
        grouped("expert down", hidden, experts.width),
        stream("unpermute", rows * hidden, tokens * hidden, share),
    ]


def mlp(model: Transformer, tokens: float, share: Slice, *, routed: bool) -> list[Kernel]:
    """MLP of a layer: dense, or routed and shared experts."""
    if not routed or model.experts is None:
        return dense_mlp(model.mlp_width, model.hidden, model.gated, tokens, share)
    experts = model.experts
    kernels = expert_mlp(experts, model.hidden, model.gated, tokens / share.tensor, share)
    if experts.shared:
        kernels += dense_mlp(experts.shared * experts.width, model.hidden, model.gated, tokens, share)
    return kernels


def has_tensor_mlp(model: Transformer, *, routed: bool) -> bool:
    """Whether a layer has an MLP that the tensor group splits: a dense one, or shared experts beside the routed."""
    return not routed or model.experts is None or model.experts.shared > 0


def layer_forward(model: Transformer, tokens: float, keys: float, share: Slice, *, routed: bool) -> list[Kernel]:
    """All kernels of a layer's forward pass: two norms with their residual sums, attention, MLP."""
    sliced = tokens / share.tensor * model.hidden
    return [
        stream("norm and residual", 2 * sliced, 2 * sliced, share),
        *projections(model.attention, model.hidden, tokens, share),
        attention_core(model.attention, tokens, keys, share),
        stream("norm and residual", 2 * sliced, 2 * sliced, share),
        *mlp(model, tokens, share, routed=routed),
    ]


def backward(kernels: list[Kernel]) -> list[Kernel]:
    """Kernels of the backward pass of a forward pass.

    A matrix product has two: the gradients of its input and of its weights. Fused attention recomputes its scores: five
    products for the forward pass's two. Element-wise kernels read the saved input and the gradient.
    """
    result = []
    for kernel in kernels:
        if kernel.kind == "attention":
            result.append(Kernel(kernel.name, "attention", kernel.work * 2.5, phase="backward"))
        else:
            result += [kernel, kernel]
    return result


def head(model: Transformer, tokens: float, share: Slice) -> list[Kernel]:
    """Compute the final norm, the output product over the vocabulary, and the loss or the sampling."""
    columns = model.vocabulary / share.tensor
    return [
        stream("final norm", tokens / share.tensor * model.hidden, tokens / share.tensor * model.hidden, share),
        gemm("vocabulary", tokens, columns, model.hidden, share, core=True),
        stream("softmax", 2 * tokens * columns, tokens * columns, share),
    ]
