from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooftree.facts.architecture_files import find_architecture
from rooftree.facts.architectures import Experts, GroupedQuery, Latent, Transformer
from rooftree.formats.huggingface import read_config
from rooftree.models import parameters
from rooftree.models.memory import cache_elements

CATALOGUE = Path(__file__).resolve().parents[2] / "catalogue"

TINY = Transformer(
    name="tiny",
    title="Tiny",
    layers=3,
    hidden=10,
    mlp_width=20,
    gated=True,
    attention=GroupedQuery(heads=4, kv_heads=2, head_dim=5),
    experts=None,
    dense_layers=3,
    vocabulary=100,
    tied_embeddings=False,
    prediction_layers=0,
    maximum_tokens=16,
    source="TEST",
    where="here",
)
MIXED = replace(
    TINY,
    attention=Latent(heads=4, query_rank=6, kv_rank=3, nope_dim=2, rope_dim=1, value_dim=5),
    experts=Experts(routed=8, active=2, shared=1, width=7),
    dense_layers=1,
    prediction_layers=1,
)

shapes = st.builds(
    replace,
    st.sampled_from([TINY, MIXED]),
    layers=st.integers(2, 20),
    hidden=st.integers(1, 64),
    vocabulary=st.integers(1, 500),
    dense_layers=st.integers(0, 2),
    gated=st.booleans(),
    tied_embeddings=st.booleans(),
).map(lambda shape: shape if shape.experts else replace(shape, dense_layers=shape.layers))

# name, count, billions with the published digits, where they are published
PUBLISHED = [
    ("llama-3.1-8b", "total", "8.03", "Hugging Face, meta-llama/Llama-3.1-8B: model size of the safetensors files"),
    ("llama-3.1-70b", "total", "70.55", "Hugging Face, meta-llama/Llama-3.1-70B: size of the safetensors files / 2 B"),
    (
        "llama-3.1-405b",
        "total",
        "405.85",
        "Hugging Face, meta-llama/Llama-3.1-405B: size of the safetensors files / 2 B",
    ),
    ("deepseek-v3", "total", "671", "DeepSeek-V3, arXiv 2412.19437, abstract"),
    ("deepseek-v3", "active", "37", "DeepSeek-V3, arXiv 2412.19437, abstract"),
    ("deepseek-v3", "active", "36.7", "deepseek-ai/DeepSeek-V3, README_WEIGHTS.md"),
    (
        "deepseek-v3",
        "prediction",
        "11.5",
        "deepseek-ai/DeepSeek-V3, README_WEIGHTS.md: unique parameters of the MTP module",
    ),
    ("deepseek-r1", "total", "671", "DeepSeek-R1 README, table of models"),
    ("deepseek-r1", "active", "37", "DeepSeek-R1 README, table of models"),
]


@pytest.mark.parametrize(("name", "kind", "published", "where"), PUBLISHED)
def test_counts_are_the_published_ones_within_a_percent_or_the_last_digit(name, kind, published, where):
    count = getattr(parameters, f"{kind}_parameters")
    counted = count(find_architecture(name, [CATALOGUE])) / 1e9
    last_digit = 10.0 ** -len(published.partition(".")[2])
    assert abs(counted - float(published)) <= max(0.01 * float(published), last_digit / 2), where


def test_deepseek_on_disk_holds_the_prediction_layer_with_copies_of_both_tables():
    shape = find_architecture("deepseek-v3", [CATALOGUE])
    ends = parameters.embedding_parameters(shape) + parameters.head_parameters(shape)
    on_disk = parameters.total_parameters(shape) + parameters.prediction_parameters(shape) + ends
    assert on_disk == pytest.approx(685e9, rel=0.002)  # deepseek-ai/DeepSeek-V3 README: "685B on Hugging Face"


@pytest.mark.parametrize(
    ("sample", "billions"),
    [
        ("inferencesim--llama-2-7b-hf", 6.74),  # Hugging Face, meta-llama/Llama-2-7b-hf: model size
        ("inferencesim--codellama-34b-instruct-hf", 33.7),  # Hugging Face, codellama: model size
        ("inferencesim--yi-34b", 34.4),  # Hugging Face, 01-ai/Yi-34B: model size
        ("inferencesim--mistral-nemo-instruct-2407", 12.2),  # Hugging Face, mistralai: model size
        ("inferencesim--deepseek-v2-lite", 15.7),  # arXiv 2405.04434, appendix B
        ("Qwen--Qwen3-8B", 8.2),  # Qwen3-8B model card
        ("Qwen--Qwen3-32B", 32.8),  # Qwen3-32B model card
        ("moonshotai--Kimi-K2-Instruct", 1026),  # Hugging Face, moonshotai/Kimi-K2-Instruct: 1T, size of the files
    ],
)
def test_other_published_models_count_right(shared, sample, billions):
    shape = read_config(shared / "samples" / "hf_config" / f"{sample}_config.json")
    assert parameters.total_parameters(shape) == pytest.approx(billions * 1e9, rel=0.005)


