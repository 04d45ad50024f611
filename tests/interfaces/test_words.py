import json
import math
from dataclasses import replace

import pytest

from rooftree.interfaces.metrics import metrics
from rooftree.interfaces.words import (
    figure_range,
    figure_value,
    layout_words,
    neighbour_value,
    off,
    own_figures,
    place,
    scale,
)
from rooftree.units import UNITS


def test_every_metric_is_explained_in_full():
    for metric in metrics().values():
        assert metric.unit in UNITS, metric.name
        assert metric.better in ("lower", "higher"), metric.name
        assert all((metric.title, metric.equation, metric.inputs, metric.model, metric.validity, metric.source))
        assert (metric.unit == "1/s") == bool(metric.counts), metric.name


COMMON = {
    "tpot": "time_per_output_token_s",
    "ttft": "time_to_first_token_s",
    "memory": "memory_bytes",
    "power": "power_w",
    "energy": "energy_j_per_token",
    "cost": "usd_per_million_tokens",
    "mfu": "mfu",
    "MFU": "mfu",
    "bubble": "bubble_share",
    "busbw": "busbw_bytes_per_s",
    "algbw": "algbw_bytes_per_s",
}


@pytest.mark.parametrize("name", COMMON)
def test_a_metric_is_found_by_its_common_names(rooftree, name):
    assert json.loads(rooftree("explain", name, "--json").out)["name"] == COMMON[name]


def test_an_explanation_shows_the_common_names_too(rooftree):
    assert rooftree("explain", "tpot").out.startswith("Time per output token (time_per_output_token_s, tpot)\n")


def test_a_name_is_of_one_metric():
    names = [name for metric in metrics().values() for name in (metric.name, *metric.also)]
    assert sorted(set(names)) == sorted(names)
    assert [name for name in names if name != name.casefold()] == []


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


@pytest.mark.parametrize(
    ("unit", "error", "words"),
    [
        ("s", -0.33, "33 % too fast"),
        ("s", 0.12, "12 % too slow"),
        ("1/s", 0.33, "33 % too fast"),
        ("1/s", -0.12, "12 % too slow"),
        ("tokens/s/GPU", 0.5, "50 % too fast"),
        ("B", -0.12, "−12 %"),
        ("s", 0.0, "0 %"),
        ("s", math.inf, "?"),
    ],
)
def test_an_error_is_told_as_a_speed_where_it_is_one(result, unit, error, words):
    assert off(replace(result.answers[0].neighbours[0], unit=unit, error=error)) == words


def _about(result, **counts):
    answers = [replace(result.answers[0], question=name, layout={"gpus": count}) for name, count in counts.items()]
    return replace(result, answers=tuple(answers))


def test_the_place_is_what_the_questions_are_about(result):
    assert place(result) == "4,608 accelerators of azure-gb300-4608"
    assert place(_about(result, training=512)) == "512 accelerators of azure-gb300-4608"
    assert place(_about(result, training=72, serving=72)) == "72 accelerators of azure-gb300-4608"
    both = _about(result, training=4608, serving=72)
    assert place(both) == "4,608 (training) and 72 (serving) accelerators of azure-gb300-4608"
    assert scale(both) == 4608
    assert scale(_about(result, serving=72)) == 72


def test_layers_of_the_user_are_told_with_the_number_of_their_figures(result):
    one = result.answers[0].figures[0].figure
    layers = ["shipped", "hbm", "fitted", "a\x1b[31m", "hbm"]
    assert own_figures(replace(one, layer=layer) for layer in layers) == "hbm (2), a?[31m (1)"
    assert own_figures([one, replace(one, layer="fitted")]) == ""


def test_a_layout_of_nothing_is_said_in_words():
    assert layout_words({"tensor": 1, "recompute": "none"}) == "one accelerator, nothing split"
