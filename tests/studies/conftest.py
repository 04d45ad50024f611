from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rooftree.facts.catalogue import open_catalogue
from rooftree.facts.layers import Catalogue
from rooftree.facts.measurements import table
from rooftree.studies.questions import Scenario
from rooftree.studies.rows import Predicted, predict_all, predict_serving, predict_training
from rooftree.studies.scenario import read_scenario, serving_scenario, training_scenario

TRAINING = """[training]
model = "llama-3.1-8b"
gpus = 8
global_batch = 16
sequence = 8192
precision = "fp8"
"""
SERVING = """[serving]
model = "llama-3.1-8b"
gpus = 8
input_tokens = 1024
output_tokens = 1024
precision = "fp8"
kv_precision = "fp8"
"""


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return open_catalogue()


@pytest.fixture
def read(tmp_path: Path, catalogue: Catalogue) -> Callable[..., Scenario]:
    """Read a scenario text; `change` maps keys to other right sides, `end` follows at the end."""

    def from_text(change: Mapping[str, str] = {}, *, tables: str = TRAINING, top: str = "", end: str = "") -> Scenario:
        lines = f'title = "t"\ncluster = "azure-gb300-4608"\n{top}{tables}{end}'.splitlines()
        keys = [line.partition(" = ")[0] for line in lines]
        assert set(change) <= set(keys)
        text = "\n".join(
            f"{key} = {change[key]}" if key in change else line for key, line in zip(keys, lines, strict=True)
        )
        file = tmp_path / "s.toml"
        file.write_text(text, "utf-8")
        return read_scenario(file, catalogue)

    return from_text


@pytest.fixture
def train(catalogue: Catalogue) -> Callable[..., Scenario]:
    """Ask about training: Llama 3.1 8B on eight GB300 unless told otherwise."""

    def ask(**changes: object) -> Scenario:
        asked = {
            "model": "llama-3.1-8b",
            "cluster": "azure-gb300-4608",
            "accelerators": 8,
            "precision": "fp8",
            "sequence": 8192,
            "global_batch": 16,
            "layout": {},
        }
        return training_scenario(**{**asked, "catalogue": catalogue, **changes})

    return ask


@pytest.fixture
def infer(catalogue: Catalogue) -> Callable[..., Scenario]:
    """Ask about serving: Llama 3.1 8B on eight GB300 unless told otherwise."""

    def ask(**changes: object) -> Scenario:
        asked = {
            "model": "llama-3.1-8b",
            "cluster": "azure-gb300-4608",
            "accelerators": 8,
            "precision": "fp8",
            "kv_precision": "fp8",
            "input_tokens": 1024,
            "output_tokens": 1024,
            "concurrency": 0,
            "time_per_output_token_limit_s": 0.05,
            "layout": {},
        }
        return serving_scenario(**{**asked, "catalogue": catalogue, **changes})

    return ask


@pytest.fixture(scope="session")
def trained(catalogue: Catalogue) -> list[Predicted]:
    """Every training row that comes with rooftree, predicted."""
    return predict_all(table("training").rows, catalogue, predict_training)[0]


@pytest.fixture(scope="session")
def served(catalogue: Catalogue) -> list[Predicted]:
    """Every serving row that comes with rooftree, predicted."""
    return predict_all(table("inference").rows, catalogue, predict_serving)[0]
