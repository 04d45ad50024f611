"""Walk over a part and what it is made of, and put other values in the place of its figures."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from rooftree.errors import CatalogueError
from rooftree.facts.fields import KIND_OF, fields_of
from rooftree.facts.hardware import Cluster, Part
from rooftree.facts.sources import Figure

Place = tuple[str, str, str]
"""Kind and name of a part, and the key of one of its figures."""


def walk(part: Part) -> Iterator[tuple[str, str, str, Figure]]:
    """Yield kind, name, key and figure of a part and all parts in it, each part once, outer ones first."""
    seen: set[tuple[str, str]] = set()
    waiting: list[Part] = [part]
    while waiting:
        one = waiting.pop(0)
        kind = KIND_OF[type(one)]
        if (kind, one.name) in seen:
            continue
        seen.add((kind, one.name))
        for key, figure in one.figures.items():
            yield kind, one.name, key, figure
        waiting += _inner(one).values()


def with_figure(cluster: Cluster, kind: str, name: str, key: str, value: float) -> Cluster:
    """Return a copy of a cluster with one figure replaced wherever its part occurs; KeyError if it is nowhere."""
    return with_figures(cluster, {(kind, name, key): value})


def with_figures(cluster: Cluster, values: Mapping[Place, float]) -> Cluster:
    """Return a copy of a cluster with several figures replaced; raises KeyError for one that it doesn't have."""
    by_part: dict[tuple[str, str], dict[str, float]] = {}
    for (kind, name, key), value in values.items():
        by_part.setdefault((kind, name), {})[key] = value
    used: set[tuple[str, str]] = set()
    result = _replaced(cluster, by_part, used)
    if missing := by_part.keys() - used:
        raise KeyError(f"no such part in {cluster.name}: {sorted(missing)}")
    return cast("Cluster", result)


def _inner(part: Part) -> dict[str, Part]:
    """Return the parts that a part refers to, by field."""
    return {name: getattr(part, name) for name in fields_of(KIND_OF[type(part)]).references}


def _replaced(part: Part, by_part: Mapping[tuple[str, str], Mapping[str, float]], used: set[tuple[str, str]]) -> Part:
    """Return a part with its figures and those of its inner parts replaced; itself when nothing changes."""
    changes: dict[str, Any] = {}
    for name, inner in _inner(part).items():
        changed = _replaced(inner, by_part, used)
        if changed is not inner:
            changes[name] = changed
    place = (KIND_OF[type(part)], part.name)
    if place in by_part:
        used.add(place)
        changes |= _own_changes(part, by_part[place])
    return replace(part, **changes) if changes else part


def _own_changes(part: Part, values: Mapping[str, float]) -> dict[str, Any]:
    """Return the fields of a part that new values of its figures change."""
    changes: dict[str, Any] = {"figures": dict(part.figures)}
    for key, value in values.items():
        figure = part.figures[key]
        changes["figures"][key] = replace(figure, value=value, low=min(figure.low, value), high=max(figure.high, value))
        stem, _, entry = key.partition(".")
        if isinstance(getattr(part, stem), int):
            value = _whole(part, key, value)
        if entry:
            changes[stem] = {**changes.get(stem, getattr(part, stem)), entry: value}
        else:
            changes[stem] = value
    return changes


def _whole(part: Part, key: str, value: float) -> int:
    """Return the value of a count; raises CatalogueError for a broken one."""
    if value != int(value):
        raise CatalogueError(f"{part.name}: {key} = {value:g} is a count; give a whole number")
    return int(value)
