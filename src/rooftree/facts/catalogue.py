"""The catalogue: parts in layers, of which a later one wins figure by figure.

`shipped` comes with rooftree, `fitted` holds what was derived from measurements, `home` is `$ROOFTREE_HOME/catalogue`,
then come the folders that the user names. A part lies in `<layer>/<kind>/<name>.toml`.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, cast, get_type_hints

from rooftree.errors import CatalogueError, nearest
from rooftree.facts.hardware import KINDS, Cluster, Part, Precision
from rooftree.facts.part_files import FigureKeys, PartFile, bind_figure, read_part_file
from rooftree.facts.shipped import shipped
from rooftree.facts.sources import Figure, Source
from rooftree.files import visible

_PartType = TypeVar("_PartType")


@dataclass(frozen=True, slots=True)
class Layer:
    """A folder of part files and what reports call it."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Layers, the weakest first. What was loaded is kept, so equal references give the same part."""

    layers: tuple[Layer, ...]
    loaded: dict[tuple[str, str], Part] = field(default_factory=dict, compare=False, repr=False)
    known_sources: dict[str, Source] = field(default_factory=dict, compare=False, repr=False)


def open_catalogue(extra: Sequence[Path] = ()) -> Catalogue:
    """Return the catalogue of this machine, with the user's folders on top.

    Raises CatalogueError for a folder that isn't there.

    >>> [layer.name for layer in open_catalogue().layers][:2]
    ['shipped', 'fitted']
    """
    base = shipped("catalogue")
    layers = [Layer("shipped", base), Layer("fitted", base / "fitted")]
    home = os.environ.get("ROOFTREE_HOME")
    if home:
        layers.append(Layer("home", Path(home) / "catalogue"))
    missing = [path for path in extra if not path.is_dir()]
    if missing:
        raise CatalogueError(*(f"catalogue {visible(str(path))}: no such folder; check the path" for path in missing))
    return Catalogue((*layers, *(Layer(str(path), path) for path in extra)))


def folders(catalogue: Catalogue) -> list[Path]:
    """Return the folders of all layers, the weakest first."""
    return [layer.path for layer in catalogue.layers]


def names(catalogue: Catalogue, kind: str) -> list[str]:
    """Return the parts of a kind, sorted.

    >>> "gb300" in names(open_catalogue(), "accelerator")
    True
    """
    return sorted({path.stem for layer in catalogue.layers for path in (layer.path / kind).glob("*.toml")})


def find(catalogue: Catalogue, name: str) -> list[str]:
    """Return the kinds that have a part of this name.

    Raises CatalogueError for an unknown name, with the nearest.

    >>> find(open_catalogue(), "gb300")
    ['accelerator']
    """
    kinds = [kind for kind in KINDS if name in names(catalogue, kind)]
    if not kinds:
        every = (one for kind in KINDS for one in names(catalogue, kind))
        raise CatalogueError(f"part '{visible(name)}' is in no layer of the catalogue; {nearest(name[:60], every)}")
    return kinds


def sources(catalogue: Catalogue) -> Mapping[str, Source]:
    """Return every source by its key, from the files `sources*.toml` of all layers.

    >>> sources(open_catalogue())["NV_ULTRA"].publisher
    'NVIDIA'
    """
    if not catalogue.known_sources:
        for layer in catalogue.layers:
            for path in sorted(layer.path.glob("sources*.toml")):
                catalogue.known_sources.update(_sources_of(path))
    return catalogue.known_sources


