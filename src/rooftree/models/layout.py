"""How a model is cut over devices, and which devices talk to which."""

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from rooftree.facts.architectures import Transformer

Recompute = Literal["none", "selective", "full"]
Shard = Literal["none", "optimizer", "full"]
GroupKind = Literal["tensor", "context", "data", "gradient", "pipeline", "expert", "expert_data"]


ENDS = 2
"""Embedding and output head, which frameworks may count as layers of their own when they cut a model into chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Parallelism of one training job or one serving replica.

    Ranks are numbered tensor fastest, then context, data, pipeline; experts are spread over consecutive ranks of the
    tensor x context x data block. `interleave` is the number of model chunks on a pipeline stage (virtual pipeline);
    `shard` says what is spread over the data group: nothing, the optimizer (ZeRO-1), or parameters too (FSDP).
    """

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    expert: int = 1
    context: int = 1
    microbatch: int = 1
    interleave: int = 1
    recompute: Recompute = "none"
    shard: Shard = "optimizer"

    @property
    def devices(self) -> int:
        """Devices that the layout takes.

        >>> Layout(tensor=4, pipeline=8, data=2, context=2).devices
        128
        """
        return self.tensor * self.context * self.data * self.pipeline

    def __str__(self) -> str:
        """Return the short form that tables use: only what differs from one.

        >>> str(Layout(tensor=4, pipeline=8, data=2, interleave=2))
        'tp4 pp8 dp2 vp2'
        """
        sizes = [("tp", self.tensor), ("cp", self.context), ("pp", self.pipeline), ("dp", self.data)]
        sizes += [("ep", self.expert), ("mb", self.microbatch), ("vp", self.interleave)]
        words = [f"{name}{size}" for name, size in sizes if size > 1]
        words += [f"recompute {self.recompute}"] if self.recompute != "none" else []
        words += ["fsdp"] if self.shard == "full" else []
        return " ".join(words) or "one device"


@dataclass(frozen=True, slots=True)
class Group:
    """Ranks that communicate: how many, how many of them share the emptiest scale-up domain, and over how many domains.

    `across` of 0 means as many domains as the emptiest would need.
    """

    size: int
    local: int
    across: int = field(default=0, repr=False)

    @property
    def domains(self) -> int:
        """Scale-up domains that the group touches."""
        return self.across or math.ceil(self.size / self.local)


