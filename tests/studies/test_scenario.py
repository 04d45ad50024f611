import json

import pytest

from rooftree.errors import ScenarioError
from rooftree.studies.binding import model_named
from rooftree.studies.scenario import fewest_bits

WITH_LAYOUT = "\n[training.layout]\n"
BOTH = """[training]
model = "llama-3.1-9b"
gpus = 0
global_batch = 0
sequence = 8192
precision = "fp9"
[training.layout]
recompute = "ful"
tensor = 0
[serving]
model = "deepseek-r2"
gpus = 5000
input_tokens = 0
output_tokens = 1024
precision = "nvfp5"
kv_precision = "fp7"
time_per_output_token_limit = "50"
"""


def faults(read, *args, **named):
    with pytest.raises(ScenarioError) as raised:
        read(*args, **named)
    return raised.value.faults


def test_every_fault_of_both_questions_comes_at_once(read):
    text = "\n".join(faults(read, {"cluster": '"azure-gb300-4608"'}, tables=BOTH, top="seed = -1\n"))
    for part in (
        "seed = -1",
        "training.gpus = 0: must be 1 to 4,608",
        "training.global_batch = 0",
        "training: precision 'fp9'",
        "training: architecture 'llama-3.1-9b'",
        'training.layout.recompute = "ful"',
        "training.layout.tensor = 0",
        "serving.gpus = 5000: must be 1 to 4,608",
        "serving.input_tokens = 0",
        "serving: precision 'nvfp5'",
        "serving: precision 'fp7'",
        "serving: architecture 'deepseek-r2'",
        "serving.time_per_output_token_limit: '50' has no unit; write '50 ms'",
    ):
        assert part in text


def test_faults_of_keys_and_of_names_come_together(read):
    found = faults(
        read,
        {"cluster": '"azure-gb30"', "model": '"llama-3.1-9b"', "precision": '"fp9"', "gpus": '"8"'},
        end="sequnce = 1\n",
    )
    assert [any(word in line for line in found) for word in ("sequnce", "gpus", "azure-gb30'", "3.1-9b", "fp9")] == [
        True
    ] * 5


def test_names_are_looked_up_without_a_cluster(read):
    found = faults(read, {"cluster": '"nowhere"', "precision": '"fp9"', "model": '"llama"'})
    assert len(found) == 3


@pytest.mark.parametrize(
    ("key", "written", "nearest"),
    [
        ("cluster", '"azure-gb300"', "did you mean 'azure-gb300-4608'?"),
        ("model", '"llama-3.1-9b"', "did you mean 'llama-3.1-8b'?"),
        ("precision", '"mxfp9"', "did you mean 'mxfp8'?"),
    ],
)
def test_an_unknown_name_comes_with_the_nearest(read, key, written, nearest):
    (fault,) = faults(read, {key: written})
    assert nearest in fault


def test_each_line_begins_with_the_file(read, tmp_path):
    assert all(line.startswith(str(tmp_path / "s.toml")) for line in faults(read, tables=BOTH))


@pytest.mark.parametrize("gpus", [-1, 0, 4609, 10**30])
def test_a_number_of_gpus_that_the_cluster_has_not_is_refused(read, gpus):
    (fault,) = faults(read, {"gpus": str(gpus)})
    assert f"training.gpus = {gpus}: must be 1 to 4,608" in fault


def test_the_whole_cluster_and_one_gpu_are_allowed(train):
    assert train(accelerators=4608).training.devices == 4608
    assert train(accelerators=1).training.devices == 1


def test_a_precision_that_the_accelerator_has_not_is_refused_with_those_it_has(train):
    with pytest.raises(ScenarioError, match=r"h100-sxm has no rate for it; use bf16, fp8"):
        train(cluster="h100-superpod", precision="nvfp4")


def test_more_gpus_a_domain_than_the_rack_has_are_refused(read):
    (fault,) = faults(read, end="gpus_per_domain = 73\n")
    assert "gpus_per_domain = 73: must be 1 to 72" in fault


def test_gpus_a_domain_are_the_users_when_stated(read):
    assert read(end="gpus_per_domain = 4\n").training.case.domain == 4
    assert read().training.case.domain == 8


