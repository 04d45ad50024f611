"""What has to lie in the memory of one device, in training and in serving."""

from rooftree.facts.architectures import GroupedQuery, Latent, Transformer
from rooftree.facts.hardware import Precision, Stack
from rooftree.facts.workloads import Training
from rooftree.models import parameters
from rooftree.models.kernels import BITS_PER_BYTE
from rooftree.models.layout import Layout, size_and_stride
from rooftree.models.pipeline import microbatches_in_flight, stage_layers


def local_parameters(model: Transformer, layout: Layout) -> tuple[float, float]:
    """Parameters on one device of the fullest stage: those spread over the tensor group, and routed experts.

    The first stage holds its layers and the embedding; a single stage holds the output matrix as well.
    """
    layers, last = stage_layers(model.layers, layout)
    routed_layers = layers if model.experts is not None else 0
    if model.experts is not None and layout.pipeline == 1:
        routed_layers = last - model.dense_layers
    dense_layers = layers - routed_layers
    experts = parameters.routed_experts(model)
    spread = dense_layers * parameters.layer(model, routed=False)
    spread += routed_layers * (parameters.layer(model, routed=True) - experts)
    ends = 1 if layout.pipeline > 1 or model.tied_embeddings else 2
    spread += ends * parameters.embedding(model)
    return spread / layout.tensor, routed_layers * experts / layout.expert


def attention_values(attention: GroupedQuery | Latent) -> float:
    """Activations of one token that attention keeps for the backward pass: queries, keys, values, output."""
    if isinstance(attention, GroupedQuery):
        return 2.0 * (attention.heads + attention.kv_heads) * attention.head_dim
    heads = 2 * (attention.nope_dim + attention.rope_dim) + 2 * attention.value_dim
    return float(attention.query_rank + attention.kv_rank + attention.rope_dim + attention.heads * heads)


def layer_activations(model: Transformer, layout: Layout) -> float:
    """Values that one layer keeps for one token of a microbatch on one device.

    Two inputs and two outputs of norms, attention, and the MLP's inner values, spread over the tensor group (sequence
    parallelism). `selective` drops what element-wise kernels can rebuild: the norms' outputs and the activation
    function's; `full` keeps the layer's input alone.

    Source: counted as in Korthikanti et al. 2022, arXiv 2205.05198, section 4, for fused attention and gated MLPs.
    """
    if layout.recompute == "full":
        return model.hidden / layout.tensor
    kept_outputs = 0 if layout.recompute == "selective" else 1
    inner = 2 if model.gated else 1
    norms = (2 + 2 * kept_outputs) * model.hidden
    if model.experts is None:
        mlp = (inner + kept_outputs) * float(model.mlp_width)
    else:
        routed = model.experts.active * (model.hidden + (inner + kept_outputs) * model.experts.width)
        mlp = routed + model.experts.shared * (inner + kept_outputs) * model.experts.width
    return (norms + attention_values(model.attention) + mlp) / layout.tensor


def training_bytes(
    model: Transformer, layout: Layout, workload: Training, stack: Stack, core: Precision
) -> dict[str, float]:
    """Bytes on one device of the fullest stage, by what they hold.

    weights, gradients and optimizer state: bytes a parameter of the stack, the state spread over the data group when it
    is sharded, all three when parameters are (FSDP). activations: layers x tokens x `layer_activations` x microbatches
    in flight, plus the working set of one recomputed layer. logits: one microbatch in 32-bit on the last stage, where
    fewer microbatches are in flight, so counted for a single stage only.
    """
    microbatches = workload.global_batch // (layout.data * layout.microbatch)
    spread, experts = local_parameters(model, layout)
    per = stack.parameter_bytes
    holders = size_and_stride(layout, "gradient")[0], size_and_stride(layout, "expert_data")[0]
    state_shards = (1, 1) if layout.shard == "none" else holders
    other_shards = holders if layout.shard == "full" else (1, 1)
    kept = spread / other_shards[0] + experts / other_shards[1]
    tokens = layout.microbatch * workload.sequence / layout.context
    value_bytes = core.bits / BITS_PER_BYTE
    layers, _ = stage_layers(model.layers, layout)
    activations = layers * layer_activations(model, layout) * microbatches_in_flight(layout, microbatches)
    if layout.recompute == "full":
        activations += layer_activations(model, Layout(tensor=layout.tensor))
    held = {
        "weights": kept * per["weight"],
        "gradients": kept * per["gradient"],
        "optimizer state": (spread / state_shards[0] + experts / state_shards[1]) * per["state"],
        "activations": activations * tokens * value_bytes,
        "logits": 0.0,
        "reserved": stack.reserved_bytes,
    }
    if layout.pipeline == 1:
        held["logits"] = tokens * model.vocabulary / layout.tensor * 2 * value_bytes
    return held


def serving_bytes(
    model: Transformer,
    layout: Layout,
    linear: Precision,
    core: Precision,
    kv: Precision,
    stack: Stack,
    sequences: float,
    tokens_each: float,
    chunk: float,
) -> dict[str, float]:
    """Bytes on one device of a serving replica, by what they hold.

    Linear weights are in the linear format, embeddings in the core format. `sequences` is what one attention rank
    holds, `tokens_each` the tokens kept of each; the cache of grouped-query attention is spread over the tensor group,
    that of latent attention is not. `chunk` tokens pass through a layer at once.
    """
    spread, experts = local_parameters(model, layout)
    embedding = (1 if layout.pipeline > 1 or model.tied_embeddings else 2) * parameters.embedding(model)
    embedding /= layout.tensor
    value_bytes = core.bits / BITS_PER_BYTE
    layers, _ = stage_layers(model.layers, layout)
    return {
        "weights": (spread - embedding + experts) * linear.bits / BITS_PER_BYTE + embedding * value_bytes,
        "KV cache": sequences * tokens_each * layers * cached_bytes(model, layout, kv),
        "activations": chunk * layer_activations(model, Layout(tensor=layout.tensor)) * value_bytes,
        "reserved": stack.reserved_bytes,
    }


def cached_bytes(model: Transformer, layout: Layout, kv: Precision) -> float:
    """Bytes of KV cache that one token takes in one layer on one device.

    Grouped-query: 2 kv_heads head_dim / tensor (at least one head); latent: kv_rank + rope_dim on every device.
    """
    attention = model.attention
    if isinstance(attention, GroupedQuery):
        values = 2 * max(1.0, attention.kv_heads / layout.tensor) * attention.head_dim
    else:
        values = float(attention.kv_rank + attention.rope_dim)
    return values * kv.bits / BITS_PER_BYTE
