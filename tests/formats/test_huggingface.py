import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooftree.errors import FormatError, NotModelled, RooftreeError
from rooftree.facts.architectures import Experts, GroupedQuery, Latent
from rooftree.formats.huggingface import read_config

DENSE = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 512,
    "intermediate_size": 1408,
    "num_hidden_layers": 6,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "max_position_embeddings": 2048,
    "rope_theta": 500000.0,
}
EXPERTS = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "hidden_size": 512,
    "intermediate_size": 1408,
    "num_hidden_layers": 6,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "vocab_size": 1000,
    "max_position_embeddings": 2048,
    "first_k_dense_replace": 1,
    "kv_lora_rank": 64,
    "q_lora_rank": 96,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 32,
    "moe_intermediate_size": 256,
    "moe_layer_freq": 1,
    "n_routed_experts": 16,
    "n_shared_experts": 1,
    "num_experts_per_tok": 4,
    "num_nextn_predict_layers": 1,
}


def attempt(read, what):
    """What is read, or our own error; any other error is a failure."""
    try:
        return read(what)
    except RooftreeError as error:
        return error


def text(base, **changes):
    """The base as JSON with some keys changed; `...` removes one."""
    return json.dumps({key: value for key, value in {**base, **changes}.items() if value is not ...})


def faults(base, **changes):
    with pytest.raises(FormatError) as caught:
        read_config(text(base, **changes))
    return caught.value.faults


def refusals(base, **changes):
    with pytest.raises(NotModelled) as caught:
        read_config(text(base, **changes))
    return caught.value.faults


def test_a_dense_file_gives_its_shape():
    shape = read_config(text(DENSE))
    assert shape.attention == GroupedQuery(heads=8, kv_heads=2, head_dim=64)
    assert (shape.layers, shape.hidden, shape.mlp_width, shape.vocabulary) == (6, 512, 1408, 1000)
    assert (shape.experts, shape.dense_layers, shape.gated, shape.tied_embeddings) == (None, 6, True, False)
    assert shape.maximum_tokens == 2048
    assert shape.notes == ()


def test_a_file_with_experts_gives_its_shape():
    shape = read_config(text(EXPERTS))
    assert shape.attention == Latent(heads=8, query_rank=96, kv_rank=64, nope_dim=32, rope_dim=16, value_dim=32)
    assert shape.experts == Experts(routed=16, active=4, shared=1, width=256)
    assert (shape.dense_layers, shape.prediction_layers) == (1, 1)


def test_head_dim_of_the_file_wins_over_the_quotient():
    assert read_config(text(DENSE, head_dim=128)).attention.head_dim == 128
    assert read_config(text(DENSE, head_dim=None)).attention.head_dim == 64


def test_without_key_heads_a_llama_is_multi_head_and_a_mistral_is_wrong():
    assert read_config(text(DENSE, num_key_value_heads=...)).attention.kv_heads == 8
    mistral = DENSE | {"model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": None}
    assert faults(mistral, num_key_value_heads=...) == ("text: num_key_value_heads: is missing; add it",)


def test_absent_or_null_keys_follow_the_published_classes():
    assert read_config(text(EXPERTS, num_nextn_predict_layers=...)).prediction_layers == 0
    assert read_config(text(EXPERTS, q_lora_rank=None)).attention.query_rank == 0
    assert read_config(text(EXPERTS, n_shared_experts=None)).experts.shared == 0
    assert read_config(text(DENSE, tie_word_embeddings=True)).tied_embeddings


