"""How many weights a transformer has, which of them a token uses, and which layer holds them.

Counts are exact integers. Not counted, as the shape doesn't say whether a model has them: biases of linear layers,
norms of queries and keys, the routers' correction biases; together under 0.1 % of any published model that is read.
In the examples `llama` is Llama 3.1 8B and `deepseek` DeepSeek-V3.
"""

from rooftree.facts.architectures import GroupedQuery, Transformer


def attention_parameters(transformer: Transformer) -> int:
    """Return the weights of one layer's attention: its matrices and the norms inside it.

    grouped-query: hidden * head_dim * (2 heads + 2 kv_heads)
    latent: queries + hidden * (kv_rank + rope) + kv_rank * heads * (nope + value) + heads * value * hidden + norms
    queries = query_rank * (hidden + heads * (nope + rope)), or hidden * heads * (nope + rope) with query_rank = 0
    norms = query_rank + kv_rank

    Source: Ainslie et al. 2023 (arXiv 2305.13245); DeepSeek-V2 (arXiv 2405.04434), section 2.1.

    >>> attention_parameters(llama), attention_parameters(deepseek)
    (41943040, 187107328)
    """
    hidden, attention = transformer.hidden, transformer.attention
    if isinstance(attention, GroupedQuery):
        return hidden * attention.head_dim * (2 * attention.heads + 2 * attention.kv_heads)
    query_dim = attention.heads * (attention.nope_dim + attention.rope_dim)
    queries = attention.query_rank * (hidden + query_dim) if attention.query_rank else hidden * query_dim
    down = hidden * (attention.kv_rank + attention.rope_dim)
    up = attention.kv_rank * attention.heads * (attention.nope_dim + attention.value_dim)
    out = attention.heads * attention.value_dim * hidden
    norms = attention.query_rank + attention.kv_rank
    return queries + down + up + out + norms


def mlp_parameters(hidden: int, width: int, *, gated: bool) -> int:
    """Return the weights of one MLP, a dense layer's or an expert.

    3 * hidden * width when gated (gate, up, down), else 2 * hidden * width

    >>> mlp_parameters(4096, 14336, gated=True)
    176160768
    """
    return (3 if gated else 2) * hidden * width


def dense_mlp_parameters(transformer: Transformer) -> int:
    """Return the weights of the MLP of one dense layer; see `mlp_parameters`.

    >>> dense_mlp_parameters(llama)
    176160768
    """
    return mlp_parameters(transformer.hidden, transformer.mlp_width, gated=transformer.gated)


def expert_parameters(transformer: Transformer) -> int:
    """Return the weights of one expert, routed or shared; 0 for a model without experts.

    >>> expert_parameters(deepseek), expert_parameters(llama)
    (44040192, 0)
    """
    experts = transformer.experts
    return 0 if experts is None else mlp_parameters(transformer.hidden, experts.width, gated=transformer.gated)


def router_parameters(transformer: Transformer) -> int:
    """Return the weights of one layer's router: hidden * routed; 0 for a model without experts.

    >>> router_parameters(deepseek)
    1835008
    """
    return 0 if transformer.experts is None else transformer.hidden * transformer.experts.routed


def has_experts(transformer: Transformer, layer: int) -> bool:
    """Return whether a layer, counted from 0, has experts and no dense MLP.

    >>> [has_experts(deepseek, layer) for layer in (0, 2, 3, 60)]
    [False, False, True, True]
    """
    return transformer.experts is not None and layer >= transformer.dense_layers


def expert_layers(transformer: Transformer) -> int:
    """Return the number of layers with experts: layers - dense_layers, 0 for a model without experts.

    >>> expert_layers(deepseek), expert_layers(llama)
    (58, 0)
    """
    return 0 if transformer.experts is None else transformer.layers - transformer.dense_layers


def layer_parameters(transformer: Transformer, layer: int) -> int:
    """Return the weights of one layer, counted from 0.

    attention + 2 hidden (norms) + dense MLP, or + router + (routed + shared) experts in a layer with experts

    >>> layer_parameters(llama, 0), layer_parameters(deepseek, 0), layer_parameters(deepseek, 60)
    (218112000, 583483392, 11507286016)
    """
    experts = transformer.experts
    common = attention_parameters(transformer) + 2 * transformer.hidden
    if experts is None or not has_experts(transformer, layer):
        return common + dense_mlp_parameters(transformer)
    used = (experts.routed + experts.shared) * expert_parameters(transformer)
    return common + router_parameters(transformer) + used


def embedding_parameters(transformer: Transformer) -> int:
    """Return the weights of the input embedding: vocabulary * hidden.

    >>> embedding_parameters(llama)
    525336576
    """
    return transformer.vocabulary * transformer.hidden


def head_parameters(transformer: Transformer) -> int:
    """Return the weights that the output head adds: vocabulary * hidden, or 0 when it is the embedding's own table.

    >>> head_parameters(llama)
    525336576
    """
    return 0 if transformer.tied_embeddings else embedding_parameters(transformer)


def total_parameters(transformer: Transformer) -> int:
    """Return the weights of the whole model, without the layers that predict further tokens.

    embedding + head + hidden (final norm) + sum of layers

    >>> total_parameters(llama), total_parameters(deepseek)
    (8030261248, 671026404352)
    """
    ends = embedding_parameters(transformer) + head_parameters(transformer) + transformer.hidden
    mixed = expert_layers(transformer)
    dense = (transformer.layers - mixed) * layer_parameters(transformer, 0) if mixed < transformer.layers else 0
    return ends + dense + mixed * layer_parameters(transformer, transformer.layers - 1)


def active_parameters(transformer: Transformer) -> int:
    """Return the weights that one token passes: a forward pass takes 2 operations for each.

    total - (routed - active) * expert in each layer with experts - embedding (unless it is the head too)

    The embedding is left out because a token looks up one row of it; the head counts in full. Norms are counted, which
    is under 0.01 %. Scores and values of attention over earlier tokens are not weights and come on top. This is also
    what DeepSeek-AI publishes as 37B (in more detail 36.7B) for DeepSeek-V3; with the embedding it would be 37.6B.

    >>> active_parameters(deepseek), active_parameters(llama)
    (36625603584, 7504924672)
    """
    experts = transformer.experts
    idle = 0 if experts is None else (experts.routed - experts.active) * expert_parameters(transformer)
    return total_parameters(transformer) - head_parameters(transformer) - idle * expert_layers(transformer)


def prediction_parameters(transformer: Transformer) -> int:
    """Return the weights that the layers for further tokens (MTP) add to the whole model.

    prediction_layers * (a last layer + 2 hidden * hidden (projection) + 3 hidden (norms))

    They use the model's own embedding and head; files on disk often hold copies of both.
    Source: DeepSeek-V3 (arXiv 2412.19437), section 2.2.

    >>> prediction_parameters(deepseek), prediction_parameters(llama)
    (11610067968, 0)
    """
    hidden = transformer.hidden
    extra = layer_parameters(transformer, transformer.layers - 1) + 2 * hidden * hidden + 3 * hidden
    return transformer.prediction_layers * extra
