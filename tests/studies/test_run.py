import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from rooftree.errors import DoesNotFit
from rooftree.facts.catalogue import open_catalogue
from rooftree.facts.parts import with_figure
from rooftree.studies.results import as_json
from rooftree.studies.run import conflicts, key, run
from rooftree.studies.scenario import read_scenario

ROOT = Path(__file__).resolve().parents[2]
SERVING = """[serving]
model = "llama-3.1-8b"
gpus = 8
input_tokens = 1024
output_tokens = 1024
precision = "fp8"
kv_precision = "fp8"
"""
CONFIG = (
    '{"model_type": "llama", "num_hidden_layers": LAYERS, "hidden_size": 64, "intermediate_size": 128,'
    ' "num_attention_heads": 8, "max_position_embeddings": 4096, "vocab_size": 320}'
)


def with_cluster(scenario, *place_and_value):
    return replace(scenario, cluster=with_figure(scenario.cluster, *place_and_value))


def test_the_same_scenario_gives_the_same_answer_to_the_bit(read):
    first, second = (run(read(end=SERVING)) for _ in range(2))
    assert first.elapsed_s > 0
    assert replace(first, elapsed_s=0.0) == replace(second, elapsed_s=0.0)


def test_another_seed_moves_ranges_and_no_value(read):
    first, second = (run(read(top=f"seed = {seed}\n")).answers[0].metrics for seed in (1, 2))
    assert {m: first[m].value for m in first} == {m: second[m].value for m in second}
    assert first != second


def test_both_questions_are_answered_in_their_order(read):
    result = run(read(end=SERVING))
    assert [answer.question for answer in result.answers] == ["training", "serving"]
    assert list(as_json(result)["answers"]) == ["training", "serving"]
    assert (result.title, result.cluster_accelerators) == ("t", 4608)


def test_what_fits_in_neither_question_is_told_at_once(read):
    model = '"llama-3.1-405b"'
    with pytest.raises(DoesNotFit) as raised:
        run(read({"model": model, "gpus": "1", "precision": '"bf16"'}, end=SERVING))
    assert len(raised.value.faults) == 2


def test_one_question_that_does_not_fit_spoils_the_whole(read):
    with pytest.raises(DoesNotFit) as raised:
        run(read(end=SERVING.replace("8b", "405b").replace("fp8", "bf16").replace("gpus = 8", "gpus = 1")))
    assert len(raised.value.faults) == 1


@pytest.mark.parametrize(
    ("kind", "name", "figure", "times"),
    [
        ("accelerator", "gb300", "memory_bandwidth_bytes_per_s", 0.5),
        ("prices", "gb300-rental", "accelerator_usd_per_h", 2),
    ],
)
def test_the_key_changes_with_a_figure(train, kind, name, figure, times):
    scenario = train()
    part = scenario.cluster.rack.host.accelerator if kind == "accelerator" else scenario.cluster.prices
    value = part.figures[figure].value
    assert key(with_cluster(scenario, kind, name, figure, value)) == key(scenario)
    assert key(with_cluster(scenario, kind, name, figure, value * times)) != key(scenario)


def test_the_key_changes_with_a_range(train):
    scenario, host = train(), train().cluster.rack.host
    accelerator = host.accelerator
    wider = replace(accelerator.figures["memory_bytes"], low=1.0)
    accelerator = replace(accelerator, figures={**accelerator.figures, "memory_bytes": wider})
    rack = replace(scenario.cluster.rack, host=replace(host, accelerator=accelerator))
    assert key(replace(scenario, cluster=replace(scenario.cluster, rack=rack))) != key(scenario)


def test_the_key_changes_with_the_text_and_the_seed(read):
    assert len({key(read()), key(read({"gpus": "4"})), key(read(top="seed = 2\n"))}) == 3


def test_the_key_follows_the_shape_in_a_config_and_not_its_place(tmp_path, catalogue):
    keys = []
    for folder, layers in (("a", 2), ("b", 2), ("c", 3)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "small.json").write_text(CONFIG.replace("LAYERS", str(layers)))
        text = (ROOT / "scenarios" / "azure-gb300.toml").read_text("utf-8").replace("llama-3.1-405b", "small.json")
        (tmp_path / folder / "s.toml").write_text(text)
        keys.append(key(read_scenario(tmp_path / folder / "s.toml", catalogue)))
    assert keys[0] == keys[1] != keys[2]


def test_the_key_changes_with_a_number_format(tmp_path, train):
    shutil.copytree(ROOT / "catalogue" / "precision", tmp_path / "precision")
    file = tmp_path / "precision" / "fp8.toml"
    text = file.read_text("utf-8")
    assert "value = 8" in text
    file.write_text(text.replace("value = 8", "value = 9", 1))
    assert key(train(catalogue=open_catalogue([tmp_path]))) != key(train())


def test_conflicts_are_the_figures_on_which_sources_disagree(train):
    found = {(one.part, one.key) for one in conflicts(train().cluster)}
    assert ("accelerator gb300", "peak_flops_per_s.nvfp4") in found
    assert ("link xdr-800", "bandwidth_bytes_per_s") in found
    assert ("cluster azure-gb300-4608", "racks") not in found
    assert all(one.chosen.others for one in conflicts(train().cluster))
    assert run(train()).conflicts == conflicts(train().cluster)


def test_the_main_scenario_is_answered_in_the_time_of_a_breath(catalogue):
    result = run(read_scenario(ROOT / "scenarios" / "azure-gb300.toml", catalogue))
    training, serving = result.answers
    assert training.extrapolated
    assert not serving.extrapolated
    assert result.elapsed_s < 10
