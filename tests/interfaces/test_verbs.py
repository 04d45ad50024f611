import json
from pathlib import Path

import pytest

from rooftree.interfaces.cli.progress import Progress


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_train_asks_with_its_defaults(rooftree, backend):
    assert rooftree("train", "llama", "--json").status == 0
    kind, _, named = backend.questions[-1]
    del named["catalogue"]
    assert kind == "training"
    assert named == {
        "model": "llama",
        "cluster": "azure-gb300-4608",
        "accelerators": 4608,
        "precision": "fp8",
        "sequence": 4096,
        "global_batch": 4608,
        "layout": {},
    }


def test_train_passes_the_layout_on(rooftree, backend):
    rooftree("train", "m", "--gpus", "8", "--tensor", "4", "--interleave", "2", "--global-batch", "32", "--json")
    named = backend.questions[-1][2]
    assert named["layout"] == {"tensor": 4, "interleave": 2}
    assert (named["accelerators"], named["global_batch"]) == (8, 32)


def test_infer_asks_with_its_defaults_and_reads_the_limit(rooftree, backend):
    assert rooftree("infer", "llama", "--tpot", "30 ms", "--output", "256", "--json").status == 0
    kind, _, named = backend.questions[-1]
    del named["catalogue"]
    assert kind == "serving"
    assert named == {
        "model": "llama",
        "cluster": "azure-gb300-4608",
        "accelerators": 72,
        "precision": "",
        "kv_precision": "fp8",
        "input_tokens": 1024,
        "output_tokens": 256,
        "concurrency": 0,
        "time_per_output_token_limit_s": 0.03,
        "layout": {},
    }


def test_infer_passes_the_layout_on(rooftree, backend):
    rooftree("infer", "m", "--tensor", "2", "--expert", "16", "--data", "8", "--precision", "fp8", "--json")
    named = backend.questions[-1][2]
    assert named["layout"] == {"tensor": 2, "expert": 16, "data": 8}
    assert named["precision"] == "fp8"


def test_collective_reads_units_and_dashes(rooftree, backend, snapshot):
    outcome = rooftree("collective", "all-reduce", "--bytes", "1 GiB", "--gpus", "72")
    assert backend.questions[-1] == ("all_reduce", 2.0**30, 72, "azure-gb300-4608")
    assert outcome.out == snapshot


def test_collective_as_json_has_the_fields_of_the_study(rooftree, backend):
    table = json.loads(rooftree("collective", "all_reduce", "--bytes", "1 GiB", "--gpus", "72", "--json").out)
    assert table["busbw_bytes_per_s"] == {"value": 1.42e12, "low": 1.18e12, "high": 1.63e12}
    assert table["algorithm"] == "nvls"
    assert table["sent_bytes"] == {"scale_up": 1.09e9, "scale_out": 0.0}


def test_run_writes_report_and_result_beside_the_name_of_the_scenario(rooftree, backend):
    outcome = rooftree("run", "questions/pod.toml")
    assert outcome.status == 0
    assert sorted(path.name for path in Path("out/pod").iterdir()) == ["report.html", "result.json"]
    assert str(Path("out/pod/report.html")) in outcome.out
    assert json.loads(Path("out/pod/result.json").read_text())["answers"]["training"]["extrapolated"] is True


def test_json_writes_files_only_where_told(rooftree, backend):
    rooftree("run", "pod.toml", "--json")
    assert not Path("out").exists()
    rooftree("run", "pod.toml", "--json", "-o", "there")
    assert Path("there/report.html").exists()


def test_json_keys_the_answers_by_question(rooftree, backend):
    table = json.loads(rooftree("train", "m", "--json").out)
    assert list(table["answers"]) == ["training"]
    assert table["answers"]["training"]["metrics"]["step_s"] == {"value": 6.42, "low": 5.3, "high": 7.8}


def test_a_wrong_folder_is_told_before_anything_is_computed(rooftree, backend):
    Path("taken").write_text("mine")
    outcome = rooftree("train", "m", "-o", "taken")
    assert outcome.status == 2
    assert "taken: is a file, but results go into a folder; choose another folder with -o DIR" in outcome.err
    assert Path("taken").read_text() == "mine"


def test_figures_of_the_user_are_told_on_the_terminal_and_in_the_report(rooftree, backend):
    words = "Figures from your catalogue: mine (1)"
    assert words in rooftree("train", "m", "-o", "there").out
    assert words in Path("there/report.html").read_text()


def test_catalogues_are_passed_on_in_their_order(rooftree, backend):
    Path("a").mkdir()
    Path("b").mkdir()
    rooftree("catalogue", "--catalogue", "b", "--catalogue", "a")
    assert [tuple(extra) for kind, extra in backend.questions if kind == "catalogue"] == [(Path("b"), Path("a"))]


@pytest.mark.parametrize(
    "arguments", [["catalogue"], ["catalogue", "somewhere"], ["catalogue", "small"], ["explain", "mfu"], ["explain"]]
)
def test_what_is_printed_is_as_it_was(rooftree, backend, snapshot, arguments):
    assert rooftree(*arguments).out == snapshot


def test_a_part_as_json_has_the_provenance_of_each_figure(rooftree, backend):
    (part,) = json.loads(rooftree("catalogue", "somewhere", "--json").out)["parts"]
    pue = part["figures"]["pue"]
    assert (pue["value"], pue["basis"], pue["source"], pue["layer"]) == (1.15, "assumed", "MAKER", "shipped")
    assert pue["source_title"] == "Maker: The Data <Sheet> (2025)"
    assert [other["as_published"] for other in pue["others"]] == ["279 GB"]


class Screen:
    def __init__(self, terminal):
        self.terminal, self.text = terminal, ""

    def isatty(self):
        return self.terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.mark.parametrize(("terminal", "waited_s", "shown"), [(True, 3, True), (True, 1, False), (False, 3, False)])
def test_progress_shows_on_a_terminal_after_a_while(monkeypatch, terminal, waited_s, shown):
    now_s = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now_s[0])
    screen = Screen(terminal)
    monkeypatch.setattr("sys.stderr", screen)
    with Progress() as progress:
        now_s[0] += waited_s
        progress("layouts", 0.25)
    assert ("layouts  25%" in screen.text) == shown
    assert screen.text == "" or screen.text.endswith("\r\x1b[2K")


def test_train_passes_on_what_is_recomputed_and_sharded(rooftree, backend):
    rooftree("train", "m", "--gpus", "8", "--tensor", "2", "--recompute", "full", "--shard", "none")
    (named,) = [named for kind, _, named in (q for q in backend.questions if len(q) == 3) if kind == "training"]
    assert named["layout"] == {"tensor": 2, "recompute": "full", "shard": "none"}
