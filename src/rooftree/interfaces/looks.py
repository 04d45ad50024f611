"""How pictures look: colours, an empty picture in the house's style, and text that plotly takes as it stands."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rooftree.interfaces.words import clean
from rooftree.units import show

Chart = dict[str, Any]

COLOURS = (
    "#2563a8", "#e08a1e", "#3a9d7a", "#b5476b", "#7a68b8", "#7d8b99", "#c9b037", "#4fb0d6", "#8c5a3c", "#51606e",
    "#94b447", "#d98cb3", "#1f6f6b", "#b0a38f",
)  # fmt: skip
"""Of the slices in their order, the same in picture and table."""

_MOST_TICKS, _CLOSEST = 4, 5
"""On an axis of logarithms, and how often the closest two fit into it."""

INK, FAINT, SHADE, ALARM = "#1d2733", "#dfe5ea", "#c5ced6", "#b3261e"


def row_line(name: str, start: int, end: int, line: Mapping[str, object], words: str) -> Chart:
    """Return a horizontal line in the row of a quantity."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [max(1, start), max(1, end)],
        "y": [name, name],
        "line": dict(line),
        "hovertext": [f"{name}, {escaped(words)}"] * 2,
        "hoverinfo": "text",
    }


def blank(traces: Sequence[Chart], height_px: int) -> Chart:
    """Return a figure in the house's looks."""
    axis = {"automargin": True, "gridcolor": FAINT, "zeroline": False}
    return {
        "data": list(traces),
        "layout": {
            "height": height_px,
            "margin": {"l": 10, "r": 14, "t": 26, "b": 10},
            "font": {"family": "system-ui, sans-serif", "size": 13, "color": INK},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "xaxis": dict(axis),
            "yaxis": dict(axis) | {"gridcolor": "rgba(0,0,0,0)"},
        },
    }


def escaped(text: str) -> str:
    """Return a text that plotly shows as it stands: it reads a little HTML."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;")


def ticks(low: float, high: float) -> list[float]:
    """Return two to four round values between two positive ones for an axis of logarithms, far enough from each other.

    >>> ticks(0.6, 14.0), ticks(4400.0, 540e3), ticks(2.1, 2.9)
    ([1.0, 2.0, 5.0, 10.0], [10000.0, 30000.0, 100000.0, 300000.0], [2.2, 2.4, 2.6, 2.8])
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    within: list[float] = []
    for mantissas, ratio in (((1, 2, 5), 2), ((1, 3), 3), ((1,), 10)):
        found = [float(f"{mantissa}e{decade}") for decade in range(first, last + 1) for mantissa in mantissas]
        within = [value for value in found if low <= value <= high]
        if len(within) <= _MOST_TICKS and ratio**_CLOSEST >= high / low:
            return within if len(within) > 1 else _even(low, high)
    return within[:: math.ceil(len(within) / _MOST_TICKS)]


def _even(low: float, high: float) -> list[float]:
    """Return round values that are evenly spaced, between two positive ones that are close together."""
    power = math.floor(math.log10(high - low)) - 1
    for step in (float(f"{mantissa}e{power + more}") for more in (0, 1, 2) for mantissa in (1, 2, 5)):
        steps = range(math.ceil(low / step), math.floor(high / step) + 1)
        if len(steps) <= _MOST_TICKS:
            break
    return [float(f"{number * step:.6g}") for number in steps]


def tick(value: float, unit: str) -> str:
    """Return a round value with its unit, as short as can be.

    >>> tick(0.5, "s"), tick(2.2, "s"), tick(200e3, "1/s"), tick(20.0, "1/s"), tick(0.4, "1")
    ('500 ms', '2.2 s', '200 k/s', '20/s', '0.4')
    """
    digits = next((digits for digits in (1, 2) if math.isclose(value, float(f"{value:.{digits - 1}e}"))), 3)
    if unit != "1/s":
        return show(value, unit, digits)
    return show(value, "B", digits).removesuffix("B").strip() + "/s"  # with a prefix, as bytes have one