def test_the_name_is_the_files_or_its_folders(tmp_path):
    (tmp_path / "acme--tiny_config.json").write_text(text(DENSE))
    (tmp_path / "tiny-2").mkdir()
    (tmp_path / "tiny-2" / "config.json").write_bytes(b"\xef\xbb\xbf" + text(DENSE).encode())
    assert read_config(tmp_path / "acme--tiny_config.json").name == "acme--tiny"
    assert read_config(str(tmp_path / "tiny-2" / "config.json")).name == "tiny-2"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"num_hidden_layers": 10**9}, "num_hidden_layers = 1000000000: is more than 10,000, the most that is read"),
        ({"hidden_size": float("nan")}, "hidden_size = NaN: is not JSON"),
        ({"rope_theta": float("inf")}, "rope_theta = Infinity: is not JSON"),
        ({"hidden_size": "512"}, 'hidden_size = "512": is text; write an integer without quotes'),
        ({"hidden_size": True}, "hidden_size = true: is a truth value; write an integer"),
        ({"hidden_size": 512.0}, "hidden_size = 512.0: is not an integer"),
        ({"hidden_size": None}, "hidden_size = null: is null"),
        ({"hidden_size": [512]}, "hidden_size = a list of 1: is a list"),
        ({"hidden_size": -512}, "hidden_size = -512: is less than 1"),
        ({"num_attention_heads": 0}, "num_attention_heads = 0: is less than 1"),
        ({"hidden_size": ..., "hiden_size": 512}, "hidden_size: is missing; is it meant by 'hiden_size'?"),
        ({"num_key_value_heads": 3}, "num_key_value_heads = 3: does not divide num_attention_heads = 8; try 2"),
        ({"hidden_size": 500}, "num_attention_heads = 8: does not divide hidden_size = 500"),
        ({"tie_word_embeddings": "no"}, 'tie_word_embeddings = "no": is not a truth value'),
        ({"sliding_window": "4k"}, 'sliding_window = "4k": is text'),
        ({"layer_types": ["full_attention"]}, "layer_types = a list of 1: is not one entry for each layer"),
        ({"model_type": ...}, 'model_type: is missing (architectures = "LlamaForCausalLM"); write one of'),
        ({"model_type": 7}, "model_type = 7: is not a name"),
    ],
)
def test_a_wrong_value_is_named_with_key_value_why_and_what_to_do(change, line):
    assert any(fault.startswith(f"text: {line}") and ";" in fault for fault in faults(DENSE, **change))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"num_experts_per_tok": 17}, "num_experts_per_tok = 17: is more than n_routed_experts = 16; write at most 16"),
        ({"first_k_dense_replace": 7}, "first_k_dense_replace = 7: is more than num_hidden_layers = 6"),
        ({"n_routed_experts": 0}, "n_routed_experts = 0: is less than 1"),
        ({"kv_lora_rank": ...}, "kv_lora_rank: is missing; add it"),
    ],
)
def test_experts_that_do_not_fit_together_are_named(change, line):
    assert any(fault.startswith(f"text: {line}") for fault in faults(EXPERTS, **change))


def test_all_faults_are_raised_at_once_and_refusals_with_them():
    lines = faults(DENSE, hidden_size="x", num_hidden_layers=-1, vocab_size=..., sliding_window=64)
    assert [line.split(" ")[1].strip(":") for line in lines] == [
        "num_hidden_layers",
        "hidden_size",
        "vocab_size",
        "sliding_window",
    ]


def test_a_key_that_stands_twice_is_a_fault():
    twice = text(DENSE)[:-1] + ', "hidden_size": 1024}'
    with pytest.raises(FormatError, match="hidden_size = 512 and 1024: the key stands twice; keep one"):
        read_config(twice)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (text(DENSE)[:-20].encode(), "ends in the middle"),
        (b'{"a": 1,, }', "line 1 column 9: is not JSON"),
        (b"[1, 2]", "is a list of 2; give one JSON object"),
        (b"null", "is null; give one JSON object"),
        (b'"text"', 'is "text"; give one JSON object'),
        (b"\xff\xfe{\x00}\x00", "byte 0 is not UTF-8"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a":' * 100_000, "is nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "thousands of digits"),
        (b" " * 5_000_000, "has more than 4,194,304 bytes"),
        (b"\x1f\x8b\x08\x00", "is not UTF-8"),
    ],
)
def test_a_file_that_is_not_a_configuration_gives_one_line(tmp_path, content, why):
    path = tmp_path / "config.json"
    path.write_bytes(content)
    start = time.perf_counter()
    with pytest.raises(FormatError) as caught:
        read_config(path)
    assert why in caught.value.faults[0]
    assert len(caught.value.faults) == 1
    assert caught.value.faults[0].startswith(f"{path}: ")
    assert time.perf_counter() - start < 1


def test_what_is_not_a_file_gives_one_line(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for path, why in [
        (tmp_path, "is a folder"),
        (tmp_path / "none.json", "no such file"),
        (tmp_path / "pipe.json", "is a device or a pipe"),
        (f"{tmp_path}/a\0b", "cannot be opened"),
        ("x" * 5000, "cannot be opened"),
        (Path("/dev/zero"), "is a device or a pipe"),
    ]:
        with pytest.raises(FormatError, match=why) as caught:
            read_config(path)
        assert len(str(caught.value)) < 500


def test_a_text_that_is_too_large_is_not_parsed():
    with pytest.raises(FormatError, match="text: has more than 4,194,304 characters"):
        read_config("{" + " " * 5_000_000)


def test_a_hundred_thousand_faults_are_cut_short_and_quick():
    pairs = ", ".join(f'"k{n}": 1, "k{n}": 2' for n in range(100_000))
    start = time.perf_counter()
    with pytest.raises(FormatError) as caught:
        read_config(text(DENSE, hidden_size=...)[:-1] + ", " + pairs + "}")
    assert time.perf_counter() - start < 1
    assert len(caught.value.faults) == 21
    assert "there are more faults" in caught.value.faults[-1]


def test_control_characters_of_a_file_do_not_reach_the_terminal():
    with pytest.raises(NotModelled) as caught:
        read_config(text(DENSE, model_type="\x1b[2J\n" * 100))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("base", "change", "line"),
    [
        (DENSE, {"model_type": "mamba2"}, 'model_type = "mamba2": is not modelled; choose a model of deepseek_v2'),
        (DENSE, {"sliding_window": 1024}, "sliding_window = 1024: is not modelled"),
        (
            DENSE,
            {"layer_types": ["full_attention"] * 5 + ["linear_attention"]},
            'layer_types = "linear_attention": only',
        ),
        (DENSE, {"num_local_experts": 8}, "num_local_experts = 8: experts of this family"),
        (DENSE, {"vision_config": {"a": 1}}, "vision_config = an object of 1: vision towers"),
        (DENSE, {"mamba_d_state": 16}, "mamba_d_state = 16: Mamba layers"),
        (DENSE, {"kv_lora_rank": 512}, "kv_lora_rank = 512: latent attention"),
        (DENSE, {"architectures": ["LlamaForCausalLMEagle3"]}, 'architectures = "LlamaForCausalLMEagle3": is not'),
        (EXPERTS, {"moe_layer_freq": 2}, "moe_layer_freq = 2: expert layers with gaps"),
        (EXPERTS, {"moe_layer_freq": [0, 1, 1, 1, 1, 1]}, "moe_layer_freq = a list of 6: expert layers with gaps"),
        (EXPERTS, {"index_topk": 2048}, "index_topk = 2048: sparse attention"),
    ],
)
def test_what_changes_the_shape_and_is_not_modelled_is_refused(base, change, line):
    assert refusals(base, **change)[0].startswith(f"text: {line}")


