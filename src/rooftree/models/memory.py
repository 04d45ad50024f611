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
    layers, _ = stage_layers(model.layers, layout)
    routed_layers = 0 if model.experts is None else min(layers, model.layers - model.dense_layers)
    routed = 0 if model.experts is None else model.experts.routed
    experts = routed * parameters.expert_parameters(model)
    dense_layers = layers - routed_layers
    spread = float(dense_layers * parameters.layer_parameters(model, 0)) if dense_layers else 0.0
    spread += routed_layers * (parameters.layer_parameters(model, model.layers - 1) - experts)
    return (spread + end_parameters(model, layout)) / layout.tensor, routed_layers * experts / layout.expert


def end_parameters(model: Transformer, layout: Layout) -> float:
    """Parameters of the embedding on the first stage, and of the output matrix too where one stage holds both."""
    head = parameters.head_parameters(model) if layout.pipeline == 1 else 0
    return float(parameters.embedding_parameters(model) + head)


def attention_values(attention: GroupedQuery | Latent) -> tuple[float, float]:
    """Values of one token that attention keeps for the backward pass: those around its core, and its output."""
    if isinstance(attention, GroupedQuery):
        return float(
            (attention.heads + 2 * attention.kv_heads) * attention.head_dim
        ), attention.heads * attention.head_dim
    head = 2 * (attention.nope_dim + attention.rope_dim) + attention.value_dim
    compressed = attention.query_rank + attention.kv_rank + attention.rope_dim
    return float(compressed + attention.heads * head), attention.heads * attention.value_dim


def layer_activations(model: Transformer, layout: Layout) -> tuple[float, float]:
    """Values that one layer keeps for one token of a microbatch on one device: in the core and in the linear format.

    In the core format: the inputs of two norms, what attention keeps, and the outputs of the MLP's first product; in
    the linear format, as matrix products save their inputs: the outputs of the norms, of attention, and of the
    activation function. All are spread over the tensor group (sequence parallelism). `selective` drops what
    element-wise kernels can rebuild: the norms' outputs and the activation function's; `full` keeps the layer's input
    alone.

    Source: counted as in Korthikanti et al. 2022, arXiv 2205.05198, section 4, for fused attention and gated MLPs.
    """
    if layout.recompute == "full":
        return model.hidden / layout.tensor, 0.0
    rebuilt = layout.recompute == "selective"
    inner = 2 if model.gated else 1
    core, linear = attention_values(model.attention)
    core += 2 * model.hidden
    linear += 0.0 if rebuilt else 2 * model.hidden
    if model.experts is None:
        width = float(model.mlp_width)
    else:
        width = float((model.experts.active + model.experts.shared) * model.experts.width)
        core += model.experts.active * model.hidden
    core += inner * width
    linear += 0.0 if rebuilt else width
    return core / layout.tensor, linear / layout.tensor


def activation_bytes(model: Transformer, layout: Layout, linear: Precision, core: Precision) -> float:
    """Bytes that one layer keeps for one token: core values x core bytes + linear values x linear bytes."""
    core_values, linear_values = layer_activations(model, layout)
    return (core_values * core.bits + linear_values * linear.bits) / BITS_PER_BYTE


def training_bytes(
    model: Transformer, layout: Layout, workload: Training, stack: Stack, linear: Precision, core: Precision
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
    each_bytes = activation_bytes(model, layout, linear, core)
    kept_bytes = layers * each_bytes * microbatches_in_flight(layout, microbatches)
    if layout.recompute == "full":
        kept_bytes += activation_bytes(model, Layout(tensor=layout.tensor), linear, core)
    held = {
        "weights": kept * per["weight"],
        "gradients": kept * per["gradient"],
        "optimizer state": (spread / state_shards[0] + experts / state_shards[1]) * per["state"],
        "activations": kept_bytes * tokens,
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
    embedding = end_parameters(model, layout) / layout.tensor
    value_bytes = core.bits / BITS_PER_BYTE
    layers, _ = stage_layers(model.layers, layout)
    return {
        "weights": (spread - embedding + experts) * linear.bits / BITS_PER_BYTE + embedding * value_bytes,
        "KV cache": sequences * tokens_each * layers * cached_bytes(model, layout, kv),
        "activations": chunk * activation_bytes(model, Layout(tensor=layout.tensor), linear, core),
        "reserved": stack.reserved_bytes,
    }


def cache_elements(attention: GroupedQuery | Latent, tensor: int = 1) -> float:
    """Numbers that one token leaves in the KV cache of one layer on each of `tensor` devices.

    Grouped-query: 2 kv_heads head_dim / tensor (at least one head); latent: kv_rank + rope_dim on every device.

    >>> cache_elements(llama.attention), cache_elements(llama.attention, 16), cache_elements(deepseek.attention, 8)
    (2048.0, 256.0, 576.0)
    """
    if isinstance(attention, GroupedQuery):
        return 2 * max(1.0, attention.kv_heads / tensor) * attention.head_dim
    return float(attention.kv_rank + attention.rope_dim)


def cached_bytes(model: Transformer, layout: Layout, kv: Precision) -> float:
    """Bytes of KV cache that one token takes in one layer on one device: its elements in the cache's format."""
    return cache_elements(model.attention, layout.tensor) * kv.bits / BITS_PER_BYTE
