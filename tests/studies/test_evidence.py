import csv

import pytest

from rooftree.facts.shipped import shipped
from rooftree.studies.evidence import OLDEST_FIRST, evidence_map

FILES = {"training step": "training", "serving": "inference", "collective": "collectives", "kernel": "micro"}


def written(quantity):
    with (shipped("measurements") / f"{FILES[quantity]}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("quantity", FILES)
def test_the_map_shows_the_largest_run_of_the_file(quantity):
    (found,) = [one for one in evidence_map() if one.quantity == quantity]
    sizes = {row["id"]: int(row.get("gpus") or 1) for row in written(quantity)}
    assert found.rows == len(sizes)
    assert found.largest_accelerators == max(sizes.values()) == sizes[found.largest_id]


@pytest.mark.parametrize("quantity", FILES)
def test_the_map_shows_the_newest_generation_and_its_largest_run(quantity):
    (found,) = [one for one in evidence_map() if one.quantity == quantity]
    rows = written(quantity)
    assert set(found.generations) == {row["accelerator"] for row in rows}
    assert found.newest_generation == found.generations[-1] == max(found.generations, key=OLDEST_FIRST.index)
    newest = [int(row.get("gpus") or 1) for row in rows if row["accelerator"] == found.newest_generation]
    assert found.newest_largest_accelerators == max(newest)


def test_the_map_has_a_line_for_each_table():
    assert [one.quantity for one in evidence_map()] == list(FILES)
