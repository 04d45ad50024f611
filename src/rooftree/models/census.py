"""All counts of a transformer in one record, and what weights and caches take in bytes."""

from dataclasses import dataclass

from rooftree.facts.architectures import GroupedQuery, Latent, Transformer
from rooftree.models import parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """The weights of a transformer by kind.

    Of one layer: `attention` (with its inner norms), `norms`, `dense_mlp`, `router`, `routed_expert` (one of the routed
    experts), `shared_experts` (all shared ones together). Of the whole model: `embedding` (input table), `head` (output
    matrix, 0 when it is the same table), `total`, `active` and `prediction`, each as the function of
    `models.parameters` with that name. `total` doesn't hold `prediction`.
    """

    attention: int
    norms: int
    dense_mlp: int
    router: int
    routed_expert: int
    shared_experts: int
    dense_layers: int
    expert_layers: int
    embedding: int
    head: int
    total: int
    active: int
    prediction: int


def census(transformer: Transformer) -> Census:
    """Return all counts of a transformer at once.

    total = embedding + head + hidden + layers * (attention + norms) + dense_layers * dense_mlp
    + expert_layers * (router + routed * routed_expert + shared_experts)

    >>> counted = census(deepseek)
    >>> counted.dense_layers, counted.expert_layers, counted.routed_expert
    (3, 58, 44040192)
    """
    experts, mixed = transformer.experts, parameters.expert_layers(transformer)
    expert = parameters.expert_parameters(transformer)
    return Census(
        attention=parameters.attention_parameters(transformer),
        norms=2 * transformer.hidden,
        dense_mlp=parameters.dense_mlp_parameters(transformer),
        router=parameters.router_parameters(transformer),
        routed_expert=expert,
        shared_experts=0 if experts is None else experts.shared * expert,
        dense_layers=transformer.layers - mixed,
        expert_layers=mixed,
        embedding=parameters.embedding_parameters(transformer),
        head=parameters.head_parameters(transformer),
        total=parameters.total_parameters(transformer),
        active=parameters.active_parameters(transformer),
        prediction=parameters.prediction_parameters(transformer),
    )


def layers_parameters(transformer: Transformer) -> tuple[int, ...]:
    """Return the weights of each layer, the first one first: what pipeline stages are cut from.

    >>> layers_parameters(deepseek)[2:4]
    (583483392, 11507286016)
    """
    return tuple(parameters.layer_parameters(transformer, layer) for layer in range(transformer.layers))


def cache_elements(attention: GroupedQuery | Latent) -> int:
    """Return how many numbers one token leaves in the key-value cache of one layer.

    grouped-query: 2 * kv_heads * head_dim; latent: kv_rank + rope_dim

    >>> cache_elements(llama.attention), cache_elements(deepseek.attention)
    (2048, 576)
    """
    if isinstance(attention, GroupedQuery):
        return 2 * attention.kv_heads * attention.head_dim
    return attention.kv_rank + attention.rope_dim


def cache_bytes(transformer: Transformer, tokens: float, bits: float) -> float:
    """Return the key-value cache of `tokens` tokens in all layers of the model.

    layers * elements * tokens * bits / 8

    `bits` is what an element takes with its scales (NVFP4: 4.5). Layers for further tokens are not counted.

    >>> cache_bytes(llama, 1, 16), cache_bytes(deepseek, 1, 16)
    (131072.0, 70272.0)
    """
    return transformer.layers * cache_elements(transformer.attention) * tokens * bits / 8


def parameter_bytes(count: float, bits: float) -> float:
    """Return what `count` weights take: count * bits / 8, `bits` with their scales (NVFP4: 4.5).

    >>> parameter_bytes(8_030_261_248, 16)
    16060522496.0
    """
    return count * bits / 8
