"""How numbers, figures and layouts are written for a person, on the terminal and in the report alike."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from rooftree.errors import ScenarioError
from rooftree.facts.sources import Figure
from rooftree.interfaces.metrics import described, metrics
from rooftree.studies.results import Estimate, FigureUse, Neighbour, Result
from rooftree.units import UNITS, parse, show

CODES = "tp tensor, cp context, pp pipeline, dp data, ep expert parallel; vp chunks a stage; mb microbatch"
"""The short form of a layout, for a reader."""

GPUS = "gpus"
"""Key of a layout that says how many accelerators the question is about."""

_OURS = ("shipped", "fitted")
"""Layers of the catalogue that are not the user's."""


def clean(text: str) -> str:
    r"""Return a text of a file without control characters, which could command a terminal.

    >>> clean("rack\x1b[31m\t1")
    'rack?[31m 1'
    """
    spaced = " ".join(text.split())
    return "".join(letter if letter.isprintable() else "?" for letter in spaced)


def quantity(name: str, value: float) -> str:
    """Return a value of a metric in words.

    >>> quantity("mfu", 0.4213), quantity("tokens_per_s", 12345.6), quantity("step_s", 0.0123)
    ('42.1 %', '12,300 tokens/s', '12.3 ms')
    """
    metric = described(name)
    if metric.percent:
        return percent(value)
    shown = show(value, metric.unit)
    return f"{shown.removesuffix(' /s')} {metric.counts}/s" if metric.counts else shown


def neighbour_value(row: Neighbour, value: float) -> str:
    """Return a measured or predicted value of a neighbour, in the row's own unit if its metric is none of ours."""
    if row.metric in metrics():
        return quantity(row.metric, value)
    return show(value, row.unit) if row.unit in UNITS else clean(f"{show(value, '1')} {row.unit}")


def off(row: Neighbour) -> str:
    """Return how far a prediction is from a measured time or rate, as a speed; a signed change for anything else.

    A time below the measured one is too fast, a rate above it is.
    """
    is_time, is_rate = row.unit == "s", "/s" in row.unit
    if row.error == 0 or not math.isfinite(row.error) or not (is_time or is_rate):
        return change(row.error)
    return f"{percent(abs(row.error), 2)} too {'fast' if (row.error < 0) == is_time else 'slow'}"


def interval(name: str, estimate: Estimate) -> str:
    """Return the range of an estimate in words.

    >>> interval("step_s", Estimate(value=1.0, low=0.9, high=1.25))
    '900 ms – 1.25 s'
    >>> interval("step_s", Estimate(value=1.0, low=1.0, high=1.0))
    'exact'
    """
    if estimate.low == estimate.value == estimate.high:
        return "exact"
    return _between(quantity(name, estimate.low), quantity(name, estimate.high))


def _between(low: str, high: str) -> str:
    """Return two quantities as a range; a unit that they share is written once."""
    number, _, unit = low.partition(" ")
    other, _, unit_too = high.partition(" ")
    return f"{number} – {other} {unit}".strip() if unit == unit_too else f"{low} – {high}"


def percent(share: float, digits: int = 3) -> str:
    """Return a share as a percentage.

    >>> percent(0.0512), percent(1.0)
    ('5.12 %', '100 %')
    """
    return f"{show(100 * share, '1', digits)} %"


def change(share: float) -> str:
    """Return a relative change with its sign.

    >>> change(0.042), change(-0.31), change(0.0)
    ('+4.2 %', '−31 %', '0 %')
    """
    if share == 0 or not math.isfinite(share):
        return "0 %" if share == 0 else "?"
    return f"{'+' if share > 0 else '−'}{percent(abs(share), 2)}"


def figure_value(figure: Figure) -> str:
    """Return a figure as we use it: in its published spelling where that is a plain quantity of ours, else in SI."""
    try:
        as_published = math.isclose(parse(figure.as_published, figure.unit), figure.value, rel_tol=1e-9)
    except ScenarioError:
        as_published = False
    return clean(figure.as_published) if as_published else show(figure.value, figure.unit)


def figure_here(figure: Figure) -> str:
    """Return a figure's value in the form of `figure_range`, for a row that shows both."""
    return show(figure.value, figure.unit)


def figure_range(figure: Figure) -> str:
    """Return the range of a figure."""
    if figure.exact:
        return "exact"
    return _between(show(figure.low, figure.unit), show(figure.high, figure.unit))


def layout_words(layout: Mapping[str, int | str]) -> str:
    """Return a layout on one line, without what is 1 or none.

    >>> layout_words({"tensor": 8, "pipeline": 1, "recompute": "selective", "shard": "none"})
    'tensor 8, recompute selective'
    """
    told = [f"{key} {value}" for key, value in layout.items() if value not in (1, "", "none")]
    return clean(", ".join(told)) or "one accelerator, nothing split"


def scale(result: Result) -> int:
    """Return how many accelerators the largest question of a result is about."""
    return max(_asked(result).values(), default=result.cluster_accelerators)


def place(result: Result) -> str:
    """Return the accelerators that the questions of a result are about, and the cluster that they belong to."""
    asked = _asked(result)
    counts = f"{scale(result):,}"
    if len(set(asked.values())) > 1:
        counts = " and ".join(f"{count:,} ({question})" for question, count in asked.items())
    return clean(f"{counts} accelerators of {result.cluster}")


def _asked(result: Result) -> dict[str, int]:
    """Return the accelerators of each question; all of the result, if a question does not say."""
    return {answer.question: int(answer.layout.get(GPUS, result.cluster_accelerators)) for answer in result.answers}


def own_figures(figures: Iterable[Figure]) -> str:
    """Return the layers of the user's own among those of figures, each with how many it gave; empty if none."""
    counts = Counter(figure.layer for figure in figures if figure.layer not in _OURS)
    return ", ".join(f"{clean(layer)} ({count:,})" for layer, count in counts.items())


def effect(use: FigureUse, headline: str) -> str:
    """Return how far a figure's range moves a metric, which is named if it isn't the headline."""
    words = f"{change(use.effect_low)} … {change(use.effect_high)}"
    return words if use.metric == headline else f"{words} {use.metric}"


def by_weight(figures: tuple[FigureUse, ...]) -> list[FigureUse]:
    """Return the figures that an answer rests on as we list them: assumed ones first, then by their effect."""

    def weight(use: FigureUse) -> tuple[bool, float]:
        return (use.figure.basis != "assumed", -max(abs(use.effect_low), abs(use.effect_high)))

    return sorted(figures, key=weight)
