"""Architectures of a catalogue: `architectures/<name>.toml` in each of its layers.

A shape is one thing: a file of a later layer replaces the one of the same name in an earlier layer as a whole. The name
is the file's; everything else stands in it:

    title = "Llama 3.1 8B"
    source = "HF_LLAMA31_8B"      # key into sources*.toml
    where = "config.json"
    layers = 32                   # and the other numbers of Transformer
    [attention]
    kind = "grouped-query"        # or "latent"
    heads = 32                    # and the other numbers of GroupedQuery or Latent
    [experts]                     # left out in dense models
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from rooftree.errors import CatalogueError, nearest
from rooftree.facts.architectures import Experts, GroupedQuery, Latent, Transformer
from rooftree.facts.shapes import RANGES, relation_faults
from rooftree.facts.tables import Table
from rooftree.files import raise_all, read_text, toml_table, visible
from rooftree.units import parse

FOLDER = "architectures"
_LIMIT_BYTES = int(parse("64 KiB", "B"))
_KINDS: Mapping[str, type[GroupedQuery | Latent]] = {"grouped-query": GroupedQuery, "latent": Latent}
_TEXTS = ("title", "source", "where")
_TRUTHS = ("gated", "tied_embeddings")


def read_architecture(path: Path) -> Transformer:
    """Return the architecture of a file; its name is the file's.

    Raises CatalogueError with every fault of the file at once: missing and unknown keys, wrong kinds of values, numbers
    out of range, numbers that don't fit together.

    >>> read_architecture(Path("no/such.toml"))
    Traceback (most recent call last):
    ...
    rooftree.errors.CatalogueError: no/such.toml: no such file; check the path
    """
    label = visible(str(path))
    text = read_text(path, _LIMIT_BYTES, CatalogueError)
    table: dict[str, object] = toml_table(text, label, CatalogueError)
    return _transformer(label, path.stem, Table(table, "", []))


def architecture_names(folders: Sequence[Path]) -> tuple[str, ...]:
    """Return the names of the architectures in the layers of a catalogue, sorted.

    A layer without architectures, or that isn't there, has none.

    >>> architecture_names([Path("no/such/layer")])
    ()
    """
    return tuple(sorted(_paths(folders)))


def find_architecture(name: str, folders: Sequence[Path]) -> Transformer:
    """Return an architecture by name from the layers of a catalogue, of which the last that has it wins.

    Raises CatalogueError for an unknown name, with the nearest, and for a file with faults.

    >>> find_architecture("llama-3.1-8b", [Path("no/such/layer")])
    Traceback (most recent call last):
    ...
    rooftree.errors.CatalogueError: architecture 'llama-3.1-8b' is in no layer of the catalogue; known: none
    """
    paths = _paths(folders)
    if name not in paths:
        hint = nearest(name[:60], paths)
        raise CatalogueError(f"architecture '{visible(name)}' is in no layer of the catalogue; {hint}")
    return read_architecture(paths[name])


def write_architecture(transformer: Transformer) -> str:
    """Return the text of an architecture's file; `read_architecture` gives back the same from `<name>.toml`.

    >>> write_architecture(llama).splitlines()[:2]
    ['title = "Llama 3.1 8B"', 'source = "HF_LLAMA31_8B"']
    """
    attention, experts = transformer.attention, transformer.experts
    kind = next(name for name, part in _KINDS.items() if isinstance(attention, part))
    lines = [f"{key} = {_quoted(getattr(transformer, key))}" for key in _TEXTS]
    lines += [f"{key} = {str(getattr(transformer, key)).lower()}" for key in _TRUTHS]
    lines += _numbers(transformer)
    if transformer.notes:
        lines += ["notes = [", *(f"  {_quoted(note)}," for note in transformer.notes), "]"]
    lines += ["", "[attention]", f"kind = {_quoted(kind)}", *_numbers(attention)]
    if experts is not None:
        lines += ["", "[experts]", *_numbers(experts)]
    return "\n".join(lines) + "\n"


def _paths(folders: Sequence[Path]) -> dict[str, Path]:
    """Return name → file, later layers over earlier ones."""
    return {path.stem: path for folder in folders for path in (folder / FOLDER).glob("[!.]*.toml")}


def _numbers(part: Transformer | GroupedQuery | Latent | Experts) -> list[str]:
    """Return a line for each whole number of a part."""
    return [f"{entry.name} = {getattr(part, entry.name)}" for entry in fields(part) if entry.name in RANGES]


def _quoted(text: str) -> str:
    r"""Return a TOML string.

    >>> _quoted('a "b" \n')
    '"a \\"b\\" \\U0000000a"'
    """
    special = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(special.get(c) or (c if c.isprintable() else f"\\U{ord(c):08x}") for c in text) + '"'


def _transformer(label: str, name: str, table: Table) -> Transformer:
    """Return what a table describes, or raise all its faults."""
    numbers = table.integers(Transformer, *_TEXTS, *_TRUTHS, "notes", "attention", "experts")
    title, source, where = (table.text(key) for key in _TEXTS)
    gated, tied = (table.truth(key) for key in _TRUTHS)
    notes = table.texts("notes")
    heads = table.table("attention")
    kind = heads.text("kind") if "attention" in table.values else ""
    part = _KINDS.get(kind, GroupedQuery)
    if kind and kind not in _KINDS:
        heads.fault("kind", f"is not known; {nearest(kind[:60], _KINDS)}")
    attention = heads.integers(part, "kind") if kind in _KINDS else {}
    experts = table.table("experts").integers(Experts) if "experts" in table.values else {}
    spelt = (
        {key: key for key in numbers} | {f: f"attention.{f}" for f in attention} | {f: f"experts.{f}" for f in experts}
    )
    table.faults.extend(relation_faults(numbers | attention | experts, spelt))
    layers = numbers.get("layers")
    if "experts" not in table.values and layers != numbers.get("dense_layers", layers):
        table.fault("dense_layers", f"all {layers} layers are dense without [experts]; add it or write {layers}")
    raise_all(label, table.faults, CatalogueError)
    return Transformer(
        name=name,
        title=title,
        source=source,
        where=where,
        gated=gated,
        tied_embeddings=tied,
        notes=notes,
        attention=part(**attention),
        experts=Experts(**experts) if experts else None,
        **numbers,
    )
