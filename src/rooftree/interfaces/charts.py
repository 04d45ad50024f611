"""The pictures of an answer, as plotly figures in plain data: nothing here needs plotly itself."""

from collections.abc import Sequence

from rooftree.interfaces.looks import ALARM, COLOURS, INK, SHADE, Chart, blank, escaped, row_line
from rooftree.interfaces.words import by_weight, change, neighbour_value, off
from rooftree.studies.results import Answer, Evidence, FigureUse, Neighbour, Slice
from rooftree.units import show

_MOST_FIGURES = 12
_ROW_PX = 30
_CHANGE = "change of the headline, or of the metric after →"


def time_chart(answer: Answer) -> Chart:
    """Where the time goes: one bar, stacked."""
    return _stack(answer.time, "s")


def memory_chart(answer: Answer) -> Chart:
    """Where the memory of one accelerator goes, against its capacity."""
    chart = _stack(answer.memory, "B")
    capacity_bytes = answer.memory_capacity_bytes
    line = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": capacity_bytes, "x1": capacity_bytes}
    label = {
        "x": capacity_bytes,
        "y": 1.02,
        "yref": "paper",
        "yanchor": "bottom",
        "xanchor": "right",
        "showarrow": False,
    }
    used_bytes = sum(part.value for part in answer.memory)
    chart["layout"]["height"], chart["layout"]["margin"]["t"] = 122, 26
    chart["layout"].update(
        shapes=[line | {"line": {"color": ALARM, "width": 2, "dash": "dot"}}],
        annotations=[label | {"text": f"capacity {show(capacity_bytes, 'B')}", "font": {"color": ALARM}}],
    )
    chart["layout"]["xaxis"]["range"] = [0, 1.02 * max(capacity_bytes, used_bytes)]
    return chart


def tornado(answer: Answer) -> Chart:
    """How far each figure's range moves the headline; the widest on top, assumed ones in another colour."""
    moving = [use for use in by_weight(answer.figures) if _reach(use) > 0]
    uses = sorted(moving, key=_reach, reverse=True)[:_MOST_FIGURES][::-1]
    headline = next(iter(answer.metrics), "")
    moved = ["" if use.metric == headline else f" → {use.metric}" for use in uses]
    names = [escaped(f"{use.part} · {use.key}{more}") for use, more in zip(uses, moved, strict=True)]
    ends: tuple[tuple[str, list[float]], ...] = (
        ("at its low", [use.effect_low for use in uses]),
        ("at its high", [use.effect_high for use in uses]),
    )
    colours = [[COLOURS[1] if use.figure.basis == "assumed" else COLOURS[0] for use in uses]] * len(ends)
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "x": effects,
            "y": names,
            "marker": {"color": colour, "opacity": 0.55 if name == "at its low" else 1.0},
            "hovertext": [f"{at} {name}: {change(effect)}" for at, effect in zip(names, effects, strict=True)],
            "hoverinfo": "text",
        }
        for (name, effects), colour in zip(ends, colours, strict=True)
    ]
    chart = blank(bars, height_px=90 + _ROW_PX * len(uses))
    chart["layout"].update(barmode="overlay", showlegend=False)
    chart["layout"]["xaxis"].update(tickformat="+.0%", title={"text": _CHANGE}, zerolinecolor=INK)
    return chart


def scatters(answer: Answer) -> dict[str, Chart]:
    """Measured against predicted for the nearest measured rows, one picture a metric."""
    metrics = dict.fromkeys(row.metric for row in answer.neighbours)
    return {name: _scatter([row for row in answer.neighbours if row.metric == name]) for name in metrics}


