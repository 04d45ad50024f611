import json

import pytest

from rooftree.interfaces import charts


def _all(result):
    answer = result.answers[0]
    return {
        "time": charts.time_chart(answer),
        "memory": charts.memory_chart(answer),
        "tornado": charts.tornado(answer),
        "measured": charts.scatters(answer)["step_s"],
        "evidence": charts.evidence_map(result.evidence, result.accelerators),
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
    assert names[-2:] == ["blackwell · gemm_fraction.fp8", "list · accelerator_usd_per_h → usd_per_million_tokens"]
    assert "gb300 · peak_flops_per_s.fp8" not in names


def test_the_evidence_is_dashed_only_beyond_what_was_measured(result):
    def dashed(accelerators):
        traces = charts.evidence_map(result.evidence, accelerators)["data"]
        return [trace["y"][0] for trace in traces if trace["line"].get("dash") == "dash"]

    assert dashed(4608) == ["all-reduce", "training step"]
    assert dashed(512) == ["all-reduce"]
    assert dashed(72) == []
