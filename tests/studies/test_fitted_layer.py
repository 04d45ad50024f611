from dataclasses import replace

import pytest

from rooftree.facts.catalogue import load, open_catalogue
from rooftree.facts.measurements import table
from rooftree.facts.shipped import shipped
from rooftree.studies import fit
from rooftree.studies.fitted_layer import fit_all, layer_files, problems, write


@pytest.fixture(scope="module")
def fitted(catalogue):
    return fit_all(catalogue)


def refit(monkeypatch, catalogue, split):
    """Fit with the values of all rows of a split changed."""

    def changed(name):
        rows = [replace(row, value=row.value * 1.7) if row.split == split else row for row in table(name).rows]
        return replace(table(name), rows=rows)

    monkeypatch.setattr(fit, "table", changed)
    return fit_all(catalogue)


def test_the_committed_layer_is_a_new_fit(fitted):
    folder = shipped("catalogue") / "fitted"
    committed = {str(file.relative_to(folder)): file.read_text("utf-8") for file in folder.rglob("*.toml")}
    assert committed == layer_files(fitted)


def test_test_rows_never_enter_the_fit(monkeypatch, catalogue, fitted):
    assert refit(monkeypatch, catalogue, "test") == fitted


def test_fit_rows_do(monkeypatch, catalogue, fitted):
    moved = refit(monkeypatch, catalogue, "fit")
    assert [one.key for one in moved] == [one.key for one in fitted]
    assert sum(after.value != before.value for after, before in zip(moved, fitted, strict=True)) > len(fitted) / 2


def test_no_fit_names_a_test_row(fitted):
    test = {row.id for name in ("micro", "collectives") for row in table(name).rows if row.split == "test"}
    assert not test & {row for one in fitted for row in one.rows}


def test_no_parameter_comes_from_rows_of_whole_runs(fitted):
    runs = {row.id for name in ("training", "inference") for row in table(name).rows}
    assert not runs & {row for one in fitted for row in one.rows}


def test_a_fit_does_not_start_from_what_was_fitted_before(catalogue):
    for part, each in problems(catalogue).items():
        kind, name = part.split("/")
        first = load(type(catalogue)(catalogue.layers[:1]), kind, name).figures
        for problem in each:
            assert problem.start == tuple(first[key].value for key in problem.keys)


def test_every_figure_lies_in_its_range(fitted):
    for one in fitted:
        assert one.low <= one.value <= one.high


def test_a_written_layer_is_read_as_a_catalogue(tmp_path, fitted):
    write(tmp_path, layer_files(fitted))
    catalogue = open_catalogue([tmp_path])
    for one in fitted:
        figure = load(catalogue, *one.part.split("/")).figures[one.key]
        assert figure.value == pytest.approx(one.value, rel=1e-3)
        assert (figure.basis, figure.layer) == ("derived", str(tmp_path))
