"""A number's name states its unit, and numbers of different units do not meet.

Plain floats are fast and readable, but nothing in them stops `time_s + size_bytes`; these checks do.
"""

import ast
import re
from pathlib import Path

import pytest

from rooftree.units import COUNTED, unit_of

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "rooftree"
FILES = sorted(SOURCE.rglob("*.py"))
ROOMS = ("facts", "models", "formats", "studies")
NAMED = [path for path in FILES if path.relative_to(SOURCE).parts[0] in ROOMS]

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
    **dict.fromkeys(("width", "half_width", "gemm_half_width"), "a count, columns of a matrix"),
    **dict.fromkeys(("rows", "columns", "inner"), "a count, of a matrix; an average may be broken"),
    **dict.fromkeys(("values_read", "values_written", "parameters"), "a count"),
    **dict.fromkeys(("keys", "sequences", "tokens_each", "chunk"), "a count of tokens or sequences, on average"),
}
ORDERED = ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Eq | ast.NotEq
SAME_UNIT_CALLS = ("min", "max", "sum", "abs", "float", "maximum", "minimum")


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


class Meetings(ast.NodeVisitor):
    """Collects the places where two names of different units are added, compared, assigned or returned."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.faults: list[str] = []

    def unit(self, node: ast.expr | None) -> str:
        """Return the unit that an expression's names state; empty when they state none."""
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                unit = unit_of(name.lower())
                counted = re.search(f"_per_({'|'.join(COUNTED)})$", name.lower())
                return "" if unit == "1" else f"{unit} per {counted[1]}" if counted else unit
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in SAME_UNIT_CALLS:
                return self.first(args)
            case ast.Call(func=func):
                return self.unit(func)
            case ast.Subscript(value=inner) | ast.UnaryOp(operand=inner):
                return self.unit(inner)
            case ast.GeneratorExp(elt=inner) | ast.ListComp(elt=inner):
                return self.unit(inner)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                return self.first([left, right])
            case ast.IfExp(body=body, orelse=orelse):
                return self.first([body, orelse])
            case _:
                return ""

    def first(self, nodes: list[ast.expr]) -> str:
        return next((unit for node in nodes if (unit := self.unit(node))), "")

    def meet(self, line: int, *nodes: ast.expr, known: str = "") -> None:
        units = [unit for unit in (known, *map(self.unit, nodes)) if unit]
        if len(set(units)) > 1:
            words = " and ".join(ast.unparse(node) for node in nodes)
            self.faults.append(f"{self.where}:{line}: {' meets '.join(units)} in {words}; convert one, or rename it")

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add | ast.Sub):
            self.meet(node.lineno, node.left, node.right)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(operator, ORDERED):
                self.meet(node.lineno, left, right)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=False))
            for left, right in pairs:
                self.meet(node.lineno, left, right)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.meet(node.lineno, node.target, node.value)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, ast.Add | ast.Sub):
            self.meet(node.lineno, node.target, node.value)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            if keyword.arg:
                self.meet(node.lineno, ast.Name(keyword.arg), keyword.value)
        if self.unit(node.func) == "" and ast.unparse(node.func).rsplit(".", 1)[-1] in SAME_UNIT_CALLS:
            self.meet(node.lineno, *node.args)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        own = self.unit(ast.Name(node.name))
        for line in ast.walk(node):
            if own and isinstance(line, ast.Return) and line.value is not None:
                self.meet(line.lineno, line.value, known=own)
        self.generic_visit(node)


def meetings(source: str, where: str) -> list[str]:
    """Return a line for each place where different units meet."""
    visitor = Meetings(where)
    visitor.visit(ast.parse(source))
    return visitor.faults


@pytest.mark.parametrize("path", NAMED, ids=lambda path: str(path.relative_to(SOURCE)))
def test_floats_state_their_unit(path):
    assert unnamed(path.read_text("utf-8"), str(path.relative_to(ROOT))) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_units_do_not_meet(path):
    assert meetings(path.read_text("utf-8"), str(path.relative_to(ROOT))) == []


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


@pytest.mark.parametrize(
    "bad",
    [
        "a_s + b_bytes",
        "x.a_s - x.b_bytes",
        "a_s < b_bytes_per_s",
        "a_s == peaks_w['x']",
        "a_s = b_bytes",
        "a_s, b = c_bytes, d",
        "a_s += b_bytes",
        "f(a_s=b_bytes)",
        "max(a_s, b_bytes)",
        "a_s + max(b_bytes, 0)",
        "ring_s(1) + b_j",
        "a_j + b_j_per_token",
        "def f_s():\n    return a_bytes",
        "a_s if x else b_s + c_bytes",
    ],
)
def test_a_meeting_of_units_is_caught(bad):
    assert meetings(bad, "a.py")[0].startswith("a.py:")


@pytest.mark.parametrize("good", ["a_s + b_s", "a_bytes / b_s", "x + b_s", "a_s * b_w + c_j", "a_s > 0", "f(a_s=b_s)"])
def test_meetings_of_one_unit_pass(good):
    assert meetings(good, "a.py") == []
