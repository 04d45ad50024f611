"""Each spelling of units.py means what pint, an independent program, says that it means."""

import re

import pint
import pytest

from rooftree.units import UNITS

SI = {"B": "byte", "degC": "delta_degC", "1": "dimensionless"}
WORDS = [
    (r"^$", "dimensionless"),
    (r"^(tokens|requests)?/s$", "1/s"),
    (r"b(?=$|/)", "bit"),
    (r"GPU-h", "h"),
    (r"m3", "m**3"),
    ("degC", "delta_degC"),
]
SPELLINGS = [(unit, spelling) for unit, table in UNITS.items() for spelling in table]


@pytest.fixture(scope="module")
def registry():
    registry = pint.UnitRegistry()
    registry.define("USD = [currency]")
    registry.define("FLOP = [operation]")
    registry.define("FLOPS = FLOP / second")
    return registry


def in_pint(words: str) -> str:
    """Return a spelling as pint writes it: it reads a lone b as a barn, and rates need a numerator."""
    for pattern, replacement in WORDS:
        words = re.sub(pattern, replacement, words)
    return words


@pytest.mark.parametrize(("unit", "spelling"), SPELLINGS)
def test_a_spelling_agrees_with_pint(registry, unit, spelling):
    # pint defines USD and FLOP not at all: the two lines above do; prefixes and all others are its own
    base = SI.get(unit, unit.replace("B/", "byte/").replace("m3", "m**3"))
    expected = registry.Quantity(1, in_pint(spelling)).to(base).magnitude
    assert UNITS[unit][spelling] == pytest.approx(expected, rel=1e-12, abs=0)
