"""One training step in closed form: what each part of it takes, and what they add up to."""

from collections.abc import Mapping
from dataclasses import dataclass

from rooftree.facts.architectures import Transformer
from rooftree.facts.hardware import Cluster, Precision
from rooftree.facts.workloads import Training
from rooftree.models import collectives
from rooftree.models.efficiency import kernel_s
from rooftree.models.kernels import Kernel, Slice, backward, has_tensor_mlp, head, layer_forward
from rooftree.models.layout import Group, GroupKind, Layout, group
from rooftree.models.memory import cache_elements, local_parameters
from rooftree.models.pipeline import bubble_share, stage_layers

PARTS = (
    "matrix products",
    "attention",
    "memory-bound kernels",
    "tensor parallel",
    "context parallel",
    "expert parallel",
    "pipeline transfers",
    "pipeline bubble",
    "data parallel",
    "optimizer",
)
NETWORK_PARTS = ("tensor parallel", "context parallel", "expert parallel", "pipeline transfers", "data parallel")
_PART_OF = {"gemm": "matrix products", "attention": "attention", "stream": "memory-bound kernels"}

Times = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A training job on a cluster. `domain` is how many devices of a scale-up domain the job uses (64 of 72, say)."""

    model: Transformer
    layout: Layout
    workload: Training
    cluster: Cluster
    linear: Precision
    core: Precision
    domain: int

    @property
    def microbatches(self) -> int:
        """Microbatches that one pipeline takes in a step."""
        return self.workload.global_batch // (self.layout.data * self.layout.microbatch)

    @property
    def tokens(self) -> float:
        """Tokens of one microbatch on one context rank."""
        return self.layout.microbatch * self.workload.sequence / self.layout.context

    @property
    def share(self) -> Slice:
        """What one device computes."""
        return Slice(
            tensor=self.layout.tensor,
            context=self.layout.context,
            expert=self.layout.expert,
            linear=self.linear,
            core=self.core,
        )

    def group(self, kind: GroupKind) -> Group:
        """Return the ranks that a device talks to."""
        return group(self.layout, kind, self.domain)


def _add(total_s: dict[str, float], times_s: Times, factor: float = 1.0) -> None:
    """Add `times` to `into`, part by part."""
    for part, time_s in times_s.items():
        total_s[part] = total_s.get(part, 0.0) + factor * time_s


def kernel_times(case: Case, kernels: list[Kernel]) -> dict[str, float]:
    """Seconds of a list of kernels on one device, by part."""
    times_s: dict[str, float] = {}
    accelerator = case.cluster.rack.host.accelerator
    for kernel in kernels:
        part = _PART_OF[kernel.kind]
        times_s[part] = times_s.get(part, 0.0) + kernel_s(kernel, accelerator)
    return times_s


def layer_communication(case: Case, *, routed: bool, recompute: bool) -> dict[str, float]:
    """Exposed seconds of a layer's collectives for one microbatch, forward and backward.

    Tensor parallel with sequence parallelism: an all-gather and a reduce-scatter of tokens x hidden around attention,
    and around a dense MLP or shared experts, in both passes, and one more all-gather each in the backward pass.
    Context parallel: keys and values are gathered in both passes and their gradients scattered. Expert parallel:
    dispatch and combine in both passes, tokens x active experts x hidden. Each is multiplied by the share that the
    software stack leaves exposed.
    """
    model, layout, share = case.model, case.layout, case.share
    up, out, exposed = case.cluster.rack.scale_up, case.cluster.scale_out, case.cluster.stack.exposed
    times_s: dict[str, float] = {}
    passes = 3 if recompute else 2
    if layout.tensor > 1:
        blocks = 2 if has_tensor_mlp(model, routed=routed) else 1
        gathered_bytes = case.tokens * model.hidden * share.core_bytes
        ring_s = collectives.ring_s(gathered_bytes, case.group("tensor"), up, out, rounds=1)
        times_s["tensor parallel"] = blocks * (2 * passes + 1) * ring_s * exposed["tensor"]
    if layout.context > 1:
        kv_values = cache_elements(model.attention, layout.tensor)
        kv_bytes = layout.microbatch * case.workload.sequence * kv_values * share.core_bytes
        ring_s = collectives.ring_s(kv_bytes, case.group("context"), up, out, rounds=1)
        times_s["context parallel"] = (passes + 1) * ring_s * exposed["context"]
    if layout.expert > 1 and routed and model.experts is not None:
        sent_bytes = case.tokens / layout.tensor * model.experts.active * model.hidden * share.core_bytes
        exchange_s = collectives.all_to_all_s(sent_bytes, case.group("expert"), up, out)
        times_s["expert parallel"] = 2 * passes * exchange_s * exposed["expert"]
    return times_s


def layer_times(case: Case, *, routed: bool) -> dict[str, float]:
    """Seconds of one layer for one microbatch, forward, backward and recomputation, by part."""
    forward = layer_forward(case.model, case.tokens, float(case.workload.sequence), case.share, routed=routed)
    times_s = kernel_times(case, [*forward, *backward(forward)])
    if case.layout.recompute == "full":
        _add(times_s, kernel_times(case, forward))
    elif case.layout.recompute == "selective":
        _add(times_s, kernel_times(case, [kernel for kernel in forward if kernel.kind == "stream"]))
    _add(times_s, layer_communication(case, routed=routed, recompute=case.layout.recompute == "full"))
    return times_s


def head_times(case: Case) -> dict[str, float]:
    """Seconds of the output head for one microbatch, both passes."""
    kernels = head(case.model, case.tokens, case.share)
    return kernel_times(case, [*kernels, *backward(kernels)])


def slowest_stage(case: Case, dense: Times, routed: Times, ends: Times) -> dict[str, float]:
    """Seconds of the slowest pipeline stage for one microbatch, by part.

    Compared are the first stage (with the dense layers of a mixture-of-experts model), the last one before the end, and
    the last with the output head and, where they are trained, the layers that predict further tokens.
    """
    model = case.model
    full, last = stage_layers(model.layers, case.layout)
    dense_layers = model.layers if model.experts is None else model.dense_layers
    stages: list[dict[str, float]] = []
    places = [(0, full, case.layout.pipeline == 1), (model.layers - last, last, True)]
    if case.layout.pipeline > 2:
        places.append((model.layers - last - full, full, False))
    for first_layer, count, is_last in places:
        plain = max(0, min(count, dense_layers - first_layer))
        stage: dict[str, float] = {}
        _add(stage, dense, plain)
        _add(stage, routed, count - plain)
        if is_last:
            _add(stage, ends)
            if case.workload.prediction:
                _add(stage, routed, model.prediction_layers)
                _add(stage, ends, model.prediction_layers)
        stages.append(stage)
    return max(stages, key=lambda stage: sum(stage.values()))


def data_parallel_times(case: Case) -> dict[str, float]:
    """Exposed seconds of gradient and parameter exchange, and seconds of the optimizer, for one step.

    Gradients are reduce-scattered and parameters all-gathered over the devices that hold the same ones. With parameters
    sharded too (FSDP), both passes of every microbatch gather them again. The optimizer reads and writes its state,
    the gradient and the weight of each parameter once.
    """
    up, out, stack = case.cluster.rack.scale_up, case.cluster.scale_out, case.cluster.stack
    accelerator = case.cluster.rack.host.accelerator
    weight, gradient, state = (stack.parameter_bytes[key] for key in ("weight", "gradient", "state"))
    repeats = case.microbatches if case.layout.shard == "full" else 1
    gathers = 2 if case.layout.shard == "full" else 1
    exchange_s = update_bytes = 0.0
    kinds: tuple[GroupKind, GroupKind] = ("gradient", "expert_data")
    for parameters, kind in zip(local_parameters(case.model, case.layout), kinds, strict=True):
        members = case.group(kind)
        if members.size > 1 and parameters:
            scatter_s = collectives.ring_s(parameters * gradient, members, up, out, rounds=1)
            gather_s = collectives.ring_s(parameters * weight, members, up, out, rounds=1)
            exchange_s += repeats * (scatter_s + gathers * gather_s)
        owned = parameters / (members.size if case.layout.shard != "none" else 1)
        update_bytes += owned * (2 * state + gradient + weight)
    bandwidth_bytes_per_s = accelerator.memory_bandwidth_bytes_per_s * accelerator.efficiency.memory_fraction
    return {"data parallel": exchange_s * stack.exposed["data"], "optimizer": update_bytes / bandwidth_bytes_per_s}


def transfer_s(case: Case) -> float:
    """Exposed seconds that one microbatch spends between stages: each chunk sends its output on and a gradient back."""
    if case.layout.pipeline == 1:
        return 0.0
    sent_bytes = case.tokens * case.model.hidden * case.share.core_bytes / case.layout.tensor
    cluster = case.cluster
    hop_s = collectives.point_to_point_s(sent_bytes, case.group("pipeline"), cluster.rack.scale_up, cluster.scale_out)
    return 2 * case.layout.interleave * hop_s * cluster.stack.exposed["pipeline"]


def step_times(case: Case, memo: dict[object, dict[str, float]] | None = None) -> dict[str, float]:
    """Seconds of each part of one training step on its slowest pipeline stage; their sum is the step time.

    step = m t + (p - 1)/v t + exchange + optimizer, with t the slowest stage's time for one microbatch.

    `memo` carries layer times from one layout to the next of a search; the caller keeps all else alike. Every part of
    PARTS is present. Validity: quiet network, balanced routing, no stragglers.
    """
    layout, model = case.layout, case.model
    key = (layout.tensor, layout.context, layout.expert, layout.microbatch, layout.recompute)
    keys = (*key, *(case.group(kind) for kind in ("tensor", "context", "expert")))
    cached = memo if memo is not None else {}

    def remember(name: str, routed: bool) -> dict[str, float]:
        at = (name, *keys)
        if at not in cached:
            cached[at] = head_times(case) if name == "head" else layer_times(case, routed=routed)
        return cached[at]

    dense = remember("dense", False) if model.experts is None or model.dense_layers else {}
    routed = remember("routed", True) if model.experts is not None else {}
    stage = slowest_stage(case, dense, routed, remember("head", False))
    stage["pipeline transfers"] = transfer_s(case)
    busy_s = sum(stage.values())
    times_s = dict.fromkeys(PARTS, 0.0)
    _add(times_s, stage, case.microbatches)
    times_s["pipeline bubble"] = busy_s * case.microbatches * bubble_share(layout, case.microbatches)
    _add(times_s, data_parallel_times(case))
    return times_s


def model_flops_per_token(model: Transformer, sequence: int, share: Slice, *, prediction: bool = False) -> float:
    """Operations that the model needs for one trained token, whatever is recomputed.

    3 x (forward matrix products and causal attention): about 6 active parameters + 6 layers sequence heads head_dim.
    Embedding look-ups count nothing. Source: Narayanan et al. 2021, SC21, section 5.1, with the causal half left out.
    """
    whole = Slice(tensor=1, context=1, expert=1, linear=share.core, core=share.core)
    tokens = float(sequence)

    def forward_flops(kernels: list[Kernel]) -> float:
        return sum(kernel.work.flops for kernel in kernels) / tokens

    extra = model.prediction_layers if prediction else 0
    dense_layers = model.layers if model.experts is None else model.dense_layers
    total = (1 + extra) * forward_flops(head(model, tokens, whole))
    for count, routed in ((dense_layers, False), (model.layers - dense_layers + extra, model.experts is not None)):
        if count:
            total += count * forward_flops(layer_forward(model, tokens, tokens, whole, routed=routed))
    return 3 * total