def test_grouped_query_attention_is_counted_matrix_by_matrix():
    query, key, value, output = 10 * 20, 10 * 10, 10 * 10, 20 * 10
    assert parameters.attention_parameters(TINY) == query + key + value + output


def test_latent_attention_is_counted_matrix_by_matrix():
    queries = 10 * 6 + 6 + 6 * 4 * 3
    keys = 10 * (3 + 1) + 3 + 3 * 4 * (2 + 5)
    assert parameters.attention_parameters(MIXED) == queries + keys + 4 * 5 * 10
    plain = replace(MIXED, attention=replace(MIXED.attention, query_rank=0))
    assert parameters.attention_parameters(plain) == 10 * 4 * 3 + keys + 4 * 5 * 10


def test_layers_are_counted_by_kind():
    attention = parameters.attention_parameters(MIXED)
    expert = 3 * 10 * 7
    dense, mixed = attention + 20 + 3 * 10 * 20, attention + 20 + 10 * 8 + 9 * expert
    assert [parameters.layer_parameters(MIXED, layer) for layer in range(3)] == [dense, mixed, mixed]
    assert parameters.total_parameters(MIXED) == 2 * 1000 + 10 + dense + 2 * mixed
    assert parameters.active_parameters(MIXED) == 1000 + 10 + dense + 2 * (mixed - 6 * expert)
    assert parameters.prediction_parameters(MIXED) == mixed + 2 * 10 * 10 + 3 * 10


def test_an_ungated_mlp_has_two_matrices():
    assert parameters.dense_mlp_parameters(replace(TINY, gated=False)) == 2 * 10 * 20


def test_the_cache_holds_keys_and_values_or_the_compressed_vector():
    assert cache_elements(TINY.attention) == 2 * 2 * 5
    assert cache_elements(MIXED.attention) == 3 + 1
    assert cache_elements(TINY.attention, 2) == 2 * 1 * 5
    assert cache_elements(TINY.attention, 4) == 2 * 1 * 5  # a device holds one head at least
    assert cache_elements(MIXED.attention, 4) == 3 + 1


@given(shapes)
def test_the_total_is_the_sum_of_its_parts(shape):
    expert_layers = parameters.expert_layers(shape)
    mixture = 0
    if shape.experts:
        experts = (shape.experts.routed + shape.experts.shared) * parameters.expert_parameters(shape)
        mixture = expert_layers * (parameters.router_parameters(shape) + experts)
    attention = parameters.attention_parameters(shape) + 2 * shape.hidden
    dense = (shape.layers - expert_layers) * parameters.dense_mlp_parameters(shape)
    layers = shape.layers * attention + dense + mixture
    ends = parameters.embedding_parameters(shape) + parameters.head_parameters(shape) + shape.hidden
    assert parameters.total_parameters(shape) == ends + layers
    assert sum(parameters.layer_parameters(shape, layer) for layer in range(shape.layers)) == layers


@given(shapes)
def test_a_token_passes_at_most_the_total(shape):
    assert 0 < parameters.active_parameters(shape) <= parameters.total_parameters(shape)


@given(shapes)
def test_tying_the_embedding_saves_one_table_and_changes_no_work(shape):
    tied, untied = replace(shape, tied_embeddings=True), replace(shape, tied_embeddings=False)
    saved = parameters.total_parameters(untied) - parameters.total_parameters(tied)
    assert saved == parameters.embedding_parameters(shape)
    assert parameters.active_parameters(untied) == parameters.active_parameters(tied)


@given(st.integers(1, 8))
def test_using_all_experts_leaves_only_the_embedding_inactive(active):
    shape = replace(MIXED, experts=replace(MIXED.experts, active=active))
    idle = parameters.total_parameters(shape) - parameters.active_parameters(shape)
    assert idle == 1000 + 2 * (8 - active) * 3 * 10 * 7
