"""What the fields of a kind of part are: numbers, maps of numbers, references to other parts, plain texts.

Read off the dataclasses of `hardware`, so that a new field needs no second list; only the limits stand here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache

from rooftree.errors import CatalogueError, nearest
from rooftree.facts.hardware import KINDS, Part

KIND_OF: Mapping[type[Part], str] = {part: kind for kind, part in KINDS.items()}
"""Class of a part → its kind."""

_PEAKS = ("bf16", "fp16", "fp32", "fp64", "fp6", "fp8", "int8", "mxfp4", "nvfp4", "tf32")
_CHOSEN: Mapping[str, tuple[str, ...]] = {"peak_flops_per_s": _PEAKS, "gemm_fraction": _PEAKS}
_COMPLETE: Mapping[str, tuple[str, ...]] = {
    "attention_fraction": ("forward", "backward", "decode"),
    "exposed": ("tensor", "context", "expert", "pipeline", "data"),
    "parameter_bytes": ("weight", "gradient", "state"),
}
_ENTRIES = {**_CHOSEN, **_COMPLETE}
_MAY_BE_ZERO = (
    "accelerator_usd_per_h", "base_s", "carbon_kg_per_j", "cpu_w", "cpus", "energy_usd_per_j", "exposed",
    "gemm_half_width", "host_s", "idle_w", "launch_s", "leaves", "other_w", "parameter_bytes", "reduce_fraction",
    "reserved_bytes", "spines", "step_s", "water_m3_per_j",
)  # fmt: skip


LARGEST, SMALLEST = 10.0**21, 10.0**-15
"""Beyond these no figure of a part lies in SI, whatever its unit; computing with such would overflow."""
MOST = 10**7
"""The most of anything that is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The fields of one kind of part by what they hold; `entries` are the keys that a map of numbers may have."""

    texts: tuple[str, ...]
    references: Mapping[str, str]
    numbers: tuple[str, ...]
    whole: tuple[str, ...]
    entries: Mapping[str, tuple[str, ...]]

    def keys(self) -> Iterator[str]:
        """Yield each key that a figure of this kind may have."""
        yield from self.numbers
        for stem, names in self.entries.items():
            yield from (f"{stem}.{name}" for name in names)

    def missing(self, given: Mapping[str, object]) -> Iterator[str]:
        """Yield each key that `given` lacks; a map with a free choice of entries needs at least one."""
        yield from (key for key in self.numbers if key not in given)
        for stem, names in self.entries.items():
            absent = [f"{stem}.{name}" for name in names if f"{stem}.{name}" not in given]
            if stem in _COMPLETE:
                yield from absent
            elif len(absent) == len(names):
                yield f"{stem}.{names[0]}"


@cache
def fields_of(kind: str) -> Fields:
    """Return what the fields of `kind` are.

    Raises CatalogueError for an unknown kind.

    >>> fields_of("host").references, fields_of("host").whole
    ({'accelerator': 'accelerator'}, ('accelerators', 'cpus'))
    """
    if kind not in KINDS:
        raise CatalogueError(f"kind '{kind[:40]}' is not a kind of part; {nearest(kind[:40], KINDS)}")
    typed = {field.name: field.type for field in fields(KINDS[kind]) if field.name not in ("name", "figures")}
    references = {name: KIND_OF[part] for name, part in typed.items() if isinstance(part, type) and part in KIND_OF}
    return Fields(
        texts=tuple(name for name, type_ in typed.items() if type_ is str),
        references=references,
        numbers=tuple(name for name, type_ in typed.items() if type_ in (int, float)),
        whole=tuple(name for name, type_ in typed.items() if type_ is int),
        entries={name: _ENTRIES[name] for name in typed if name in _ENTRIES},
    )


def impossible(key: str, value: float) -> str:
    """Return what is wrong with the size of a value, or an empty text.

    >>> impossible("memory_fraction", 1.2), impossible("pue", 1.1)
    ('above 1, but a share is at most 1', '')
    """
    stem = key.split(".", 1)[0]
    if stem == "pue" and value < 1:
        return "below 1, but a site draws at least what its computers draw"
    if (stem.endswith("_fraction") or stem == "exposed") and value > 1:
        return "above 1, but a share is at most 1"
    if value < 0:
        return "negative"
    if value > LARGEST or 0 < value < SMALLEST:
        return "of a size that nothing has"
    if value == 0 and stem not in _MAY_BE_ZERO:
        return "zero, but it must be positive"
    return ""
