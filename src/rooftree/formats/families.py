"""Which families of Hugging Face configurations are read, and what each of their keys means.

A key is read, harmless (it changes neither weights nor shapes), refused when it is set, or unknown; a reader notes
the unknown ones, so that nothing is passed over in silence.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

_SIZES = {
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "mlp_width": "intermediate_size",
    "heads": "num_attention_heads",
    "vocabulary": "vocab_size",
    "maximum_tokens": "max_position_embeddings",
}
_GROUPED = _SIZES | {"kv_heads": "num_key_value_heads", "head_dim": "head_dim"}
_LATENT = _SIZES | {
    "query_rank": "q_lora_rank",
    "kv_rank": "kv_lora_rank",
    "nope_dim": "qk_nope_head_dim",
    "rope_dim": "qk_rope_head_dim",
    "value_dim": "v_head_dim",
    "routed": "n_routed_experts",
    "active": "num_experts_per_tok",
    "shared": "n_shared_experts",
    "width": "moe_intermediate_size",
    "dense_layers": "first_k_dense_replace",
    "prediction_layers": "num_nextn_predict_layers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How the files of one `model_type` are read.

    `keys` maps a field of the shape to its key. A field in `absent` takes that value when its key is missing or null,
    one in `null` when it is null, and one in `derived` follows from others when it is missing or null. `window` is the
    sliding window when the key is missing, and `windowed` says whether a window is used when `use_sliding_window` is
    missing. `note` names weights that every model of the family has and the shape does not. `stem` begins the names
    of the family's classes.
    """

    stem: str
    keys: Mapping[str, str]
    absent: Mapping[str, int] = field(default_factory=dict)
    null: Mapping[str, int] = field(default_factory=dict)
    derived: tuple[str, ...] = ()
    window: int | None = None
    windowed: bool = True
    note: str = ""


_DEEPSEEK = Family(
    stem="DeepseekV3", keys=_LATENT, absent={"prediction_layers": 0}, null={"query_rank": 0, "shared": 0}
)

_MISTRAL_WINDOW = 4096  # pure: tokens, the default of the class

FAMILIES: Mapping[str, Family] = {
    "llama": Family(stem="Llama", keys=_GROUPED, derived=("kv_heads", "head_dim")),
    "mistral": Family(stem="Mistral", keys=_GROUPED, derived=("head_dim",), window=_MISTRAL_WINDOW),
    "qwen2": Family(
        stem="Qwen2",
        keys=_GROUPED,
        derived=("head_dim",),
        windowed=False,
        note="query, key and value biases: not counted (under 0.1 % of the weights)",
    ),
    "qwen3": Family(
        stem="Qwen3",
        keys=_GROUPED,
        absent={"head_dim": 128},
        windowed=False,
        note="query and key norms: not counted (two head_dim a layer)",
    ),
    "deepseek_v2": Family(
        stem="DeepseekV2", keys=_LATENT, absent={"prediction_layers": 0}, null={"query_rank": 0, "shared": 0}
    ),
    "deepseek_v3": _DEEPSEEK,
    "kimi_k2": _DEEPSEEK,
}
"""model_type → how it is read. Defaults are those of the configuration classes of Transformers."""

REFUSED: Mapping[str, str] = {
    "text_config": "models of several modalities are not read; give the text model's own file",
    "vision_config": "vision towers are not modelled; remove it to ask about the text model alone",
    "audio_config": "audio towers are not modelled; remove it to ask about the text model alone",
    "is_encoder_decoder": "only decoders are modelled",
    "add_cross_attention": "cross attention is not modelled",
    "cross_attention_layers": "cross attention is not modelled",
    "num_local_experts": "experts of this family are not modelled",
    "num_experts": "experts of this family are not modelled",
    "n_routed_experts": "experts are read in DeepSeek's families only; check model_type",
    "moe_intermediate_size": "experts are read in DeepSeek's families only; check model_type",
    "kv_lora_rank": "latent attention is read in DeepSeek's families only; check model_type",
    "index_topk": "sparse attention with an indexer is not modelled",
    "index_n_heads": "sparse attention with an indexer is not modelled",
    "attention_chunk_size": "chunked attention is not modelled",
    "interleave_moe_layer_step": "alternating dense and expert layers are not modelled",
    "block_configs": "layers that differ one by one are not modelled",
    "layers_block_type": "hybrid layers are not modelled",
    "hybrid_override_pattern": "hybrid layers are not modelled",
    "attn_type_list": "linear attention is not modelled",
    "num_kv_shared_layers": "layers that share keys and values are not modelled",
    "draft_vocab_size": "draft models are not modelled",
    "pruned_heads": "layers that differ one by one are not modelled",
}
"""Key → why a file that sets it is refused (null, false, 0 and empty don't set it)."""

REFUSED_PREFIXES: Mapping[str, str] = {
    "mamba_": "Mamba layers are not modelled",
    "ssm_": "Mamba layers are not modelled",
    "linear_": "linear attention is not modelled",
}
"""Beginning of a key → why a file that sets it is refused."""

_HANDLED = """
    model_type architectures tie_word_embeddings sliding_window use_sliding_window layer_types moe_layer_freq
    attention_bias mlp_bias quantization_config
"""
_HARMLESS = """
    _attn_implementation _name_or_path attention_dropout auto_map aux_loss_alpha bos_token_id dtype embd_pdrop
    eos_token_id ep_size head_dim hidden_act hidden_dropout id2label initializer_range label2id max_length
    max_window_layers n_group norm_topk_prob num_key_value_heads pad_token_id partial_rotary_factor pretraining_tp
    problem_type qk_head_dim resid_pdrop rms_norm_eps rope_interleave rope_parameters rope_scaling rope_theta
    routed_scaling_factor router_aux_loss_coef scoring_func seq_aux topk_group topk_method torch_dtype
    transformers_version unsloth_version use_cache
"""

KNOWN = frozenset((_HANDLED + _HARMLESS).split())
"""Keys that are judged one by one in `oddities`, and those that change neither weights nor shapes."""
