"""The catalogue: parts and their figures, in layers.

The layers in order are `shipped` (the package's), `fitted` (what was fitted from measurements), `home`
(`$ROOFTREE_HOME/catalogue`) and the folders that the user names. A later layer wins figure by figure, and each figure
keeps the name of its layer. A part is read when it is asked for, with the parts that it refers to.
"""

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from rooftree.errors import CatalogueError, nearest
from rooftree.facts.architecture_files import architecture_names, find_architecture
from rooftree.facts.architectures import Transformer
from rooftree.facts.hardware import KINDS, Cluster, Part, Precision
from rooftree.facts.layers import Catalogue, Layer, all_sources, names_of, part_of
from rooftree.facts.shipped import shipped
from rooftree.facts.sources import Source
from rooftree.files import visible

__all__ = [
    "Catalogue",
    "Layer",
    "architecture",
    "architectures",
    "check",
    "cluster",
    "find",
    "folders",
    "load",
    "names",
    "open_catalogue",
    "precision",
    "sources",
]


def open_catalogue(extra: Sequence[Path] = ()) -> Catalogue:
    """Return the shipped catalogue under the user's layers; nothing is read yet.

    Raises CatalogueError for a folder that is not there, holds no part files, or misspells a kind.

    >>> [layer.name for layer in open_catalogue().layers][:2]
    ['shipped', 'fitted']
    """
    base = shipped("catalogue")
    layers = [Layer(name="shipped", path=base), Layer(name="fitted", path=base / "fitted")]
    home, faults = os.environ.get("ROOFTREE_HOME"), list[str]()
    if home:
        layers.append(Layer(name="home", path=Path(home) / "catalogue"))
        faults += _home_faults(Path(home))
    layers += [Layer(name=str(folder), path=Path(folder)) for folder in extra]
    faults += [fault for folder in extra for fault in _folder_faults(folder)]
    if faults:
        raise CatalogueError(*faults)
    return Catalogue(layers=tuple(layers))


def folders(catalogue: Catalogue) -> list[Path]:
    """Return the folders of all layers, the weakest first."""
    return [layer.path for layer in catalogue.layers]


def sources(catalogue: Catalogue) -> Mapping[str, Source]:
    """Return every source by key; a later layer may restate one.

    Raises CatalogueError with all faults of the files of sources.

    >>> sources(open_catalogue())["NV_ULTRA"].publisher
    'NVIDIA'
    """
    found, faults = all_sources(catalogue)
    if faults:
        raise CatalogueError(*faults)
    return found


def names(catalogue: Catalogue, kind: str) -> list[str]:
    """Return the names of all parts of a kind, sorted.

    Raises CatalogueError for an unknown kind.

    >>> names(open_catalogue(), "rack")
    ['dgx-h100-rack', 'gb200-nvl72', 'gb300-nvl72']
    """
    return list(names_of(catalogue, kind))


def find(catalogue: Catalogue, name: str) -> list[str]:
    """Return the kinds that have a part of this name.

    Raises CatalogueError with the nearest name when none has.

    >>> find(open_catalogue(), "gb200-nvl72")
    ['rack', 'cluster']
    """
    kinds = [kind for kind in KINDS if name in names(catalogue, kind)]
    if not kinds:
        known = {known for kind in KINDS for known in names(catalogue, kind)}
        raise CatalogueError(f"part '{visible(name)}' is in no layer of the catalogue; {nearest(name[:60], known)}")
    return kinds


def load(catalogue: Catalogue, kind: str, name: str) -> Part:
    """Return a part with all the parts that it refers to; the second call returns the same object.

    Raises CatalogueError with all faults of all files of the part and of its references.

    >>> load(open_catalogue(), "accelerator", "gb300").figures["memory_bytes"].as_published
    '284208 MiB visible'
    """
    known = names(catalogue, kind)
    if name not in known:
        raise CatalogueError(f"{kind} '{visible(name)}' is in no layer of the catalogue; {nearest(name[:60], known)}")
    part, faults = part_of(catalogue, kind, name)
    if part is None or faults:
        raise CatalogueError(*dict.fromkeys(faults))
    return part


def cluster(catalogue: Catalogue, name: str) -> Cluster:
    """Return a cluster with all its parts; raises CatalogueError as `load` does.

    >>> cluster(open_catalogue(), "azure-gb300-4608").rack.host.accelerator.name
    'gb300'
    """
    return cast("Cluster", load(catalogue, "cluster", name))


def precision(catalogue: Catalogue, name: str) -> Precision:
    """Return a number format; raises CatalogueError as `load` does.

    >>> precision(open_catalogue(), "nvfp4").bits
    4.5
    """
    return cast("Precision", load(catalogue, "precision", name))


def architecture(catalogue: Catalogue, name: str) -> Transformer:
    """Return an architecture; raises CatalogueError for an unknown name, a wrong file, and a source that nobody knows.

    >>> architecture(open_catalogue(), "llama-3.1-8b").layers
    32
    """
    found, known = find_architecture(name, folders(catalogue)), sources(catalogue)
    if found.source not in known:
        hint = nearest(found.source[:60], known)
        raise CatalogueError(f"architecture '{visible(name)}': source '{visible(found.source)}' is not known; {hint}")
    return found


def architectures(catalogue: Catalogue) -> tuple[str, ...]:
    """Return the names of all architectures, sorted.

    >>> "deepseek-v3" in architectures(open_catalogue())
    True
    """
    return architecture_names(folders(catalogue))


def check(catalogue: Catalogue) -> None:
    """Load every part; raises CatalogueError with all faults of all files and layers."""
    faults = list(all_sources(catalogue)[1])
    for kind in KINDS:
        for name in names(catalogue, kind):
            faults += part_of(catalogue, kind, name)[1]
    if faults:
        raise CatalogueError(*dict.fromkeys(faults))


def _home_faults(home: Path) -> list[str]:
    """Return what is wrong with $ROOFTREE_HOME; a home without a catalogue is fine."""
    try:
        if not home.exists() or (home.is_dir() and not (home / "catalogue").exists()):
            return []
    except OSError:
        return [f"ROOFTREE_HOME = {visible(str(home))}: cannot be looked into; change its permissions or unset it"]
    faults = list(_folder_faults(home / "catalogue" if home.is_dir() else home))
    return [f"ROOFTREE_HOME: {fault}" for fault in faults]


def _folder_faults(folder: Path) -> Iterator[str]:
    """Yield what is wrong with a folder that the user names as a layer."""
    try:
        readable = os.access(folder, os.R_OK | os.X_OK) or not folder.exists()
    except (OSError, ValueError):
        readable = False
    if not readable:
        yield f"{visible(str(folder))}: cannot be looked into; change its permissions or name another"
    elif not folder.is_dir():
        yield f"{visible(str(folder))}: is no folder; a layer is a folder of part files; name one that is there"
    elif not any(folder.glob("*/*.toml")) and not (folder / "sources.toml").exists():
        yield f"{visible(str(folder))}: holds no part files; a layer has KIND/NAME.toml; name the folder above KIND"
    else:
        for inner in sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and entry.name not in KINDS):
            for kind in difflib.get_close_matches(inner, KINDS, n=1, cutoff=0.75):
                label = visible(str(folder / inner))
                yield f"{label}: is no kind of part and would be ignored; rename the folder to '{kind}'"