def test_further_tokens_need_layers_for_them(read):
    (fault,) = faults(read, end="prediction = true\n")
    assert "has no layers for further tokens" in fault


def test_a_file_without_a_question_is_refused(read):
    (fault,) = faults(read, tables="")
    assert "add a table [training] or [serving]" in fault


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("tensor = 3", "layout.tensor = 3 does not divide 32 heads; try 2 or 4"),
        ("pipeline = 40", "pipeline x layout.interleave = 40 is more than the 32 layers"),
        ("tensor = 2\ndata = 2", "layout takes 4 devices, the job has 8; set layout.data = 4"),
        (
            "data = 8\nmicrobatch = 4",
            "global_batch = 16 is no multiple of layout.data x layout.microbatch = 32; try 32",
        ),
        ("expert = 2", "llama-3.1-8b has no experts; set layout.expert = 1"),
        ("interleave = 2", "needs a pipeline"),
    ],
)
def test_a_layout_that_does_not_divide_is_refused_with_what_would_do(read, layout, message):
    assert message in "\n".join(faults(read, end=WITH_LAYOUT + layout))


@pytest.mark.parametrize("data", [-3, 10**7])
def test_data_parallelism_out_of_range_is_refused_in_serving_too(read, data):
    serving = BOTH[BOTH.index("[serving]") :].replace("r2", "r1").replace("5000", "8").replace("= 0", "= 8")
    serving = serving.replace("nvfp5", "nvfp4").replace("fp7", "fp8").replace('"50"', '"50 ms"')
    (fault,) = faults(read, tables=serving, end=f"[serving.layout]\ndata = {data}\n")
    assert f"serving.layout.data = {data}" in fault


def test_data_parallelism_left_out_takes_the_gpus_that_are_left(read):
    assert read(end=WITH_LAYOUT + "tensor = 2").training.case.layout.data == 4


def test_a_stated_layout_is_the_users_and_an_empty_one_is_searched(train):
    assert train(layout={"tensor": 2}).training.chosen
    assert not train().training.chosen


@pytest.mark.parametrize(("limit", "why"), [("0 s", "not above 0"), ("-1 s", "not above 0"), ("5 GB", "s is needed")])
def test_a_limit_of_time_must_be_a_time_above_zero(read, limit, why):
    serving = BOTH[BOTH.index("[serving]") :].replace('"50"', f'"{limit}"')
    assert why in "\n".join(line for line in faults(read, tables=serving) if "limit" in line)


def test_a_path_of_a_model_starts_at_the_scenario(read, tmp_path):
    config = (
        '{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128,'
        ' "num_attention_heads": 8, "max_position_embeddings": 4096, "vocab_size": 320}'
    )
    (tmp_path / "small.json").write_text(config)
    assert read({"model": '"small.json"'}).training.case.model.layers == 2


def test_the_command_line_and_a_file_ask_the_same(read, train):
    asked, written = train(layout={"tensor": 2}), read(end=WITH_LAYOUT + "tensor = 2")
    assert asked.training == written.training


@pytest.mark.parametrize(("layout", "data"), [({"expert": 8}, 8), ({"expert": 8, "tensor": 2}, 4), ({"tensor": 8}, 1)])
def test_a_stated_expert_group_is_filled_with_attention_ranks(infer, layout, data):
    replica = infer(model="deepseek-r1", precision="nvfp4", layout=layout).serving.replica
    assert replica.layout.data == data


def test_the_folder_of_a_config_stands_for_it(tmp_path, catalogue):
    folder = tmp_path / "mine"
    folder.mkdir()
    shape = {"hidden_size": 512, "intermediate_size": 1024, "num_attention_heads": 8, "num_key_value_heads": 8}
    rest = {"num_hidden_layers": 4, "vocab_size": 1000, "max_position_embeddings": 2048, "tie_word_embeddings": False}
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", **shape, **rest}))
    assert model_named("mine", catalogue, tmp_path).layers == 4
    assert model_named(str(folder), catalogue).layers == 4


@pytest.mark.parametrize(("name", "form"), [("azure-gb300-4608", "nvfp4"), ("h100-superpod", "fp8"), ("no", "bf16")])
def test_the_fewest_bits_follow_the_accelerator(catalogue, name, form):
    assert fewest_bits(name, catalogue) == form
