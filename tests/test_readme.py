"""The README shows what the program really prints."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from rooftree.facts.catalogue import open_catalogue
from rooftree.facts.parts import walk
from rooftree.interfaces.cli.group import cli
from rooftree.studies.validation import page

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = [block.splitlines() for block in re.findall(r"```console\n(.*?)```", README, flags=re.S)]
EXAMPLES = [(lines[0].removeprefix("$ rooftree "), lines[1:]) for lines in BLOCKS if lines[0].startswith("$ rooftree ")]


def printed(command: str) -> tuple[int, list[str]]:
    result = CliRunner().invoke(cli, shlex.split(command), prog_name="rooftree")
    text = result.output + (f"Error: {result.exception}" if result.exception is not None else "")
    return result.exit_code, [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_an_example_prints_what_is_shown(command, shown, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    code, lines = printed(command)
    assert [line for line in shown if line != "…" and line.rstrip() not in lines] == []
    assert code == 0 or shown[0].startswith("Error: ")


def test_there_are_five_examples_and_a_wrong_one():
    assert len(EXAMPLES) == 6


def test_the_validation_table_is_that_of_the_page():
    table = re.findall(r"^\| (?:training|inference) .*$", page(open_catalogue()), flags=re.M)
    assert len(table) == 4
    assert [line for line in table if line not in README] == []


def test_the_validation_page_is_up_to_date():
    assert (ROOT / "docs" / "validation.md").read_text("utf-8") == page(open_catalogue())


def test_the_number_of_assumptions_is_told():
    from rooftree.facts.catalogue import cluster

    figures = [figure for *_, figure in walk(cluster(open_catalogue(), "azure-gb300-4608"))]
    assumed = sum(figure.basis == "assumed" for figure in figures)
    assert f"{assumed} figures of the GB300 cluster are assumptions" in README
