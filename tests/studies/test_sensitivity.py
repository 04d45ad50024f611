from dataclasses import replace

import pytest

from rooftree.facts.parts import walk, with_figure
from rooftree.studies import serving, training
from rooftree.studies.sensitivity import NOTICED, drawn_clusters, figures_used, is_count, quantiles


@pytest.fixture
def asked(train, infer):
    """By name, a cluster and its metrics as a function of it."""
    case = train(accelerators=144, global_batch=288, layout={"tensor": 2, "pipeline": 2}).training.case
    best = serving.find(infer(model="deepseek-r1", accelerators=72, precision="nvfp4").serving)[0][0]
    return {
        "training": (case.cluster, lambda on: training.metrics(replace(case, cluster=on), 144)),
        "serving": (case.cluster, lambda on: serving.metrics(best, 72, on)),
    }


@pytest.mark.parametrize("name", ["training", "serving"])
def test_assumed_figures_come_first_and_then_the_strongest(asked, name):
    uses = figures_used(*asked[name])
    assumed = [use.figure.basis == "assumed" for use in uses]
    assert any(assumed)
    assert not all(assumed)
    assert assumed == sorted(assumed, reverse=True)
    for basis in (True, False):
        sizes = [max(abs(u.effect_low), abs(u.effect_high)) for u in uses if (u.figure.basis == "assumed") == basis]
        assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("name", ["training", "serving"])
def test_only_figures_that_move_a_metric_by_a_thousandth_are_listed(asked, name):
    for use in figures_used(*asked[name]):
        assert max(abs(use.effect_low), abs(use.effect_high)) > NOTICED


@pytest.mark.parametrize("name", ["training", "serving"])
def test_halving_or_doubling_a_listed_figure_moves_its_metric(asked, name):
    cluster, evaluate = asked[name]
    base, uses = evaluate(cluster), figures_used(cluster, evaluate)
    assert len(uses) > 15
    for use in uses:
        place = (*use.part.split(" "), use.key)
        moved = [evaluate(with_figure(cluster, *place, use.figure.value * times)) for times in (0.5, 2.0)]
        assert max(abs(one[use.metric] / base[use.metric] - 1) for one in moved) > NOTICED, use.key


@pytest.mark.parametrize("name", ["training", "serving"])
def test_a_figure_that_is_not_listed_moves_nothing_in_its_range(asked, name):
    cluster, evaluate = asked[name]
    base = evaluate(cluster)
    listed = {(use.part, use.key) for use in figures_used(cluster, evaluate)}
    for kind, part, key, figure in walk(cluster):
        if (f"{kind} {part}", key) in listed or is_count(figure):
            continue
        for value in (figure.low, figure.high):
            moved = evaluate(with_figure(cluster, kind, part, key, value))
            assert all(abs(moved[m] - base[m]) <= NOTICED * abs(base[m]) * 1.01 for m in base), key


def test_the_effects_are_those_of_the_ends_of_the_range(asked):
    cluster, evaluate = asked["training"]
    base = evaluate(cluster)["step_s"]
    use = next(u for u in figures_used(cluster, evaluate) if u.metric == "step_s" and not u.figure.exact)
    at_low = evaluate(with_figure(cluster, *use.part.split(" "), use.key, use.figure.low))["step_s"]
    assert use.effect_low == pytest.approx(at_low / base - 1)


def test_the_headline_is_shown_where_a_figure_moves_it(asked):
    uses = figures_used(*asked["training"])
    by_key = {use.key: use.metric for use in uses}
    assert by_key["peak_flops_per_s.fp8"] == "step_s"
    assert by_key["accelerator_usd_per_h"] == "usd_per_million_tokens"


def test_counts_are_not_moved(asked):
    cluster, evaluate = asked["training"]
    keys = {use.key for use in figures_used(cluster, evaluate)}
    assert not keys & {"racks", "hosts", "accelerators", "domain_accelerators", "cpus"}
    assert {k for *_, k, figure in walk(cluster) if is_count(figure)} >= {"racks", "hosts", "accelerators"}


def test_drawn_figures_stay_in_their_ranges_and_exact_ones_as_they_are(asked):
    cluster, _ = asked["training"]
    clusters = drawn_clusters(cluster, 3, 20)
    seen = set()
    for drawn in clusters:
        for (kind, name, key, before), (*_, after) in zip(walk(cluster), walk(drawn), strict=True):
            assert before.low <= after.value <= before.high
            if before.exact:
                assert after.value == before.value
            elif after.value != before.value:
                seen.add((kind, name, key))
    assert len(seen) == sum(not figure.exact and not is_count(figure) for *_, figure in walk(cluster))


def test_draws_follow_their_seed(asked):
    cluster, _ = asked["training"]
    first, again, other = (drawn_clusters(cluster, seed, 2)[0] for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_quantiles_are_the_twentieth_from_each_end():
    samples = [{"x": float(n)} for n in range(101)]
    assert quantiles(samples, "x") == pytest.approx((5.0, 95.0))
