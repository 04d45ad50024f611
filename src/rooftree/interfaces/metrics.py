"""What each metric means and how it is shown: the data of `metrics.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from rooftree.errors import ScenarioError, nearest
from rooftree.units import unit_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric in words. `counts` names what a rate counts; `better` is `lower`, `higher` or empty.

    `also` are other names that it goes by.
    """

    name: str
    title: str
    unit: str
    equation: str = ""
    inputs: tuple[str, ...] = ()
    model: str = ""
    validity: str = ""
    source: str = ""
    better: str = ""
    counts: str = ""
    percent: bool = False
    also: tuple[str, ...] = ()


@cache
def metrics() -> Mapping[str, Metric]:
    """Return every explained metric by name.

    >>> metrics()["mfu"].percent
    True
    """
    tables = tomllib.loads((files("rooftree.interfaces") / "metrics.toml").read_text(encoding="utf-8"))
    return {name: _metric(name, table) for name, table in tables.items()}


def metric(name: str) -> Metric:
    """Return an explained metric by its name or another that it goes by, in whatever case.

    >>> metric("TPOT").name
    'time_per_output_token_s'
    >>> metric("step")
    Traceback (most recent call last):
    ...
    rooftree.errors.ScenarioError: there is no metric 'step'; did you mean 'step_s'?
    """
    called = {other: one for one in metrics().values() for other in (one.name, *one.also)}
    if name.casefold() not in called:
        raise ScenarioError(f"there is no metric '{name[:60]}'; {nearest(name[:60], called)}")
    return called[name.casefold()]


def described(name: str) -> Metric:
    """Return a metric for showing it; one that nobody explained is called by its name, in the unit of its suffix.

    >>> described("spare_bytes").title, described("spare_bytes").unit
    ('spare bytes', 'B')
    """
    if name in metrics():
        return metrics()[name]
    return Metric(name=name, title=name.replace("_", " "), unit=unit_of(name))


def _metric(name: str, table: Mapping[str, Any]) -> Metric:
    """Return the metric of a table, whose lists become tuples."""
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Metric(name=name, **fields)
