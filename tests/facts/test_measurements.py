from pathlib import Path

import pytest

from rooftree.errors import CatalogueError
from rooftree.facts import measurements
from rooftree.facts.measurements import table

NAMES = ("training", "inference", "collectives", "micro")
HEAD = "id,accelerator,gpus,metric,value,unit,source,split,tensor\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write a table of one's own and read it past the memory of those that were read."""
    monkeypatch.setattr(measurements, "shipped", lambda name: tmp_path)

    def read(rows: str, about: str = 'title = "T"\n'):
        (tmp_path / "own.toml").write_text(about)
        (tmp_path / "own.csv").write_text(HEAD + rows)
        return table.__wrapped__("own")

    return read


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_unique_and_every_row_is_of_a_split(name):
    rows = table(name).rows
    assert len({row.id for row in rows}) == len(rows)
    assert {row.split for row in rows} == {"fit", "test"}


@pytest.mark.parametrize("name", NAMES)
def test_values_are_positive_and_rows_have_a_source(name):
    for row in table(name).rows:
        assert row.value > 0
        assert row.devices >= 1
        assert row.source
        assert row.unit


@pytest.mark.parametrize("name", NAMES)
def test_a_table_says_what_it_is(name):
    assert table(name).title
    assert table(name).origin
    assert table(name).licence


def test_a_row_keeps_its_other_columns_as_conditions(folder):
    (row,) = folder("A,gb300,72,step_s,1.5,s,someone,fit,8\n").rows
    assert (row.id, row.devices, row.quantity, row.value, row.split) == ("A", 72, "step_s", 1.5, "fit")
    assert row.conditions == {"metric": "step_s", "tensor": "8"}


def test_an_empty_count_is_its_default(folder):
    (row,) = folder("A,gb300,,step_s,1.5,s,someone,fit,\n").rows
    assert (row.devices, row.count("tensor"), row.count("tensor", 4), row.count("absent", 2)) == (1, 1, 4, 2)


@pytest.mark.parametrize("row", ["A,gb300,72,step_s,fast,s,x,fit,8\n", "A,gb300,many,step_s,1,s,x,fit,8\n"])
def test_a_row_that_cannot_be_read_is_named_by_its_line(folder, row):
    with pytest.raises(CatalogueError, match=r"measurements/own.csv: line 3: .*mend the row"):
        folder("A,gb300,72,step_s,1,s,x,fit,8\n" + row)


def test_a_missing_table_is_told(folder, tmp_path):
    with pytest.raises(CatalogueError, match="measurements/none: cannot be read"):
        table.__wrapped__("none")