def _sources_of(path: Path) -> dict[str, Source]:
    """Read one file of sources."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        return {key: Source(key=key, **entry) for key, entry in table.items()}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, TypeError) as fault:
        raise CatalogueError(f"{visible(str(path))}: {visible(str(fault))}; mend the file of sources") from None


def cluster(catalogue: Catalogue, name: str) -> Cluster:
    """Return a cluster with all its parts; raises CatalogueError with every fault of their files.

    >>> cluster(open_catalogue(), "azure-gb300-4608").racks
    64
    """
    return cast("Cluster", load(catalogue, "cluster", name))


def precision(catalogue: Catalogue, name: str) -> Precision:
    """Return a number format.

    >>> precision(open_catalogue(), "nvfp4").bits
    4.5
    """
    return cast("Precision", load(catalogue, "precision", name))


def load(catalogue: Catalogue, kind: str, name: str) -> Part:
    """Return a part with all parts that it refers to.

    Raises CatalogueError with every fault of its files: unknown name or figure (with the nearest), a missing figure, a
    figure without a source or with a wrong unit, an assumed one without a range.
    """
    if kind not in KINDS:
        raise CatalogueError(f"kind of part '{visible(kind)}' is not known; {nearest(kind[:60], KINDS)}")
    if (kind, name) not in catalogue.loaded:
        catalogue.loaded[kind, name] = _build(catalogue, kind, name)
    return catalogue.loaded[kind, name]


def check(catalogue: Catalogue) -> None:
    """Load every part; raises CatalogueError with the faults of all files.

    >>> check(open_catalogue())
    """
    faults: list[str] = []
    for kind in KINDS:
        for name in names(catalogue, kind):
            try:
                load(catalogue, kind, name)
            except CatalogueError as fault:
                faults += fault.faults
    if faults:
        raise CatalogueError(*dict.fromkeys(faults))


def _build(catalogue: Catalogue, kind: str, name: str) -> Part:
    """Merge the layers of a part, bind its fields, and gather every fault."""
    found = [(layer, layer.path / kind / f"{name}.toml") for layer in catalogue.layers]
    files = [(layer.name, read_part_file(path)) for layer, path in found if path.is_file()]
    if not files:
        hint = nearest(name[:60], names(catalogue, kind))
        raise CatalogueError(f"{kind} '{visible(name)}' is in no layer of the catalogue; {hint}")
    faults: list[str] = []
    figures, texts, label = dict[str, Figure](), dict[str, str](), files[-1][1].label
    known = set(sources(catalogue))
    for layer, file in files:
        texts.update(file.texts)
        for key, keys in file.figures.items():
            figure, lines = bind_figure(key, keys, layer, known)
            faults += [f"{file.label}: {line}" for line in lines]
            figures |= {key: figure} if figure is not None else {}
    part = KINDS[kind]
    values, lines = _values(catalogue, part, texts, figures, _written(files))
    faults += [line if ".toml: " in line else f"{label}: {line}" for line in lines]
    if faults:
        raise CatalogueError(*dict.fromkeys(faults))
    return part(name=name, figures=figures, **values)


def _written(files: Iterable[tuple[str, PartFile]]) -> Mapping[str, FigureKeys]:
    """Return every figure that some file has, right or wrong, so that a wrong one is not called missing as well."""
    return {key: keys for _, file in files for key, keys in file.figures.items()}


def _values(
    catalogue: Catalogue,
    part: type[Part],
    texts: Mapping[str, str],
    figures: Mapping[str, Figure],
    written: Mapping[str, FigureKeys],
) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of a part from its texts and figures, and what is missing or not known."""
    hints = get_type_hints(part)
    own = [each.name for each in fields(part) if each.name not in ("name", "figures")]
    values, faults, used_texts, used_keys = dict[str, Any](), list[str](), set[str](), set[str]()
    for key in own:
        hint = hints[key]
        if hint in (int, float):
            used_keys.add(key)
            if key in figures:
                values[key] = _number(key, figures[key].value, hint, faults)
            elif key not in written:
                faults.append(f"figures.{key}: is missing; add it with its source")
        elif hint is str or hint in KINDS.values():
            used_texts.add(key)
            if key not in texts:
                faults.append(f"{key}: is missing; add it")
            else:
                values[key] = texts[key] if hint is str else _reference(catalogue, hint, texts[key], faults)
        else:
            entries = {entry: figure.value for entry, figure in figures.items() if entry.startswith(f"{key}.")}
            used_keys |= {entry for entry in written if entry.startswith(f"{key}.")}
            values[key] = {entry.split(".", 1)[1]: value for entry, value in entries.items()}
            if not any(entry.startswith(f"{key}.") for entry in written):
                faults.append(f'figures.{key}: has no entries; add [figures."{key}.…"]')
    faults += [f"{visible(key)}: is not known here; {nearest(key[:60], own)}" for key in texts.keys() - used_texts]
    strange = sorted(written.keys() - used_keys)
    faults += [f"figures.{visible(key)}: is not known here; {nearest(key[:60], own)}" for key in strange]
    return values, faults


def _number(key: str, value: float, hint: type, faults: list[str]) -> float | int:
    """Return a figure as the field's type; a count must be whole."""
    if hint is int and not float(value).is_integer():
        faults.append(f"figures.{key} = {value}: must be a whole number")
    return int(value) if hint is int else value


def _reference(catalogue: Catalogue, hint: type, name: str, faults: list[str]) -> Part | None:
    """Return the part that a text names; its faults are added to the others."""
    kind = next(kind for kind, part in KINDS.items() if part is hint)
    try:
        return load(catalogue, kind, name)
    except CatalogueError as fault:
        faults += fault.faults
        return None
