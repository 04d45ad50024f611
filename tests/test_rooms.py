"""The shape of the house: what may know what, and how long a file or a function may grow."""

import ast
import statistics
from pathlib import Path

import grimp
import networkx
import pytest
from importlinter import cli

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "src" / "rooftree").rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION, LONGEST_MEDIAN_FILE = 450, 60, 200
Function = ast.FunctionDef | ast.AsyncFunctionDef


def definitions(tree: ast.AST):
    """Yield each function and class with whether it can be reached from outside by public names."""

    def walk(node: ast.AST, public: bool):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function | ast.ClassDef):
                seen = public and not child.name.startswith("_")
                yield child, seen
                yield from walk(child, seen and isinstance(child, ast.ClassDef))
            else:
                yield from walk(child, public)

    yield from walk(tree, True)


def too_long(source: str, where: str) -> list[str]:
    """Return a line for each function that is too long."""
    return [
        f"{where}:{node.lineno}: {node.name} has {length} lines; split it, {LONGEST_FUNCTION - 1} are allowed"
        for node, _ in definitions(ast.parse(source))
        if isinstance(node, Function) and (length := node.end_lineno - node.lineno + 1) >= LONGEST_FUNCTION
    ]


def undocumented(source: str, where: str) -> list[str]:
    """Return a line for each public function or class without a docstring, and for a module without one."""
    tree = ast.parse(source)
    faults = [] if ast.get_docstring(tree) else [f"{where}:1: the module has no docstring"]
    return faults + [
        f"{where}:{node.lineno}: {node.name} has no docstring; say in one sentence what it is"
        for node, public in definitions(tree)
        if public and not ast.get_docstring(node)
    ]


def place(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_imports_keep_the_contracts_of_pyproject(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert cli.lint_imports(no_cache=True, no_logo=True) == 0, capsys.readouterr().out


def test_modules_import_each_other_in_no_circle():
    graph = grimp.build_graph("rooftree", cache_dir=None)
    arrows = networkx.DiGraph((a, b) for a in graph.modules for b in graph.find_modules_directly_imported_by(a))
    assert [sorted(ring) for ring in networkx.strongly_connected_components(arrows) if len(ring) > 1] == []


@pytest.mark.parametrize("path", FILES, ids=place)
def test_files_and_functions_are_short_and_documented(path):
    source = path.read_text("utf-8")
    assert len(source.splitlines()) < LONGEST_FILE
    assert too_long(source, place(path)) == []
    assert undocumented(source, place(path)) == []


def test_the_median_file_is_read_in_one_sitting():
    lengths = [len(path.read_text("utf-8").splitlines()) for path in FILES if path.name != "__init__.py"]
    assert statistics.median(lengths) < LONGEST_MEDIAN_FILE


def test_a_long_function_is_caught():
    body = "\n".join("    x = 1" for _ in range(LONGEST_FUNCTION - 1))
    assert "split it" in too_long(f"def f():\n{body}\n", "a.py")[0]
    assert too_long("def f():\n    pass\n", "a.py") == []


def test_a_missing_docstring_is_caught():
    source = '"""A."""\nclass A:\n    """A."""\n    def b(self): ...\n    def _c(self): ...\ndef d():\n    """D."""\n'
    assert [fault.split(":")[1] for fault in undocumented(source, "a.py")] == ["4"]