def evidence_map(evidence: Sequence[Evidence], accelerators: int) -> Chart:
    """Up to which scale each quantity was measured, of any generation and of the newest; dashed beyond."""
    rows = list(evidence)[::-1]
    names = [escaped(row.quantity) for row in rows]
    traces: list[Chart] = []
    for name, row in zip(names, rows, strict=True):
        newest = f"{row.newest_generation}: to {row.newest_largest_accelerators:,}"
        anything = f"any generation: to {row.largest_accelerators:,} ({row.largest_id})"
        traces.append(row_line(name, 1, row.largest_accelerators, {"color": SHADE, "width": 14}, anything))
        traces.append(row_line(name, 1, row.newest_largest_accelerators, {"color": COLOURS[0], "width": 6}, newest))
        if accelerators > row.newest_largest_accelerators:
            beyond = {"color": ALARM, "width": 2, "dash": "dash"}
            reach = row_line(name, row.newest_largest_accelerators, accelerators, beyond, "beyond what was measured")
            traces.append(reach)
    chart = blank(traces, height_px=110 + 34 * len(rows))
    line = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": accelerators, "x1": accelerators}
    label = {"yref": "paper", "y": 1.0, "yanchor": "bottom", "showarrow": False, "xref": "paper", "x": 1.0}
    chart["layout"].update(
        showlegend=False,
        shapes=[line | {"line": {"color": INK, "width": 1.5}}],
        annotations=[label | {"xanchor": "right", "text": f"│ this question: {accelerators:,} accelerators"}],
    )
    chart["layout"]["yaxis"]["range"] = [-0.6, len(rows) - 0.4]
    chart["layout"]["xaxis"].update(type="log", title={"text": "accelerators"}, dtick=1, tickformat=",d")
    return chart


def _scatter(rows: list[Neighbour]) -> Chart:
    """Return the picture of one metric's rows around the diagonal."""
    values = [value for row in rows for value in (row.measured, row.predicted) if value > 0] or [1.0]
    ends = [min(values) / 1.3, max(values) * 1.3]
    diagonal: Chart = {
        "type": "scatter",
        "mode": "lines",
        "name": "equal",
        "x": ends,
        "y": ends,
        "line": {"color": COLOURS[5], "dash": "dot", "width": 1},
        "hoverinfo": "skip",
    }
    traces = [diagonal]
    splits = list(dict.fromkeys(row.split for row in rows))
    for split, colour in zip(splits, COLOURS, strict=False):
        ours = [row for row in rows if row.split == split]
        words = [f"measured {neighbour_value(row, row.measured)}, we are {off(row)}" for row in ours]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": f"{split} rows",
                "x": [row.measured for row in ours],
                "y": [row.predicted for row in ours],
                "marker": {"color": colour, "size": 11},
                "hovertext": [f"{escaped(row.what)}<br>{told}" for row, told in zip(ours, words, strict=True)],
                "hoverinfo": "text",
            }
        )
    chart = blank(traces, height_px=340)
    axis = {"type": "log", "tickformat": "~s", "nticks": 6}
    chart["layout"]["xaxis"].update(axis, title={"text": "measured"})
    chart["layout"]["yaxis"].update(axis, title={"text": "predicted"})
    return chart


def _stack(slices: Sequence[Slice], unit: str) -> Chart:
    """Return one stacked bar of the slices, in their order."""
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": escaped(part.name),
            "x": [part.value],
            "y": [""],
            "marker": {"color": COLOURS[index % len(COLOURS)], "line": {"color": "white", "width": 1}},
            "hovertext": [escaped(f"{part.name}: {show(part.value, unit)}. {part.what}")],
            "hoverinfo": "text",
        }
        for index, part in enumerate(slices)
    ]
    chart = blank(bars, height_px=104)
    chart["layout"].update(barmode="stack", bargap=0.1, showlegend=False)
    chart["layout"]["margin"]["t"] = 8
    whole = sum(part.value for part in slices)
    chart["layout"]["xaxis"].update(tickformat="~s", ticksuffix=unit, range=[0, 1.02 * whole])
    return chart


def _reach(use: FigureUse) -> float:
    """Return the larger of a figure's two effects."""
    return max(abs(use.effect_low), abs(use.effect_high))
