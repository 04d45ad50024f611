import itertools
import json
import math
from dataclasses import replace

import pytest

from rooftree.interfaces import charts
from rooftree.interfaces.looks import tick, ticks


def _all(result):
    answer = result.answers[0]
    return {
        "time": charts.time_chart(answer),
        "memory": charts.memory_chart(answer),
        "tornado": charts.tornado(answer),
        "measured": charts.scatters(answer)["step_s"],
        "evidence": charts.evidence_map(result.evidence, result.cluster_accelerators),
    }


@pytest.mark.parametrize("name", ["time", "memory", "tornado", "measured", "evidence"])
def test_pictures_are_as_they_were(result, snapshot, name):
    assert json.dumps(_all(result)[name], indent=1, ensure_ascii=False) == snapshot


@pytest.mark.parametrize("name", ["time", "memory", "tornado", "measured", "evidence"])
def test_plotly_takes_the_pictures(result, name):
    from plotly.graph_objects import Figure

    chart = _all(result)[name]
    assert len(Figure(chart).data) == len(chart["data"])


def test_the_tornado_leaves_out_what_moves_nothing(result):
    names = charts.tornado(result.answers[0])["data"][0]["y"]
    last = ["blackwell<br>gemm_fraction.fp8", "list<br>accelerator_usd_per_h<br>→ usd_per_million_tokens"]
    assert names[-2:] == last
    assert "gb300<br>peak_flops_per_s.fp8" not in names


def test_the_evidence_is_dashed_only_beyond_what_was_measured(result):
    def dashed(accelerators):
        traces = charts.evidence_map(result.evidence, accelerators)["data"]
        return [trace["y"][0] for trace in traces if trace["line"].get("dash") == "dash"]

    assert dashed(4608) == ["all-reduce", "training step"]
    assert dashed(512) == ["all-reduce"]
    assert dashed(72) == []


def _measured(answer):
    (chart,) = charts.scatters(answer).values()
    return chart


def _colours(answer):
    return {trace["name"]: trace["marker"]["color"] for trace in _measured(answer)["data"] if "marker" in trace}


def test_rows_of_a_split_keep_their_colour_in_whatever_company(result):
    answer = result.answers[0]
    test, fit = answer.neighbours
    both = _colours(answer)
    assert len(set(both.values())) == 2
    assert _colours(replace(answer, neighbours=(fit, test))) == both
    assert _colours(replace(answer, neighbours=(fit,))) == {"fit rows": both["fit rows"]}
    assert _colours(replace(answer, neighbours=(test,))) == {"test rows": both["test rows"]}


@pytest.mark.parametrize("start", [1e-6, 0.013, 0.99, 1.0, 2.1, 3.3, 7.7, 4.4e5])
@pytest.mark.parametrize("ratio", [1.69, 1.8, 2, 3, 5, 9, 12, 31, 49, 99, 101, 900, 1e5, 1e6, 1e12])
def test_ticks_are_few_and_far_between(start, ratio):
    marks = ticks(start, start * ratio)
    assert 2 <= len(marks) <= 4
    assert start <= marks[0]
    assert marks[-1] <= start * ratio
    gaps = [math.log(high / low) / math.log(ratio) for low, high in itertools.pairwise(marks)]
    assert min(gaps) > 0.15
    assert len({tick(mark, "s") for mark in marks}) == len(marks)


def test_the_axes_of_the_errors_carry_their_unit(result):
    answer = result.answers[0]
    axis = _measured(answer)["layout"]["xaxis"]
    assert axis["ticktext"] == ["5 s", "10 s", "20 s"]
    assert axis["title"]["text"] == "measured"
    rate = {"metric": "tokens_per_s_per_accelerator", "unit": "1/s", "measured": 2e5, "predicted": 9e5}
    rates = replace(answer, neighbours=(replace(answer.neighbours[0], **rate),))
    axis = _measured(rates)["layout"]["yaxis"]
    assert axis["ticktext"] == ["200 k/s", "500 k/s", "1 M/s"]
    assert axis["title"]["text"] == "predicted (tokens/s)"
    odd = replace(answer, neighbours=(replace(answer.neighbours[0], metric="speed", unit="furlong/s"),))
    assert _measured(odd)["layout"]["xaxis"]["ticktext"] == ["5", "6", "7", "8"]
