"""What `rooftree doctor` looks at: each check says what it found, and none stops the others."""

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

from rooftree import __version__
from rooftree.errors import RooftreeError
from rooftree.interfaces.words import clean

_OLDEST = (3, 11)
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at; `faults` are told one by one below it."""

    what: str
    good: bool
    detail: str
    faults: tuple[str, ...] = ()


def all_checks(catalogues: Sequence[Path]) -> list[Check]:
    """Return every check, in the order of a person's questions."""
    own = [_checked("python", _python), _checked("rooftree", _rooftree)]
    dependencies = [_checked(name, partial(_dependency, name)) for name in _dependencies()]
    data = [_checked("metrics", _metrics), _checked("report", _report)]
    return own + dependencies + data + list(_parts(catalogues))


def _checked(what: str, look: Callable[[], str]) -> Check:
    """Return the outcome of one look; whatever it raises is a finding."""
    try:
        return Check(what=what, good=True, detail=look())
    except Exception as fault:
        return Check(what=what, good=False, detail=clean(f"{type(fault).__name__}: {fault}"))


def _python() -> str:
    """Return the version of Python, which must be recent enough."""
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < _OLDEST:
        raise RooftreeError(f"{found} is too old; install {'.'.join(map(str, _OLDEST))} or later")
    return f"{found}, {sys.executable}"


def _rooftree() -> str:
    """Return the version of rooftree and where it lies."""
    return f"{__version__}, {files('rooftree')}"


def _dependencies() -> list[str]:
    """Return the packages that rooftree cannot do without, extras left out."""
    required = metadata.requires("rooftree") or []
    names = [_NAME.match(line.strip()) for line in required if "extra ==" not in line]
    return [name[0] for name in names if name]


def _dependency(name: str) -> str:
    """Return the version of a package that can be imported."""
    importlib.import_module(name)
    return metadata.version(name)


def _metrics() -> str:
    """Read the explanations of the metrics."""
    from rooftree.interfaces.metrics import metrics

    return f"{len(metrics())} explained"


def _report() -> str:
    """Find what a report is made of."""
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

    places = [files("rooftree.interfaces") / "templates" / f"report.{ending}" for ending in ("html.j2", "css", "js")]
    missing = [str(place) for place in places if not place.is_file()]
    if missing:
        raise RooftreeError(f"missing: {', '.join(missing)}; install rooftree again")
    return f"templates and plotly.js ({len(get_plotlyjs()) // 1000:,} kB) found"


def _parts(catalogues: Sequence[Path]) -> Iterator[Check]:
    """Look at each layer of the catalogue and load each part; each fault is told where it is met first."""
    try:
        from rooftree.facts.catalogue import architecture, architectures, load, names, open_catalogue, sources
        from rooftree.facts.hardware import KINDS

        catalogue = open_catalogue(catalogues)
    except (ImportError, RooftreeError) as fault:
        yield Check(what="catalogue", good=False, detail="cannot be opened", faults=_faults(fault))
        return
    for layer in catalogue.layers:
        yield Check(what=f"layer {layer.name}", good=True, detail=str(layer.path))
    told: set[str] = set()
    try:
        yield Check(what="sources", good=True, detail=f"{len(sources(catalogue))} documents")
    except RooftreeError as fault:
        told.update(_faults(fault))
        yield Check(what="sources", good=False, detail="cannot all be read", faults=_faults(fault))
    for kind in KINDS:
        loads = {name: partial(load, catalogue, kind, name) for name in names(catalogue, kind)}
        yield _all_of(kind, "parts", loads, told)
    shapes = {name: partial(architecture, catalogue, name) for name in architectures(catalogue)}
    yield _all_of("architecture", "shapes", shapes, told)


def _all_of(what: str, things: str, looks: Mapping[str, Callable[[], Any]], told: set[str]) -> Check:
    """Return the outcome of several looks; faults go to `told`, and those that are there already are not told again."""
    found, broken, new = [], [], list[str]()
    for name, look in looks.items():
        try:
            found.append(look())
        except Exception as fault:
            broken.append(name)
            new += [line for line in _faults(fault) if line not in told]
            told.update(new)
    if broken:
        known = "" if new else "; the faults are told above"
        which = f"{len(broken)} of {len(looks)} {things} cannot be used: {', '.join(broken)}"
        return Check(what=what, good=False, detail=clean(which) + known, faults=tuple(new))
    figures = sum(len(getattr(part, "figures", ())) for part in found)
    return Check(what=what, good=True, detail=f"{len(found)} {things}" + (f", {figures} figures" if figures else ""))


def _faults(fault: Exception) -> tuple[str, ...]:
    """Return the lines of a fault, one for each thing that is wrong."""
    lines = fault.faults if isinstance(fault, RooftreeError) else (f"{type(fault).__name__}: {fault}",)
    return tuple(clean(line) for line in lines)