def size_and_stride(layout: Layout, kind: GroupKind) -> tuple[int, int]:
    """Return the members of a group of one kind and the distance in rank of two neighbours.

    Ranks that hold the same dense parameters form a `gradient` group (data and context parallel), those that hold the
    same experts an `expert_data` group.
    """
    block = layout.tensor * layout.context * layout.data
    return {
        "tensor": (layout.tensor, 1),
        "context": (layout.context, layout.tensor),
        "data": (layout.data, layout.tensor * layout.context),
        "gradient": (layout.data * layout.context, layout.tensor),
        "pipeline": (layout.pipeline, block),
        "expert": (layout.expert, 1),
        "expert_data": (block // layout.expert, layout.expert),
    }[kind]


def members(layout: Layout, kind: GroupKind) -> npt.NDArray[np.int64]:
    """Ranks of every group of one kind, shape [groups, members].

    >>> members(Layout(tensor=2, data=2), "data").tolist()
    [[0, 2], [1, 3]]
    """
    size, stride = size_and_stride(layout, kind)
    ranks = np.arange(layout.devices, dtype=np.int64)
    return ranks.reshape(-1, size, stride).transpose(0, 2, 1).reshape(-1, size)


def group(layout: Layout, kind: GroupKind, domain: int) -> Group:
    """Return the group of one kind when consecutive ranks fill domains of `domain` devices.

    Where groups straddle domains unevenly, `local` is that of the worst: the fewest members that a group has in a
    domain which it touches. A domain cuts pieces out of the size x stride ranks that groups of one kind share, and a
    piece of n ranks holds at least n / stride of each of them, rounded down, or one of some.

    >>> group(Layout(tensor=8, data=9), "data", domain=72), group(Layout(tensor=8, data=18), "data", domain=72)
    (Group(size=9, local=9), Group(size=18, local=9))
    >>> group(Layout(tensor=8, data=5), "data", domain=72), group(Layout(tensor=5, data=72), "tensor", domain=72)
    (Group(size=5, local=5), Group(size=5, local=1))
    """
    size, stride = size_and_stride(layout, kind)
    return Group(size, max(1, _smallest_piece(size * stride, layout.devices, domain) // stride))


def _smallest_piece(span: int, devices: int, domain: int) -> int:
    """Return the ranks of the smallest piece that borders of domains cut out of consecutive spans of ranks.

    The borders repeat after domain / gcd spans, where the smallest piece is their gcd; fewer spans may not meet it.
    """
    common = math.gcd(span, domain)
    if common in (span, domain):
        return common
    pieces: list[int] = []
    for index in range(min(devices // span, domain // common)):
        first = min(span, domain - index * span % domain)
        rest = span - first
        pieces += [first, *([domain] if rest >= domain else []), *([rest % domain] if rest % domain else [])]
    return min(pieces)


def faults(layout: Layout, model: Transformer, devices: int, global_batch: int | None = None) -> list[str]:
    """Every reason why `model` cannot be cut so, each with what would do; an empty list when it can."""
    found: list[str] = []
    sizes = {name: getattr(layout, name) for name in ("tensor", "pipeline", "data", "expert", "context")}
    sizes |= {"microbatch": layout.microbatch, "interleave": layout.interleave}
    found += [f"layout.{name} = {size}: must be 1 or more" for name, size in sizes.items() if size < 1]
    if found:
        return found
    heads = model.attention.heads
    if heads % layout.tensor:
        found.append(
            f"layout.tensor = {layout.tensor} does not divide {heads} heads; try {_near(heads, layout.tensor)}"
        )
    chunks = layout.pipeline * layout.interleave
    slots = model.layers + ENDS
    if chunks > slots:
        found.append(
            f"layout.pipeline x layout.interleave = {chunks} is more than the {model.layers} layers with embedding and "
            f"output head, {slots}; lower either"
        )
    if layout.interleave > 1 and layout.pipeline == 1:
        found.append(f"layout.interleave = {layout.interleave} needs a pipeline; set layout.pipeline or interleave = 1")
    if layout.devices != devices:
        block = layout.tensor * layout.context * layout.pipeline
        remedy = (
            f"set layout.data = {devices // block}" if devices % block == 0 else f"use a multiple of {block} devices"
        )
        found.append(f"layout takes {layout.devices} devices, the job has {devices}; {remedy}")
    found += _expert_faults(layout, model)
    if global_batch is not None and global_batch % (layout.data * layout.microbatch):
        step = layout.data * layout.microbatch
        found.append(
            f"global_batch = {global_batch} is no multiple of layout.data x layout.microbatch = {step}; "
            f"try {max(1, round(global_batch / step)) * step}"
        )
    return found


def _expert_faults(layout: Layout, model: Transformer) -> list[str]:
    """Reasons that concern expert parallelism."""
    if layout.expert == 1:
        return []
    if model.experts is None:
        return [f"layout.expert = {layout.expert}, but {model.name} has no experts; set layout.expert = 1"]
    found, routed = [], model.experts.routed
    if routed % layout.expert:
        found.append(
            f"layout.expert = {layout.expert} does not divide {routed} experts; try {_near(routed, layout.expert)}"
        )
    block = layout.tensor * layout.context * layout.data
    if block % layout.expert:
        found.append(
            f"layout.expert = {layout.expert} does not divide tensor x context x data = {block}; "
            f"try {_near(block, layout.expert)}"
        )
    return found


def divisors(number: int) -> list[int]:
    """All divisors in rising order.

    >>> divisors(18)
    [1, 2, 3, 6, 9, 18]
    """
    low = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return sorted({*low, *(number // d for d in low)})


def _near(number: int, wanted: int) -> str:
    """Return the divisors of `number` on both sides of `wanted`."""
    below = [d for d in divisors(number) if d < wanted]
    above = [d for d in divisors(number) if d > wanted]
    return " or ".join(str(d) for d in (*below[-1:], *above[:1]))
