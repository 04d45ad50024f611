"""Part files: one TOML file of one layer, with every fault of it at once.

A file has a `title`, texts and references at the top and a table `[figures.KEY]` for each number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rooftree.errors import nearest
from rooftree.facts.fields import Fields, fields_of
from rooftree.facts.figure_tables import Page, read_figure
from rooftree.facts.sources import Figure, Source

_SOURCE = ("title", "publisher", "date", "where", "kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFile:
    """What one file of one layer says about a part.

    `texts` holds title, plain texts and names of other parts; `named` every key of the file, those with faults too.
    """

    file: Path
    named: frozenset[str]
    texts: Mapping[str, str]
    figures: Mapping[str, Figure]


def read_sources(file: Path, layer: str) -> tuple[dict[str, Source], list[str]]:
    """Read a file of sources: a table for each source key; return the sources and the faults."""
    page, sources = Page(file=file, layer=layer, sources={}), {}
    for key, entry in page.table().items():
        if not isinstance(entry, dict):
            page.fault(key, f"is not a table; write [{key}] and title, publisher, date, where under it")
            continue
        for name in entry:
            if name not in _SOURCE:
                page.fault(f"{key}.{name}", f"unknown key; {nearest(name, _SOURCE)}")
        texts = {name: entry.get(name, "") for name in _SOURCE}
        for name, text in texts.items():
            if not isinstance(text, str) or (not text.strip() and name != "kind"):
                page.fault(f"{key}.{name}", f'must be a text; write {name} = "…"')
        sources[key] = Source(key=key, **texts)
    return sources, page.faults


def read_part(file: Path, kind: str, layer: str, sources: Mapping[str, Source]) -> tuple[PartFile, list[str]]:
    """Read one part file; return what it says and all its faults.

    Figures with faults are left out of the part.
    """
    page, known = Page(file=file, layer=layer, sources=sources), fields_of(kind)
    table = page.table()
    if page.faults:
        everything = frozenset((*known.texts, *known.references, *known.keys()))
        return PartFile(file=file, named=everything, texts={}, figures={}), page.faults
    entries = table.pop("figures", {})
    texts = _texts(page, table, known)
    if not isinstance(entries, dict):
        page.fault("figures", "is not a table; write [figures.KEY] for each figure")
        entries = {}
    figures = {}
    for key, entry in entries.items():
        problem = _key_problem(key, known)
        if problem:
            page.fault(f"figures.{key}", problem)
        figure = read_figure(page, f"figures.{key}", key, entry, known) if not problem else None
        if figure is not None:
            figures[key] = figure
    named = frozenset((*table, *entries))
    return PartFile(file=file, named=named, texts=texts, figures=figures), page.faults


def _texts(page: Page, table: Mapping[str, object], known: Fields) -> dict[str, str]:
    """Return the texts and references at the top of a part file."""
    texts = {}
    for key, text in table.items():
        if key not in known.texts and key not in known.references:
            figure = f"; a number is a table [figures.{key}]" if key in known.numbers else ""
            page.fault(key, f"unknown key; {nearest(key, [*known.texts, *known.references, 'figures'])}{figure}")
        elif not isinstance(text, str) or not text.strip():
            page.fault(key, f'must be a text; write {key} = "…"')
        else:
            texts[key] = text
    return texts


def _key_problem(key: str, known: Fields) -> str:
    """Return what is wrong with the key of a figure, or an empty text."""
    if key in known.entries:
        return f'holds one figure an entry; write [figures."{key}.{known.entries[key][0]}"], with the quotes'
    if key in known.references or key in known.texts:
        return f'is no figure; write {key} = "…" at the top of the file'
    return "" if key in known.keys() else f"unknown figure; {nearest(key, known.keys())}"  # noqa: SIM118
