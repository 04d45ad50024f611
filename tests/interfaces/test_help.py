import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rooftree.facts.architecture_files import architecture_names
from rooftree.facts.catalogue import folders, names, open_catalogue
from rooftree.interfaces.cli import cli
from rooftree.interfaces.cli.group import VERBS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_is_as_it_was(rooftree, snapshot, verb):
    outcome = rooftree(*verb.split(), "--help")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == snapshot


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_json_and_catalogue_and_examples(rooftree, verb):
    out = rooftree(verb, "--help").out
    assert "--json" in out
    assert "--catalogue DIR" in out
    assert f"  rooftree {verb}" in out.split("Examples:")[1]


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_fits_a_hundred_columns(rooftree, verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    assert max(map(len, rooftree(*verb.split(), "--help").out.splitlines())) <= 100


def test_a_verb_is_called_what_its_command_is_called():
    assert {name: cli.get_command(None, name).name for name in VERBS} == {name: name for name in VERBS}


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from rooftree.interfaces.cli import main; main(['--help']); "
        "print([m for m in ('pydantic','plotly','numpy','scipy','rich','jinja2') if m in sys.modules], file=sys.stderr)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    start_s = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)  # noqa: S603
    assert done.stderr.strip() == "[]"
    assert time.monotonic() - start_s < 3  # 0.3 s is the aim; a busy machine may need longer


def test_version(rooftree):
    assert rooftree("--version").out.startswith("rooftree, version 0.")


def test_examples_name_what_is_there():
    catalogue = open_catalogue()
    examples = " ".join(cli.get_command(None, verb).epilog for verb in VERBS) + cli.epilog
    clusters = set(re.findall(r"--cluster (\S+)", examples))
    models = set(re.findall(r"rooftree (?:train|infer) (\S+)", examples)) - {"path/to/config.json"}
    assert clusters
    assert clusters <= set(names(catalogue, "cluster"))
    scenarios = set(re.findall(r"rooftree run (\S+)", examples))
    assert scenarios
    assert [path for path in scenarios if not (ROOT / path).is_file()] == []
    assert models
    assert models <= set(architecture_names(folders(catalogue)))
