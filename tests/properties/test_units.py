import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooftree.errors import ScenarioError
from rooftree.units import UNITS, parse, show, text

EACH_UNIT = pytest.mark.parametrize("unit", UNITS)


@EACH_UNIT
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_text_round_trips_to_the_bit(unit, value):
    again = parse(text(value, unit), unit)
    assert again == value
    assert math.copysign(1, again) == math.copysign(1, value)


@EACH_UNIT
@given(value=st.floats(), digits=st.integers(1, 12))
def test_show_never_fails(unit, value, digits):
    assert show(value, unit, digits)


@EACH_UNIT
@given(value=st.floats(1e-3, 1e15))
def test_what_show_writes_is_read_back_within_its_digits(unit, value):
    assert parse(show(value, unit), unit) == pytest.approx(value, rel=6e-3)


@given(words=st.text(), unit=st.sampled_from(sorted(UNITS)))
def test_any_text_is_a_finite_number_or_a_scenario_error(words, unit):
    with contextlib.suppress(ScenarioError):
        assert math.isfinite(parse(words, unit))


@given(value=st.floats(1e-6, 1e6), prefix=st.sampled_from(["", "k", "M", "G", "T"]))
def test_eight_bits_are_a_byte(value, prefix):
    assert parse(f"{value!r} {prefix}b", "B") * 8 == pytest.approx(parse(f"{value!r} {prefix}B", "B"), rel=1e-15)
