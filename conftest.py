"""Shapes that the examples in docstrings use by name."""

from pathlib import Path

import pytest

from rooftree.facts.architecture_files import find_architecture

CATALOGUE = Path(__file__).resolve().parent / "catalogue"


@pytest.fixture(autouse=True)
def _examples(doctest_namespace: dict[str, object]) -> None:
    """Let examples say `llama` for Llama 3.1 8B and `deepseek` for DeepSeek-V3."""
    doctest_namespace["llama"] = find_architecture("llama-3.1-8b", [CATALOGUE])
    doctest_namespace["deepseek"] = find_architecture("deepseek-v3", [CATALOGUE])
