"""What a person can meet has a page: each metric and each field of a part, with the unit that its name states."""

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

from rooftree.facts.hardware import KINDS
from rooftree.facts.workloads import Serving, Training
from rooftree.units import unit_of

DOCS = Path(__file__).resolve().parents[1] / "docs"
NOMENCLATURE = (DOCS / "nomenclature.md").read_text("utf-8")
ROWS = {
    name: cells[1].strip()
    for line in NOMENCLATURE.splitlines()
    if line.startswith("| `") and len(cells := line.strip("|").split("|")) == 3
    for name in re.findall(r"`([^`]+)`", cells[0])
}
METRICS = (
    "step_s",
    "tokens_per_s",
    "tokens_per_s_per_accelerator",
    "model_flops_per_s_per_accelerator",
    "mfu",
    "network_share",
    "bubble_share",
    "memory_bytes",
    "power_w",
    "energy_j_per_token",
    "usd_per_million_tokens",
    "time_per_output_token_s",
    "time_to_first_token_s",
    "requests_per_s",
    "algbw_bytes_per_s",
    "busbw_bytes_per_s",
)
TITLES = Path(__file__).resolve().parents[1] / "src" / "rooftree" / "interfaces" / "metrics.toml"
TITLED = tomllib.loads(TITLES.read_text("utf-8")) if TITLES.is_file() else {}
FIELDS = {
    field.name
    for part in (*KINDS.values(), Training, Serving)
    for field in dataclasses.fields(part)
    if field.name not in ("name", "title", "figures")
}
WORDS = (
    "tensor parallel",
    "pipeline parallel",
    "data parallel",
    "expert parallel",
    "context parallel",
    "microbatch",
    "interleave (virtual pipeline)",
    "bubble",
    "goodput",
    "NVLink domain",
    "leaf, spine",
    "rail",
)


@pytest.mark.parametrize("name", sorted({*METRICS, *TITLED, *FIELDS}))
def test_a_quantity_has_a_row_in_the_nomenclature(name):
    assert name in ROWS


@pytest.mark.parametrize("name", sorted(ROWS))
def test_the_nomenclature_gives_the_unit_that_the_name_states(name):
    assert ROWS[name] == unit_of(name) or ROWS[name] in ("name", "yes/no")


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_the_field_is_explained(word):
    assert f"\n{word}\n:   " in NOMENCLATURE


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_part_is_on_the_catalogue_page(kind):
    assert f"\n| `{kind}` | " in (DOCS / "catalogue.md").read_text("utf-8")


def test_pages_load_nothing_from_elsewhere():
    for page in DOCS.rglob("*.md"):
        assert re.findall(r"<(?:script|link|img|iframe)[^>]*//", page.read_text("utf-8")) == []
