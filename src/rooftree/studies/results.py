"""The whole answer to a question, as data that a report or a program can read."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING

from rooftree.facts.sources import Figure

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value and the interval that holds the true one at 90 %. The metric's name states the unit."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A named share of a whole: of the step time in seconds, or of the memory in bytes. `what` explains it in words."""

    name: str
    value: float
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A measured row near the question, and what the model says for that row. `error` is predicted / measured - 1."""

    id: str
    what: str
    accelerators: int
    metric: str
    unit: str
    measured: float
    predicted: float
    error: float
    split: str
    source: str
    distance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureUse:
    """A figure that the answer rests on, and the relative change of the headline at the figure's low and high."""

    part: str
    key: str
    figure: Figure
    metric: str
    effect_low: float
    effect_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A runner-up of a search and why it lost."""

    layout: str
    headline: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one question of a scenario.

    `metrics` maps names of docs/nomenclature.md to estimates, the first being the headline. `time` and `memory` add up
    to the headline time and to the bytes used on one accelerator.
    """

    question: str
    title: str
    metrics: Mapping[str, Estimate]
    layout: Mapping[str, int | str]
    time: tuple[Slice, ...]
    memory: tuple[Slice, ...]
    memory_capacity_bytes: float
    extrapolated: bool
    validity: tuple[str, ...]
    neighbours: tuple[Neighbour, ...]
    alternatives: tuple[Alternative, ...]
    candidates: int
    notes: tuple[str, ...]
    figures: tuple[FigureUse, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The largest and the newest that was measured of a quantity, and how far the model is from all its rows."""

    quantity: str
    rows: int
    generations: tuple[str, ...]
    largest_accelerators: int
    largest_id: str
    newest_generation: str
    newest_largest_accelerators: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A figure on which sources disagree: the chosen one, the others, and why."""

    part: str
    key: str
    chosen: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The whole answer.

    `key` is a hash of the scenario, the catalogue and the version; `cluster_accelerators` is what the whole cluster
    has, however few of them a question is about.
    """

    key: str
    version: str
    title: str
    cluster: str
    cluster_accelerators: int
    answers: tuple[Answer, ...]
    conflicts: tuple[Conflict, ...]
    evidence: tuple[Evidence, ...]
    elapsed_s: float


def as_json(result: Result) -> dict[str, object]:
    """Return the result as plain data for JSON: the answers keyed by their question, infinities and NaN as null.

    >>> empty = Result(
    ...     key="k", version="1", title="t", cluster="c", cluster_accelerators=8, answers=(), conflicts=(), evidence=(),
    ...     elapsed_s=0.5,
    ... )
    >>> as_json(empty)["answers"], as_json(empty)["elapsed_s"]
    ({}, 0.5)
    """
    return plain(result) | {"answers": {answer.question: plain(answer) for answer in result.answers}}


def plain(record: "DataclassInstance") -> dict[str, object]:
    """Return a record as plain data for JSON, all the way down.

    >>> plain(Estimate(value=1.0, low=0.5, high=math.inf))
    {'value': 1.0, 'low': 0.5, 'high': None}
    """
    return {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def _plain(value: object) -> object:
    """Return records and mappings as dicts, tuples as lists, infinities and NaN as None."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
