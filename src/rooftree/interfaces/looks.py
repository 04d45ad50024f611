"""How pictures look: colours, an empty picture in the house's style, and text that plotly takes as it stands."""

from collections.abc import Mapping, Sequence
from typing import Any

from rooftree.interfaces.words import clean

Chart = dict[str, Any]

COLOURS = (
    "#2563a8", "#e08a1e", "#3a9d7a", "#b5476b", "#7a68b8", "#7d8b99", "#c9b037", "#4fb0d6", "#8c5a3c", "#51606e",
    "#94b447", "#d98cb3", "#1f6f6b", "#b0a38f",
)  # fmt: skip
"""Of the slices in their order, the same in picture and table."""

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
