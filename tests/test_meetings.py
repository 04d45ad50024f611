"""Numbers of different units do not meet.

Plain floats are fast and readable, but nothing in them stops `time_s + size_bytes`; this check does.
"""

import ast
import re
from pathlib import Path

import pytest

from rooftree.units import COUNTED, unit_of

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "rooftree"
FILES = sorted(SOURCE.rglob("*.py"))
ORDERED = ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Eq | ast.NotEq
SAME_UNIT_CALLS = ("min", "max", "sum", "abs", "float", "maximum", "minimum")


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


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_units_do_not_meet(path):
    assert meetings(path.read_text("utf-8"), str(path.relative_to(ROOT))) == []


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
