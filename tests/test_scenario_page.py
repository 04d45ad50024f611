"""docs/scenario.md names every key of a scenario file, and its example is read."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from rooftree.studies.scenario_file import LayoutKeys, ScenarioKeys, ServingKeys, TrainingKeys, keys_from

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "scenario.md").read_text("utf-8")
KEYS = {each.name for keys in (ScenarioKeys, TrainingKeys, ServingKeys, LayoutKeys) for each in fields(keys)}


@pytest.mark.parametrize("key", sorted(KEYS))
def test_a_key_is_documented(key):
    assert f"`{key}`" in PAGE or f"[{key}]" in PAGE


def test_the_example_is_a_scenario():
    import tomllib

    example = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.S)[0]
    keys = keys_from(tomllib.loads(example), "docs/scenario.md")
    assert keys.serving is not None
    assert keys.serving.layout is not None
    assert keys.serving.layout.expert == 16
