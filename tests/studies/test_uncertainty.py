import math
from dataclasses import replace

import pytest

from rooftree.studies.results import Estimate
from rooftree.studies.uncertainty import (
    Residuals,
    estimates,
    half_width,
    origin_of_range,
    residuals,
    scale_drift,
    tight,
)

ERRORS = Residuals(log_errors=(-0.2, -0.05, 0.0, 0.1, 0.3), widening=0.0, group="five")


@pytest.fixture(scope="module")
def cluster(catalogue):
    from rooftree.facts.catalogue import cluster

    return cluster(catalogue, "azure-gb300-4608")


def evaluate(cluster, factor):
    peak = cluster.rack.host.accelerator.peak_flops_per_s["nvfp4"]
    return {"step_s": 1e16 / peak * factor, "tokens_per_s": peak / factor, "memory_bytes": 5.0}


def flipped(done):
    other = {"fit": "test", "test": "fit"}
    return [replace(one, row=replace(one.row, split=other[one.row.split])) for one in done]


def test_the_range_holds_the_value(cluster):
    for estimate in estimates(cluster, evaluate, ERRORS, 1).values():
        assert estimate.low <= estimate.value <= estimate.high


def test_a_metric_that_nothing_moves_has_no_range(cluster):
    assert estimates(cluster, evaluate, ERRORS, 1)["memory_bytes"] == Estimate(value=5.0, low=5.0, high=5.0)


def test_a_rate_is_low_where_the_time_is_high(cluster):
    found = estimates(cluster, evaluate, Residuals(log_errors=(0.5,) * 20, widening=0.0, group=""), 1)
    assert found["step_s"].high / found["step_s"].value >= math.exp(0.5) - 1e-9
    assert found["tokens_per_s"].low / found["tokens_per_s"].value <= math.exp(-0.5) + 1e-9


def test_the_value_is_that_of_the_figures_as_they_are(cluster):
    assert estimates(cluster, evaluate, ERRORS, 1)["step_s"].value == evaluate(cluster, 1.0)["step_s"]


def test_widening_widens_every_range_that_errors_make(cluster):
    narrow, wide = (
        estimates(cluster, evaluate, replace(ERRORS, widening=widening), 1)["step_s"] for widening in (0.0, 0.2)
    )
    assert wide.low < narrow.low
    assert wide.high > narrow.high


def test_errors_and_figures_reach_farther_together_than_either_alone(cluster):
    drifting = Residuals(log_errors=(0.0,) * 20, widening=0.3, group="")
    alone = estimates(cluster, evaluate, replace(drifting, widening=0.0), 1)["step_s"]
    both = estimates(cluster, evaluate, drifting, 1)["step_s"]
    assert both.high > both.value * math.exp(0.3) * 1.001
    assert both.high > alone.high


def test_the_same_seed_gives_the_same_range_and_another_one_another(cluster):
    # Few draws and small errors, so that the draws and not the errors make the range.
    small = Residuals(log_errors=(0.001, 0.02), widening=0.0, group="")
    first, again, other = (estimates(cluster, evaluate, small, seed, draws=8)["step_s"] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_without_errors_the_figures_alone_make_the_range(cluster):
    found = estimates(cluster, evaluate, Residuals(log_errors=(), widening=0.0, group=""), 1)["step_s"]
    figure = cluster.rack.host.accelerator.figures["peak_flops_per_s.nvfp4"]
    assert 1e16 / figure.high <= found.low < found.high <= 1e16 / figure.low


def test_the_half_width_is_the_conformal_quantile():
    nineteen = Residuals(log_errors=tuple(n / 100 * (-1) ** n for n in range(1, 20)), widening=0.0, group="")
    assert half_width(nineteen) == 0.18  # the (19 + 1) x 0.9 = 18th smallest
    assert half_width(replace(nineteen, widening=0.5)) == pytest.approx(0.68)


def test_few_errors_make_the_half_width_the_largest_and_none_make_it_infinite():
    assert half_width(ERRORS) == 0.3
    assert half_width(Residuals(log_errors=(), widening=0.0, group="")) == math.inf


def test_errors_are_those_of_fit_rows_alone(trained):
    fit = residuals(trained, mixture=False, precision="fp8", beyond=True)
    assert fit == residuals(
        [one for one in trained if one.row.split == "fit"], mixture=False, precision="fp8", beyond=True
    )
    assert fit != residuals(flipped(trained), mixture=False, precision="fp8", beyond=True)


def test_errors_of_test_rows_change_nothing(trained):
    wrong = [replace(one, log_time_error=9.0) if one.row.split == "test" else one for one in trained]
    asked = {"mixture": False, "precision": "fp8", "beyond": True}
    assert residuals(wrong, **asked) == residuals(trained, **asked)


def test_errors_are_of_the_same_kind_and_precision_when_there_are_ten(trained):
    found = residuals(trained, mixture=False, precision="fp8", beyond=False)
    same = [o for o in trained if o.row.split == "fit" and not o.mixture and o.row.conditions["precision"] == "fp8"]
    assert len(same) >= 10
    assert found.log_errors == tuple(one.log_time_error for one in same)
    assert found.group == f"dense fp8 ({len(same)} fit rows)"


def test_a_precision_with_few_rows_falls_back_to_its_kind_and_then_to_all(trained):
    assert residuals(trained, mixture=False, precision="int4", beyond=False).group.startswith("dense (")
    dense = [one for one in trained if not one.mixture]
    assert residuals(dense, mixture=True, precision="fp8", beyond=False).group.startswith("all (")


def test_only_a_question_beyond_the_measured_runs_is_widened(trained):
    within, beyond = (residuals(trained, mixture=False, precision="fp8", beyond=flag) for flag in (False, True))
    assert within.widening == 0
    assert beyond.widening > 0
    assert within.log_errors == beyond.log_errors


def test_the_drift_is_how_far_large_runs_lie_from_small_ones(trained):
    def at(devices, error):
        return replace(trained[0], row=replace(trained[0].row, devices=devices), log_time_error=error)

    runs = [at(8, 0.1), at(8, 0.2), at(16, 0.0), at(512, -0.3), at(1024, -0.2), at(512, -0.1)]
    assert scale_drift(runs) == pytest.approx(0.3)
    assert scale_drift(runs[:2]) == 0
    assert scale_drift([]) == 0


def test_the_answer_names_the_rows_of_its_range():
    assert "the model's errors on five" in origin_of_range(ERRORS)


def test_memory_that_may_not_suffice_is_warned_of():
    memory = Estimate(value=250e9, low=240e9, high=300e9)
    assert tight(memory, 300e9) == ()
    assert len(tight(memory, 298e9)) == 1
