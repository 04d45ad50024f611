import math

import pytest

from rooftree.errors import CatalogueError, RooftreeError, ScenarioError, nearest
from rooftree.units import SUFFIXES, UNITS, parse, show, text, unit_of


@pytest.mark.parametrize(
    ("words", "unit", "value"),
    [
        ("288 GB", "B", 288e9),
        ("288GB", "B", 288e9),
        ("  288   GB ", "B", 288e9),
        ("288\u00a0GB", "B", 288e9),
        ("1 GiB", "B", 2.0**30),
        ("800 Gb/s", "B/s", 100e9),
        ("1,536 GB", "B", 1536e9),
        ("1_536 GB", "B", 1536e9),
        ("5 us", "s", 5e-6),
        ("5 µs", "s", 5e-6),
        ("5 μs", "s", 5e-6),
        ("1.5e3 W", "W", 1500.0),
        ("1 EB", "B", 1e18),
        (".5 h", "s", 1800.0),
        ("-1 degC", "degC", -1.0),
        ("12 %", "1", 0.12),
        ("12", "1", 12.0),
        ("0.1 USD/kWh", "USD/J", 0.1 / 3.6e6),
        ("0.18 L/kWh", "m3/J", 0.18e-3 / 3.6e6),
    ],
)
def test_parse_reads_text_as_si(words, unit, value):
    assert parse(words, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("words", "unit", "message"),
    [
        ("288", "B", "'288' has no unit; write '288 GB' or '288 GiB'"),
        ("8", "B/s", "'8' has no unit; write '8 GB/s'"),
        ("288 GB/s", "B", "'288 GB/s' is in B/s, but B is needed; write for example '1 GB'"),
        ("5 %", "B", "'5 %' is a share, but B is needed; write for example '1 GB'"),
        ("5 m", "s", "'5 m' is in m, but s is needed; write for example '1 ms'"),
        ("288 gb", "B", "'288 gb' has the unknown unit 'gb'; did you mean 'GB' or 'Gb'?"),
        ("400 Gbps", "B/s", "'400 Gbps' has the unknown unit 'Gbps'; did you mean 'GB/s' or 'Gb/s'?"),
        ("1,5 GB", "B", "'1,5 GB' is not a number with a unit; write for example '1 GB'"),
        ("1,5000 B", "B", "'1,5000 B' is not a number with a unit; write for example '1 GB'"),
        ("GB", "B", "'GB' is not a number with a unit; write for example '1 GB'"),
        ("", "1", "'' is not a number with a unit; write for example '0.5'"),
        ("1 GB\n2 GB", "B", "'1 GB\n2 GB' is not a number with a unit; write for example '1 GB'"),
        ("nan B", "B", "'nan B' is not a number with a unit; write for example '1 GB'"),
        ("inf B", "B", "'inf B' is not a number with a unit; write for example '1 GB'"),
        ("1e400 B", "B", "'1e400 B' is not finite"),
        ("1e300 EB", "B", "'1e300 EB' is not finite"),
    ],
)
def test_parse_refuses_with_what_why_and_what_to_do(words, unit, message):
    with pytest.raises(ScenarioError) as caught:
        parse(words, unit)
    assert str(caught.value) == message


def test_a_bit_is_an_eighth_of_a_byte():
    assert parse("8 Gb/s", "B/s") == parse("1 GB/s", "B/s")


def test_messages_show_forty_characters_at_most():
    with pytest.raises(ScenarioError) as caught:
        parse("9" * 100_000 + " x" * 100_000, "B")
    assert len(str(caught.value)) < 200


def test_long_blanks_are_read_in_no_time():
    with pytest.raises(ScenarioError):
        parse("1" + " " * 1_000_000 + "x" + " " * 1_000_000 + "y", "B")


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (8e12, "B/s", "8.00 TB/s"),
        (999.6e9, "B", "1.00 TB"),
        (9.999, "1", "10.0"),
        (0, "s", "0 s"),
        (-0.0, "B", "0 B"),
        (5e-6, "s", "5.00 µs"),
        (3600.0, "s", "3,600 s"),
        (-5e9, "B", "-5.00 GB"),
        (1e24, "FLOP", "1,000,000 EFLOP"),
        (0.12 / 3.6e6, "USD/J", "0.120 USD/kWh"),
        (0.4 / 3.6e9, "kg/J", "0.400 g/kWh"),
        (1.79e308, "USD", "1.79e+308 USD"),
        (5e-324, "m", "4.94e-324 m"),
        (2.5, "1/s", "2.50 /s"),
        (math.inf, "B", "inf"),
        (math.nan, "s", "nan"),
    ],
)
def test_show_writes_for_a_person(value, unit, words):
    assert show(value, unit) == words


def test_show_keeps_as_many_digits_as_are_asked_for():
    assert [show(1234.5678e9, "B", digits) for digits in (1, 2, 5)] == ["1 TB", "1.2 TB", "1.2346 TB"]


def test_text_takes_numbers_of_numpy():
    numpy = pytest.importorskip("numpy")
    assert text(numpy.float64(2.5), "s") == "2.5 s"
    assert text(3, "1") == "3.0"


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("step_s", "s"),
        ("memory_bytes", "B"),
        ("busbw_bytes_per_s", "B/s"),
        ("peak_flops_per_s.nvfp4", "FLOP/s"),
        ("model_flops_per_s_per_accelerator", "FLOP/s"),
        ("tokens_per_s_per_accelerator", "1/s"),
        ("energy_j_per_token", "J"),
        ("usd_per_million_tokens", "USD"),
        ("time_per_output_token_s", "s"),
        ("water_m3_per_j", "m3/J"),
        ("accelerator_usd_per_h", "USD/h"),
        ("gemm_fraction.fp8", "1"),
        ("racks", "1"),
        ("m", "1"),
    ],
)
def test_a_name_states_its_unit(name, unit):
    assert unit_of(name) == unit


def test_each_suffix_is_found_before_a_shorter_one():
    assert {suffix: unit_of("x" + suffix) for suffix in SUFFIXES} == dict(SUFFIXES)


def test_each_unit_has_a_spelling_of_factor_one():
    assert {unit for unit, spellings in UNITS.items() if 1.0 not in spellings.values()} == set()


def test_an_error_keeps_its_faults_apart():
    fault = CatalogueError("a.toml: x: missing; add it", "a.toml: y: unknown; take it out")
    assert isinstance(fault, RooftreeError)
    assert fault.faults == ("a.toml: x: missing; add it", "a.toml: y: unknown; take it out")
    assert str(fault) == "\n".join(fault.faults)


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("GB30", ["gb300", "h100"], "did you mean 'gb300'?"),
        ("zzz", ["h100", "gb300"], "known: gb300, h100"),
        ("x", [], "known: none"),
        ("kb", ["KB", "kb"], "did you mean 'KB' or 'kb'?"),
    ],
)
def test_a_hint_names_the_nearest(name, known, hint):
    assert nearest(name, known) == hint
