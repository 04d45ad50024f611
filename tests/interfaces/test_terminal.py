from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from rooftree.interfaces.terminal import show


def test_the_summary_is_as_it_was(result, capsys, snapshot):
    show(result, Path("out/pod/report.html"))
    assert capsys.readouterr().out == snapshot


@pytest.mark.parametrize("columns", [60, 80, 100, 240])
def test_the_summary_fits(result, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    show(result, Path("out/report.html"))
    assert max(map(cell_len, capsys.readouterr().out.splitlines())) <= min(columns, 100)


def test_the_answer_comes_first(result, capsys):
    show(result, None)
    lines = capsys.readouterr().out.splitlines()
    assert next(number for number, line in enumerate(lines) if "6.42 s" in line) < 8


def test_what_is_within_the_measured_is_not_marked(result, capsys):
    covered = replace(result, answers=(replace(result.answers[0], extrapolated=False),))
    show(covered, None)
    assert "EXTRAPOLATED" not in capsys.readouterr().out
    show(result, None)
    assert "EXTRAPOLATED" in capsys.readouterr().out


def test_names_can_neither_colour_nor_command_the_terminal(result, capsys):
    show(replace(result, title="[red]pod[/red] \x1b]0;owned\x07 :smile:"), None)
    out = capsys.readouterr().out
    assert "[red]pod[/red] ?]0;owned? :smile:" in out
    assert "\x1b" not in out


def test_assumed_figures_come_first_then_the_larger_effect(result, capsys):
    show(result, None)
    out = capsys.readouterr().out
    listed = out[out.index("Figures that move") :]
    keys = ["gemm_fraction.fp8", "step_s", "ring_fraction", "memory_bandwidth_bytes_per_s", "launch_s"]
    assert sorted(keys, key=listed.index) == keys
