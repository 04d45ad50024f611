"""The name of each float states its unit, or is known as a ratio or a count."""

import ast
import re
from pathlib import Path

import pytest

from rooftree.units import unit_of

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "rooftree"
ROOMS = ("facts", "models", "formats", "studies")
FILES = [path for room in ROOMS for path in sorted((SOURCE / room).rglob("*.py"))]

PURE_ENDINGS = ("fraction", "share", "ratio", "factor", "tokens", "count", "quantile")
PURE_NAMES = {
    "value": "a figure or an estimate: its unit stands beside it or in the metric's name",
    "low": "as value",
    "high": "as value",
    "measured": "as value",
    "predicted": "as value",
    "headline": "as value; the name of the headline metric states the unit",
    "metrics": "a mapping whose keys state the units",
    "number": "any number, where the unit is no matter",
    "error": "predicted / measured - 1",
    "distance": "between a question and a measured row, in shares of the range",
    "effect_low": "relative change of the headline",
    "effect_high": "relative change of the headline",
    "pue": "facility power over IT power",
    "mfu": "model FLOP/s over peak FLOP/s",
    "bits": "a count, bits a value: NVFP4 has 4.5 with its scales",
    "exposed": "a share, by kind of communication",
    "times": "a count, how often",
    "values": "a mapping whose keys state the units, or a count of numbers",
    "parts": "a mapping of seconds or of bytes, whichever a report shows",
    "start": "where a fit starts, by key",
    "point": "logarithms of what is fitted",
    "by_part": "as values, by part",
    "total": "a sum that a fit or a report makes of one kind of value",
    "memo": "results kept from one layout to the next",
    "log_time_error": "the logarithm of a ratio",
    "log_errors": "logarithms of ratios",
    "widening": "in the logarithm of a ratio",
    **dict.fromkeys(("width", "half_width", "gemm_half_width"), "a count, columns of a matrix"),
    **dict.fromkeys(("rows", "columns", "inner"), "a count, of a matrix; an average may be broken"),
    **dict.fromkeys(("values_read", "values_written", "parameters"), "a count"),
    **dict.fromkeys(("keys", "sequences", "tokens_each", "chunk"), "a count of tokens or sequences, on average"),
}


def is_float(annotation: ast.expr | None) -> bool:
    """Whether an annotation holds floats, alone, optional or in a container; what a callable returns is not meant."""
    if annotation is None:
        return False
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value).endswith("Callable"):
        return False
    return any("float" in name.lower() for name in re.findall(r"\w+", ast.unparse(annotation)))


def unnamed(source: str, where: str) -> list[str]:
    """Return a line for each float field and parameter whose name states no unit and is no known ratio or count."""
    found: list[tuple[str, int]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef):
            fields = [line for line in node.body if isinstance(line, ast.AnnAssign) and is_float(line.annotation)]
            found += [(line.target.id, line.lineno) for line in fields if isinstance(line.target, ast.Name)]
        elif isinstance(node, ast.arg) and is_float(node.annotation):
            found.append((node.arg, node.lineno))
    return [
        f"{where}:{line}: float '{name}' states no unit; end it in one of units.SUFFIXES, or, if it is a ratio or a "
        "count, in _fraction, _share or _ratio, or add it to PURE_NAMES with a reason"
        for name, line in found
        if unit_of(name.lower()) == "1"
        and name.lower().strip("_") not in PURE_NAMES
        and name.lower().rsplit("_", 1)[-1] not in PURE_ENDINGS
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_floats_state_their_unit(path):
    assert unnamed(path.read_text("utf-8"), str(path.relative_to(ROOT))) == []


@pytest.mark.parametrize(
    "bad",
    [
        "def f(bandwidth: float): ...",
        "class A:\n    memory: 'float | None'",
        "PEAKS: Mapping[str, float] = {}",
        "def f(*, sizes: tuple[float, ...]): ...",
    ],
)
def test_a_float_without_a_unit_is_caught(bad):
    assert "states no unit" in unnamed(bad, "a.py")[0]


def test_floats_with_units_ratios_and_callables_pass():
    good = "def f(a_s: float, hit_share: float, peak_flops_per_s: Mapping[str, float], g: Callable[[int], float]): ..."
    assert unnamed(good, "a.py") == []
