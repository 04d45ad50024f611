"""What a transformer is: shapes, no arithmetic. Counting parameters is `models.parameters`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedQuery:
    """Attention with `kv_heads` key and value heads shared by `heads` query heads (all equal: multi-head)."""

    heads: int
    kv_heads: int
    head_dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Latent:
    """Multi-head latent attention: keys and values are kept as one compressed vector and one rotary key a token.

    `query_rank` is the width that queries are compressed to; 0 when they are not.
    """

    heads: int
    query_rank: int
    kv_rank: int
    nope_dim: int
    rope_dim: int
    value_dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """A mixture-of-experts MLP: a token takes `active` of `routed` experts and all `shared` ones, each `width` wide."""

    routed: int
    active: int
    shared: int
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformer:
    """A decoder-only transformer.

    The first `dense_layers` layers have a dense MLP of `mlp_width`, the others the experts; without experts all layers
    are dense. `gated` MLPs have three matrices, others two. `prediction_layers` are extra layers that predict further
    tokens (MTP). `source` and `where` say where the shape is published; `notes` what was left out.
    """

    name: str
    title: str
    layers: int
    hidden: int
    mlp_width: int
    gated: bool
    attention: GroupedQuery | Latent
    experts: Experts | None
    dense_layers: int
    vocabulary: int
    tied_embeddings: bool
    prediction_layers: int
    maximum_tokens: int
    source: str
    where: str
    notes: tuple[str, ...] = ()
