from dataclasses import replace

import pytest

from rooftree.interfaces.metrics import metrics
from rooftree.interfaces.words import figure_range, figure_value, layout_words, neighbour_value
from rooftree.units import UNITS


def test_every_metric_is_explained_in_full():
    for metric in metrics().values():
        assert metric.unit in UNITS, metric.name
        assert metric.better in ("lower", "higher"), metric.name
        assert all((metric.title, metric.equation, metric.inputs, metric.model, metric.validity, metric.source))
        assert (metric.unit == "1/s") == bool(metric.counts), metric.name


def test_figures_keep_their_published_wording_where_it_is_what_we_use(result):
    used = {use.key: use.figure for use in result.answers[0].figures}
    assert figure_value(used["memory_bandwidth_bytes_per_s"]) == "8 TB/s"
    assert figure_value(used["launch_s"]) == "4.00 µs"  # "about 4 us" is no quantity
    assert figure_range(used["peak_flops_per_s.fp8"]) == "exact"
    assert figure_range(used["launch_s"]) == "2.00 – 6.00 µs"


@pytest.mark.parametrize(
    ("metric", "unit", "words"),
    [("mfu", "1", "50.0 %"), ("latency_s", "s", "500 ms"), ("speed", "furlong/s", "0.500 furlong/s")],
)
def test_measured_rows_keep_their_units(result, metric, unit, words):
    row = replace(result.answers[0].neighbours[0], metric=metric, unit=unit)
    assert neighbour_value(row, 0.5) == words


def test_a_layout_of_nothing_is_said_in_words():
    assert layout_words({"tensor": 1, "recompute": "none"}) == "one accelerator, nothing split"
