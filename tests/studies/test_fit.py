from dataclasses import replace

import numpy as np
import pytest

from rooftree.facts.catalogue import load
from rooftree.facts.measurements import table
from rooftree.studies import fit
from rooftree.studies.fit import Problem, as_time, fit_rows, gemm_kernel, link_with, sides, solve

TABLES = ("micro", "collectives", "training", "inference")


@pytest.mark.parametrize("name", TABLES)
def test_test_rows_are_never_fit_rows(name):
    rows = table(name).rows
    accelerators = {row.accelerator for row in rows}
    chosen = fit_rows(name, tuple(accelerators))
    assert {row.id for row in chosen} == {row.id for row in rows if row.split == "fit"}
    assert 0 < len(chosen) < len(rows)


def test_only_rows_of_the_accelerators_asked_for_come_back():
    assert {row.accelerator for row in fit_rows("micro", ("gb200",))} == {"gb200"}


def line(values, row):
    return values["a"] * row.devices ** values["b"]


def problem(measured, **changes):
    rows = [replace(table("micro").rows[0], id=f"R{n}", devices=n, value=value) for n, value in measured]
    asked = {"keys": ("a", "b"), "start": (1.0, 1.0), "low": (0.01, 0.1), "high": (100.0, 10.0)}
    return Problem(**{**asked, **changes}, rows=rows, predict=line)


def test_parameters_that_made_the_rows_are_found_again():
    a, b = solve(problem([(n, 3.0 * n**0.5) for n in range(2, 40)]), "p")
    assert (a.key, b.key) == ("a", "b")
    assert a.value == pytest.approx(3.0, rel=0.01)
    assert b.value == pytest.approx(0.5, rel=0.01)


def test_one_wild_row_hardly_moves_the_fit():
    rows = [(n, 3.0 * n**0.5) for n in range(2, 40)]
    rows[10] = (rows[10][0], 50 * rows[10][1])
    a, _ = solve(problem(rows), "p")
    assert a.value == pytest.approx(3.0, rel=0.05)


def test_a_parameter_that_no_row_sees_stays_where_it_was():
    a, b = solve(problem([(1, 3.0)] * 20, start=(1.0, 2.0)), "p")
    assert a.value == pytest.approx(3.0, rel=0.01)
    assert b.value == pytest.approx(2.0)


def test_values_and_ranges_stay_within_the_bounds():
    for one in solve(problem([(n, 500.0 * n) for n in range(2, 9)], high=(100.0, 1.5)), "p"):
        assert one.low <= one.value <= one.high <= {"a": 100.0, "b": 1.5}[one.key]


def test_scattered_rows_give_a_wider_range():
    rng = np.random.default_rng(1)
    ranges = []
    for scatter in (0.01, 0.1):
        rows = [(n, 3.0 * n**0.5 * float(np.exp(scatter * rng.standard_normal()))) for n in range(2, 60)]
        a, _ = solve(problem(rows), "p")
        ranges.append(a.high / a.low)
    assert ranges[1] > 3 * ranges[0] - 2
    assert ranges[0] > 1


def test_a_fit_names_its_rows():
    assert solve(problem([(2, 1.0), (3, 1.5)]), "p")[0].rows == ("R2", "R3")


def test_a_rate_is_turned_into_a_time():
    row = next(row for row in table("micro").rows if row.quantity == "gemm")
    m, n, k = sides(row)
    assert as_time(row).value == pytest.approx(2 * m * n * k / row.value)
    assert as_time(row).unit == "s"


def test_a_row_without_a_shape_is_a_wide_square():
    row = next(row for row in table("micro").rows if row.quantity == "gemm_best")
    assert sides(replace(row, conditions={**row.conditions, "m": "", "n": "", "k": ""})) == (fit.WIDE,) * 3


def test_the_product_of_a_row_is_the_measured_one(catalogue):
    row = next(row for row in table("micro").rows if row.quantity == "gemm")
    formats = {name: load(catalogue, "precision", name) for name in ("bf16", "fp8", "nvfp4")}
    m, n, k = sides(row)
    work = gemm_kernel(row, formats).work
    assert work.flops == 2 * m * n * k
    assert work.written_bytes == 2 * m * n


def test_a_link_takes_the_values_of_a_fit_and_keeps_the_others(catalogue):
    link = load(catalogue, "link", "nvlink5")
    changed = link_with(link, {"step_s": 1.0})
    assert changed.step_s == 1.0
    assert replace(changed, step_s=link.step_s) == link
