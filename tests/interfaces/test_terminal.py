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


def test_rows_that_read_the_same_show_their_ids(result, capsys):
    first, second = result.answers[0].neighbours
    twins = (first, replace(first, id="TR-0043"), second)
    show(replace(result, answers=(replace(result.answers[0], neighbours=twins),)), None)
    out = " ".join(capsys.readouterr().out.split())
    assert "TR-0042" in out
    assert "TR-0043" in out
    assert "TR-0017" not in out


def test_short_forms_of_layouts_are_explained_where_they_stand(result, capsys):
    show(result, None)
    lines = capsys.readouterr().out.splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("  not "))
    assert lines[last + 1] == (
        "  tp tensor, cp context, pp pipeline, dp data, ep expert parallel; vp chunks a stage; mb microbatch"
    )
    show(replace(result, answers=(replace(result.answers[0], alternatives=()),)), None)
    assert "tp tensor" not in capsys.readouterr().out


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_a_figure_has_a_line_for_its_name_alone(result, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    show(result, None)
    lines = capsys.readouterr().out.splitlines()
    assert [use.key for use in result.answers[0].figures if f"{use.part} {use.key}" not in lines] == []


def test_a_figure_and_its_range_are_in_one_unit(result, capsys):
    published = result.answers[0].figures[0].figure
    figure = replace(published, unit="B", as_published="8 GiB", value=2.0**33, low=2.0**32, high=2.0**34)
    uses = (replace(result.answers[0].figures[0], figure=figure),)
    show(replace(result, answers=(replace(result.answers[0], figures=uses),)), None)
    out = capsys.readouterr().out
    assert "  8.59 GB  4.29 – 17.2 GB" in out
    assert "GiB" not in out


def test_figures_of_the_user_are_named_by_their_layer(result, capsys):
    show(result, None, "hbm (3)")
    assert "\nFigures from your catalogue: hbm (3)\n" in capsys.readouterr().out
    show(result, None)
    assert "your catalogue" not in capsys.readouterr().out


def test_assumed_figures_come_first_then_the_larger_effect(result, capsys):
    show(result, None)
    out = capsys.readouterr().out
    listed = out[out.index("Figures that move") :]
    keys = ["gemm_fraction.fp8", "step_s", "ring_fraction", "memory_bandwidth_bytes_per_s", "launch_s"]
    assert sorted(keys, key=listed.index) == keys
