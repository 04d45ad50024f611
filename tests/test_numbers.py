"""Numbers live in data files with their source; the code holds pure numbers only.

Pure are counts and shapes of an equation: 2 FLOP a multiply-add, 8 bits a byte, one half. A number of seconds, bytes or
watts belongs into `catalogue/`, where it has a source and a range; units.py alone knows what a prefix is worth.
"""

import ast
import io
import tokenize
from pathlib import Path

import pytest

from rooftree.units import unit_of

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "rooftree"
ROOMS = ("facts", "models", "formats", "studies")
FILES = [path for room in ROOMS for path in sorted((SOURCE / room).rglob("*.py"))]

INTEGERS = {*range(25), 32, 40, 60, 64, 100, 128, 200, 256}  # counts; written with a point only up to 24
SHARES = {0.5, 0.25, 0.75, 1.5, 2.5, 0.05, 0.1, 0.9, 0.95}
TOLERANCES = {1e-6, 1e-9, 1e-12}
REMEDY = (
    "move it into catalogue/ with a source, or, if it has no unit at all, give the line a comment '# pure: why' "
    "(between 1e-4 and 1e5 only)"
)
MOST_EXCUSED = 40


def excuses(source: str) -> set[int]:
    """Return the lines whose comment says why a number on them is pure."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
    return {line for line, comment in comments if len(comment.partition("pure:")[2].strip()) > 8}


def constant(node: ast.AST) -> float | None:
    """Return the number that a literal, signed or not, stands for."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return constant(node.operand)
    is_number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return abs(node.value) if is_number and not isinstance(node.value, bool) else None


def is_pure(value: float) -> bool:
    """Whether a number needs no source."""
    whole = value in INTEGERS and (value <= 24 or isinstance(value, int))
    return whole or value in SHARES | TOLERANCES


def has_unit(node: ast.AST) -> bool:
    """Whether a name states a unit."""
    name = getattr(node, "id", getattr(node, "attr", getattr(node, "arg", None)))
    return isinstance(name, str) and unit_of(name.lower()) != "1"


def pairs(node: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """Return the pairs of expressions that a node makes equal in unit: added, compared, assigned, passed."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return [(left, right)]
        case ast.Compare(left=left, comparators=others):
            return list(zip([left, *others], others, strict=False))
        case ast.Assign(targets=targets, value=value):
            return [(target, value) for target in targets]
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.AugAssign(target=target, op=ast.Add() | ast.Sub(), value=value)
        ):
            return [(target, value)]
        case ast.Call(keywords=keywords):
            return [(keyword, keyword.value) for keyword in keywords]
        case ast.arguments(args=args, defaults=defaults, kwonlyargs=named, kw_defaults=others):
            plain = list(zip(args[len(args) - len(defaults) :], defaults, strict=True))
            return plain + [(arg, default) for arg, default in zip(named, others, strict=True) if default is not None]
        case _:
            return []


def literals(source: str, where: str) -> list[str]:
    """Return a line for each number that has a dimension or may have one."""
    tree, excused, faults = ast.parse(source), excuses(source), []
    for node in ast.walk(tree):
        value = constant(node) if isinstance(node, ast.Constant) else None
        pure = value is None or is_pure(value)
        if not pure and not (node.lineno in excused and 1e-4 <= value <= 1e5):
            faults.append(f"{where}:{node.lineno}: the number {ast.unparse(node)} has no source; {REMEDY}")
        for one, other in pairs(node):
            for name, number in ((one, constant(other)), (other, constant(one))):
                if number and number not in TOLERANCES and has_unit(name):
                    words = f"{name.arg}=..." if isinstance(name, ast.keyword | ast.arg) else ast.unparse(name)
                    faults.append(
                        f"{where}:{other.lineno}: {number:g} stands for a quantity with a unit beside {words}; "
                        "move it into catalogue/ with a source"
                    )
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "parse":
            texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
            if len(texts) == 2 and texts[1] != "B":  # how long a file we read is our own choice
                faults.append(f"{where}:{node.lineno}: the quantity '{texts[0]}' has no source; {REMEDY}")
    return faults


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_code_holds_no_number_with_a_unit(path):
    assert literals(path.read_text("utf-8"), str(path.relative_to(ROOT))) == []


def test_excuses_stay_few():
    assert sum(len(excuses(path.read_text("utf-8"))) for path in FILES) <= MOST_EXCUSED


@pytest.mark.parametrize(
    "bad",
    [
        "x = 1e12",
        "x = 3.35e12",
        "x = 700.0",
        "x = 200.0",
        "x = 72",
        "x = -900",
        "x = 5e-6",
        "x = 5e-6  # pure: no, a latency has seconds",
        "x = 34  # pure: why",
        "{'fp8': 4.5e15}",
        "launch_s = 5",
        "launch_s: float = 5",
        "peaks_bytes_per_s = -8",
        "f(latency_s=3)",
        "def f(a, latency_s=3): ...",
        "def f(*, latency_s=3): ...",
        "a_bytes + 16",
        "a_s > 1",
        "2 < x.a_s",
        "a_w += 10",
        "parse('5 us', 's')",
        "units.parse('8 TB/s', 'B/s')",
    ],
)
def test_a_number_with_a_unit_is_caught(bad):
    assert literals(bad, "a.py")[0].startswith("a.py:1: ")


@pytest.mark.parametrize(
    "good",
    [
        "flops = 2 * m * n * k + 6 * parameters",
        "a_s = 0",
        "a_s > 0",
        "a_s <= b_s + 1e-9",
        "x_bytes = bits / 8 * n",
        "x = 34  # pure: bytes a token and hidden unit in the published equation, a count",
        "q = quantile(errors, 0.95)",
        "LIMIT_BYTES = int(parse('4 MiB', 'B'))",
        "parse(text, 's')",
        "True + x",
        "f'{x:.17g}'",
    ],
)
def test_pure_numbers_pass(good):
    assert literals(good, "a.py") == []