def test_a_mistral_without_the_key_has_its_class_default_window():
    base = DENSE | {"model_type": "mistral", "architectures": ["MistralForCausalLM"], "max_position_embeddings": 32768}
    assert "4096, this family's default" in refusals(base)[0]
    assert read_config(text(base, sliding_window=None)).notes == ()
    assert "never reached" in read_config(text(base, sliding_window=32768)).notes[0]


def test_a_window_that_is_switched_off_is_a_note():
    base = DENSE | {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "sliding_window": 1024}
    assert any("switched off" in note for note in read_config(text(base, use_sliding_window=False)).notes)
    assert refusals(base, use_sliding_window=True)[0].startswith("text: sliding_window = 1024")


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"attention_bias": True}, "attention_bias: the biases are not counted"),
        ({"quantization_config": {"quant_method": "fp8"}}, 'the published weights are stored as "fp8"'),
        ({"strange_key": 1}, "keys that are not read: strange_key"),
    ],
)
def test_what_is_left_out_is_noted(change, note):
    assert any(note in entry for entry in read_config(text(DENSE, **change)).notes)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([DENSE, EXPERTS]), st.dictionaries(st.sampled_from(sorted(DENSE | EXPERTS)), VALUES, max_size=4))
def test_any_values_give_a_shape_or_our_own_error(base, changes):
    answer = attempt(read_config, json.dumps(base | changes))
    if isinstance(answer, RooftreeError):
        assert all(fault.isprintable() for fault in answer.faults)
    else:
        assert answer.layers >= max(1, answer.dense_layers)
        assert answer.attention.heads >= 1


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(text(EXPERTS)) - 1))
def test_a_file_cut_anywhere_is_never_read(length):
    with pytest.raises(FormatError):
        read_config("{" + text(EXPERTS)[1:length])


@settings(max_examples=50, deadline=None)
@given(st.permutations(sorted(EXPERTS)))
def test_the_order_of_keys_does_not_matter(keys):
    assert read_config(json.dumps({key: EXPERTS[key] for key in keys})) == read_config(text(EXPERTS))


SAMPLES_READ = {
    "Qwen--Qwen3-32B",
    "Qwen--Qwen3-8B",
    "deepseek-ai--DeepSeek-R1",
    "deepseek-ai--DeepSeek-V3",
    "inferencesim--codellama-34b-instruct-hf",
    "inferencesim--deepseek-v2-lite",
    "inferencesim--llama-2-7b-hf",
    "inferencesim--mistral-nemo-instruct-2407",
    "inferencesim--qwen3-14b",
    "inferencesim--yi-34b",
    "meta-llama--Meta-Llama-3.1-405B",
    "meta-llama--Meta-Llama-3.1-70B",
    "meta-llama--Meta-Llama-3.1-8B",
    "moonshotai--Kimi-K2-Instruct",
    "nvidia--DeepSeek-V3.1-NVFP4",
}


def test_of_the_published_samples_those_are_read_that_are_modelled(shared):
    read = set()
    for path in sorted((shared / "samples" / "hf_config").glob("*.json")):
        answer = attempt(read_config, path)
        if isinstance(answer, RooftreeError):
            assert all(fault.startswith(f"{path}: ") for fault in answer.faults)
        else:
            read.add(answer.name)
            assert not any("not read" in note for note in answer.notes), answer
    assert read == SAMPLES_READ


def test_the_same_shape_has_the_same_record_whatever_the_file_is_called(shared):
    folder = shared / "samples" / "hf_config"
    v3, r1 = (read_config(folder / f"deepseek-ai--DeepSeek-{name}_config.json") for name in ("V3", "R1"))
    assert replace(r1, name=v3.name, title=v3.title, source=v3.source) == v3
