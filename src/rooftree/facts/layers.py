"""Layers of part files, and one part out of all of them: a later layer wins figure by figure."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rooftree.errors import nearest
from rooftree.facts.fields import fields_of
from rooftree.facts.hardware import KINDS, Part, Rack
from rooftree.facts.part_files import PartFile, read_part, read_sources
from rooftree.facts.sources import Figure, Source
from rooftree.files import visible


@dataclass(frozen=True, slots=True)
class Layer:
    """One folder of part files: `KIND/NAME.toml` and `sources*.toml`."""

    name: str
    path: Path


@dataclass(slots=True)
class Read:
    """What was read so far; a part that cannot be made is None, and its faults stand beside it."""

    sources: tuple[dict[str, Source], list[str]] | None = None
    names: dict[str, list[str]] = field(default_factory=dict)
    parts: dict[tuple[str, str], tuple[Part | None, list[str]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Layers, the last one strongest, and what was read from them so far."""

    layers: tuple[Layer, ...]
    read: Read = field(default_factory=Read, compare=False, repr=False)


def all_sources(catalogue: Catalogue) -> tuple[dict[str, Source], list[str]]:
    """Return the sources of all layers and the faults of their files."""
    if catalogue.read.sources is None:
        found: dict[str, Source] = {}
        faults: list[str] = []
        for layer in catalogue.layers:
            for file in sorted(layer.path.glob("sources*.toml")):
                stated, wrong = read_sources(file, layer.name)
                found |= stated
                faults += wrong
        catalogue.read.sources = found, faults
    return catalogue.read.sources


def names_of(catalogue: Catalogue, kind: str) -> list[str]:
    """Return the names of all parts of a kind, sorted; raises CatalogueError for an unknown kind."""
    if kind not in catalogue.read.names:
        fields_of(kind)
        files = (file for layer in catalogue.layers for file in (layer.path / kind).glob("[!.]*.toml"))
        catalogue.read.names[kind] = sorted({file.stem for file in files})
    return catalogue.read.names[kind]


def part_of(catalogue: Catalogue, kind: str, name: str) -> tuple[Part | None, list[str]]:
    """Return a part, or None, and the faults of its files and references; each part is read once."""
    if (kind, name) not in catalogue.read.parts:
        catalogue.read.parts[kind, name] = _merged(catalogue, kind, name)
    return catalogue.read.parts[kind, name]


def _merged(catalogue: Catalogue, kind: str, name: str) -> tuple[Part | None, list[str]]:
    """Read the part's file in each layer, the later over the earlier, and its references."""
    known_sources, wrong_sources = all_sources(catalogue)
    files, faults = [], list(wrong_sources)
    for layer in catalogue.layers:
        path = layer.path / kind / f"{name}.toml"
        if path.exists() or path.is_symlink():  # a link to nowhere is a fault, not an absent file
            file, wrong = read_part(path, kind, layer.name, known_sources)
            files.append(file)
            faults += wrong
    faults += _absent(kind, files)
    figures: dict[str, Figure] = {}
    given: dict[str, tuple[str, PartFile]] = {}
    for file in files:
        figures |= file.figures
        given |= {key: (text, file) for key, text in file.texts.items()}
    values: dict[str, Any] = {key: text for key, (text, _) in given.items()}
    for key, other in fields_of(kind).references.items():
        if key in given:
            values[key], wrong = _reference(catalogue, other, key, *given[key])
            faults += wrong
    if faults:
        return None, faults
    part = _built(kind, name, values, figures)
    mismatch = unfit(part)
    return (None, [f"{visible(str(files[-1].file))}: {mismatch}"]) if mismatch else (part, [])


def unfit(part: Part) -> str:
    """Return how the figures of a part contradict each other, or an empty text."""
    if not isinstance(part, Rack):
        return ""
    accelerators, domain = part.hosts * part.host.accelerators, part.domain_accelerators
    if accelerators % domain == 0:
        return ""
    return f"figures.domain_accelerators = {domain}: must divide the rack's {accelerators} accelerators"


def _absent(kind: str, files: list[PartFile]) -> list[str]:
    """Return a fault for each text and figure that no layer gives; the first file is named."""
    known, named, first = (
        fields_of(kind),
        {key: "" for file in files for key in file.named},
        visible(str(files[0].file)),
    )
    wanted = [key for key in (*known.texts, *known.references) if key not in named]
    return [f'{first}: {key}: missing; no layer gives it; add {key} = "…"' for key in wanted] + [
        f'{first}: figures.{key}: missing; no layer gives it; add [figures."{key}"]' for key in known.missing(named)
    ]


def _reference(catalogue: Catalogue, kind: str, key: str, name: str, file: PartFile) -> tuple[Part | None, list[str]]:
    """Return the part that `key` of a file names, and its faults."""
    known = names_of(catalogue, kind)
    if name in known:
        return part_of(catalogue, kind, name)
    hint = nearest(name[:60], known)
    return None, [f"{visible(str(file.file))}: {key}: '{visible(name)}' is no {kind} of the catalogue; {hint}"]


def _built(kind: str, name: str, values: dict[str, Any], figures: dict[str, Figure]) -> Part:
    """Make the record from texts, parts and figures."""
    known = fields_of(kind)
    for key in known.numbers:
        value = figures[key].value
        values[key] = int(value) if key in known.whole else value
    for stem, entries in known.entries.items():
        keys = {entry: f"{stem}.{entry}" for entry in entries}
        values[stem] = {entry: figures[key].value for entry, key in keys.items() if key in figures}
    return KINDS[kind](name=name, figures=figures, **values)
