"""Text to SI and back. Inside the program a quantity is a plain float whose name ends in its unit.

The traps, one rule each: a small `b` is a bit and a capital `B` a byte; GB = 1e9 and GiB = 2^30; bandwidths are one
direction; rates are dense. The only place where a dimensioned literal may stand.
"""

import math
import re
from collections.abc import Mapping

from rooftree.errors import ScenarioError, nearest

_DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
_SMALL = {"m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9, "p": 1e-12}  # micro sign and Greek mu look alike
HOUR_S = 3600.0
_KWH_J = 3.6e6
MILLION = 1e6
"""For names such as `usd_per_million_tokens`."""


def _table() -> dict[str, dict[str, float]]:
    """Return for each SI unit the spellings that are read as it, with their factors."""
    size = {f"{p}B": f for p, f in (_DECIMAL | _BINARY).items()} | {f"{p}b": f / 8 for p, f in _DECIMAL.items()}
    seconds = {f"{p}s": f for p, f in _SMALL.items()} | {"s": 1.0, "min": 60.0, "h": HOUR_S, "d": 24 * HOUR_S}
    flop = {f"{p}FLOP": f for p, f in _DECIMAL.items()}
    power = {f"{p}W": f for p, f in _DECIMAL.items()} | {"mW": 1e-3}
    energy = {f"{p}J": f for p, f in _DECIMAL.items()} | {f"{p}Wh": f * HOUR_S for p, f in _DECIMAL.items()}
    return {
        "B": size,
        "B/s": {f"{name}/s": factor for name, factor in size.items()},
        "FLOP": flop,
        "FLOP/s": {f"{name}/s": factor for name, factor in flop.items()}
        | {f"{p}FLOPS": f for p, f in _DECIMAL.items()},
        "s": seconds,
        "1/s": {"/s": 1.0, "1/s": 1.0, "tokens/s": 1.0, "requests/s": 1.0},
        "W": power,
        "J": energy,
        "USD": {"USD": 1.0, "kUSD": 1e3, "MUSD": 1e6},
        "USD/h": {"USD/h": 1.0, "USD/GPU-h": 1.0},
        "USD/J": {"USD/J": 1.0, "USD/kWh": 1 / _KWH_J, "USD/MWh": 1e-3 / _KWH_J},
        "kg/J": {"kg/J": 1.0, "g/kWh": 1e-3 / _KWH_J, "kg/kWh": 1 / _KWH_J},
        "m3/J": {"m3/J": 1.0, "L/kWh": 1e-3 / _KWH_J},
        "degC": {"degC": 1.0},
        "m": {"m": 1.0, "km": 1e3, "mm": 1e-3},
        "1": {"": 1.0, "%": 1e-2},
    }


UNITS: Mapping[str, Mapping[str, float]] = _table()

SUFFIXES: Mapping[str, str] = {
    "_bytes_per_s": "B/s",
    "_flops_per_s": "FLOP/s",
    "_usd_per_h": "USD/h",
    "_usd_per_j": "USD/J",
    "_kg_per_j": "kg/J",
    "_m3_per_j": "m3/J",
    "_per_s": "1/s",
    "_bytes": "B",
    "_flops": "FLOP",
    "_usd": "USD",
    "_s": "s",
    "_w": "W",
    "_j": "J",
    "_c": "degC",
    "_m": "m",
}
"""Ending of a name → its SI unit, the longest first."""

COUNTED = ("accelerator", "layer", "microbatch", "million_tokens", "rack", "request", "step", "token")
"""What a quantity may be stated for one of: `energy_j_per_token` is in joules, as `energy_j` is."""

_PER_COUNTED = re.compile(f"_per_(?:{'|'.join(COUNTED)})$")
_WHOLE = r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+(?:_[0-9]+)*"  # a comma groups three digits; "1,5" is refused, not read as 15
_NUMBER = re.compile(rf"([+-]?(?:(?:{_WHOLE})(?![0-9_,])(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*)")


def unit_of(name: str) -> str:
    """Return the SI unit that a name's suffix states; `1` for ratios and counts.

    The suffix of a mapping's name holds for its entries: `peak_flops_per_s.fp8` is in FLOP/s. Per token, per request
    and the like change nothing, for counts have no unit.

    >>> unit_of("memory_bandwidth_bytes_per_s"), unit_of("peak_flops_per_s.fp8"), unit_of("racks")
    ('B/s', 'FLOP/s', '1')
    >>> unit_of("energy_j_per_token"), unit_of("tokens_per_s_per_accelerator"), unit_of("usd_per_million_tokens")
    ('J', '1/s', 'USD')
    """
    stem = _PER_COUNTED.sub("", name.split(".", 1)[0])
    whole = f"_{stem}" if len(stem) > 1 else stem
    return next((unit for suffix, unit in SUFFIXES.items() if whole.endswith(suffix)), "1")


def parse(text: str, unit: str) -> float:
    """Read `"288 GB"` as SI.

    Raises ScenarioError for a bare number where a unit is due, an unknown unit or the wrong dimension, NaN or infinity.

    >>> parse("8 TB/s", "B/s"), parse("800 Gb/s", "B/s"), parse("284208 MiB", "B"), parse("12 %", "1")
    (8000000000000.0, 100000000000.0, 298013687808.0, 0.12)
    >>> parse("288", "B")
    Traceback (most recent call last):
    ...
    rooftree.errors.ScenarioError: '288' has no unit; write '288 GB' or '288 GiB'
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise ScenarioError(f"'{_short(text)}' is not a number with a unit; write for example '{_example(unit)}'")
    number, spelling = float(match[1].replace(",", "").replace("_", "")), match[2]
    if not math.isfinite(number):
        raise ScenarioError(f"'{_short(text)}' is not finite")
    factors = UNITS[unit]
    if spelling in factors:
        factor = factors[spelling]
        value = number * factor if factor >= 1 else number / (1 / factor)  # "5 us" is 5e-6 to the bit
        if not math.isfinite(value):
            raise ScenarioError(f"'{_short(text)}' is not finite")
        return value
    if not spelling:
        extra = f" or '{match[1]} GiB'" if unit == "B" else ""
        raise ScenarioError(f"'{text.strip()}' has no unit; write '{match[1]} {_preferred(unit)}'{extra}")
    other = next((name for name, table in UNITS.items() if spelling in table), None)
    if other is not None:
        found = "a share" if other == "1" else f"in {other}"
        raise ScenarioError(f"'{_short(text)}' is {found}, but {unit} is needed; write for example '{_example(unit)}'")
    raise ScenarioError(f"'{_short(text)}' has the unknown unit '{_short(spelling)}'; {nearest(spelling, factors)}")


def show(value: float, unit: str, digits: int = 3) -> str:
    """Write an SI value for a person, with a prefix.

    >>> show(8e12, "B/s"), show(0.0123, "s"), show(298013687808.0, "B"), show(0.42, "1"), show(136e3, "W")
    ('8.00 TB/s', '12.3 ms', '298 GB', '0.420', '136 kW')
    """
    if unit == "1" or not math.isfinite(value):
        return _digits(value, digits)
    if unit in ("USD/J", "kg/J", "m3/J"):
        spelling = {"USD/J": "USD/kWh", "kg/J": "g/kWh", "m3/J": "L/kWh"}[unit]
        return f"{_digits(value / UNITS[unit][spelling], digits)} {spelling}"
    if unit in ("USD", "USD/h", "1/s", "degC", "m"):
        return f"{_digits(value, digits)} {'/s' if unit == '1/s' else unit}"
    steps = {"B": "B", "B/s": "B/s", "FLOP": "FLOP", "FLOP/s": "FLOP/s", "W": "W", "J": "J", "s": "s"}[unit]
    scale = _DECIMAL if unit != "s" else {"": 1.0, "m": 1e-3, "µ": 1e-6, "n": 1e-9}
    prefixes = [(factor, prefix) for prefix, factor in scale.items()]
    size = abs(value) or 1.0
    fitting = [pair for pair in prefixes if size >= pair[0] * (1 - 0.5 * 10.0**-digits)]
    factor, prefix = max(fitting) if fitting else min(prefixes)
    return f"{_digits(value / factor, digits)} {prefix}{steps}"


def text(value: float, unit: str) -> str:
    """Write an SI value so that `parse` returns it to the bit.

    >>> text(8e12, "B/s"), parse(text(0.1, "s"), "s")
    ('8000000000000.0 B/s', 0.1)
    """
    base = next(spelling for spelling, factor in UNITS[unit].items() if factor == 1.0)
    return f"{float(value)!r} {base}".strip()


def _digits(value: float, digits: int) -> str:
    """Return `value` with so many significant digits and no exponent where a person would not use one."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    scientific = f"{value:.{digits - 1}e}"
    exponent = int(scientific.partition("e")[2])  # after rounding: 9.999 has the exponent of 10.0
    if not -4 <= exponent < 15:
        return scientific
    places = digits - 1 - exponent
    return f"{round(value, places):,.{max(0, places)}f}"


def _preferred(unit: str) -> str:
    """Return the spelling that a message proposes for a unit."""
    names = {"B": "GB", "B/s": "GB/s", "FLOP": "TFLOP", "FLOP/s": "TFLOP/s", "s": "ms", "W": "kW", "1/s": "/s"}
    return names.get(unit, unit)


def _example(unit: str) -> str:
    """Return a value with a unit to copy."""
    return f"1 {_preferred(unit)}" if unit != "1" else "0.5"


def _short(text: str) -> str:
    """Return at most forty characters of a user's text."""
    return text if len(text) <= 40 else text[:37] + "..."
