"""Questions of users as data: each file holds a question with what its answer must say, and a wrong twin.

A file has the tables `[right]` and `[wrong]`; each has `command` and, where there are any, `files` to write first:
text, or `{ before, repeat, times, after }` for what is too long to write down. `[wrong.files]` come on top of those of
`[right]`. `[right.fields]` maps places in the JSON to a value, or to `{ low, high }`. `[wrong]` ends with `exit` 2 and
says all of `stderr`; or, where its question is a good one, `differs` maps places to the ratio to the right answer,
`{ low, high }`.
"""

import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from rooftree.interfaces.cli import main

FILES = sorted(Path(__file__).parent.glob("*.toml"))
CASES = {file.stem: tomllib.loads(file.read_text("utf-8")) for file in FILES}
BAD = {name: case for name, case in CASES.items() if case["wrong"].get("exit") == 2}
GOOD = {name: case for name, case in CASES.items() if name not in BAD}
SHELL = "import sys; from rooftree.interfaces.cli import main; sys.exit(main())"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ROOFTREE_HOME", raising=False)


@pytest.fixture
def ask(capfd):
    """Write the files of a question and ask it in this process; status, stdout, stderr, seconds."""

    def asked(files, command):
        place(files)
        start_s = time.perf_counter()
        status = main(command)
        took_s = time.perf_counter() - start_s
        return status, *capfd.readouterr(), took_s

    return asked


def place(files):
    """Write files into the current folder."""
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, dict):
            text = text.get("before", "") + text["repeat"] * text["times"] + text.get("after", "")
        path.write_text(text, "utf-8")


def files_of(case, side):
    return {**case["right"].get("files", {}), **(case["wrong"].get("files", {}) if side == "wrong" else {})}


def standing():
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def at(table, where):
    """Return the entry at a place such as `answers.training.metrics.step_s.value`."""
    for step in where.split("."):
        table = table[int(step)] if isinstance(table, list) else table[step]
    return table


def misses(found, wanted):
    """Whether a value is not what was wanted: between low and high, or equal."""
    if isinstance(wanted, dict):
        return not wanted["low"] <= found <= wanted["high"]
    return found != wanted


@pytest.mark.parametrize("name", CASES)
def test_the_question_gets_its_answer(ask, name):
    case = CASES[name]
    status, out, err, _ = ask(files_of(case, "right"), [*case["right"]["command"], "--json"])
    assert (status, err) == (0, "")
    table = json.loads(out)
    assert case["right"]["fields"]
    found = {where: (at(table, where), wanted) for where, wanted in case["right"]["fields"].items()}
    assert {where: pair for where, pair in found.items() if misses(*pair)} == {}


@pytest.mark.parametrize("json_", [True, False])
@pytest.mark.parametrize("name", BAD)
def test_the_wrong_twin_gets_one_message_in_no_time_and_writes_nothing(ask, name, json_):
    case, files = BAD[name], files_of(BAD[name], "wrong")
    place(files)
    before = standing()
    folder = [] if case["wrong"]["command"][0] == "collective" else ["-o", "answer"]
    status, out, err, took_s = ask(files, [*case["wrong"]["command"], *folder, *(["--json"] if json_ else [])])
    assert (status, out) == (2, "")
    assert err.count("Error: ") == 1
    assert "Traceback" not in err
    assert [word for word in case["wrong"]["stderr"] if word not in err] == []
    assert took_s < 1
    assert standing() == before
    assert not Path("answer").exists()


@pytest.mark.parametrize("name", GOOD)
def test_the_other_question_gets_another_answer(ask, name):
    case = GOOD[name]
    right, wrong = (
        json.loads(ask(files_of(case, side), [*case[side]["command"], "--json"])[1]) for side in ("right", "wrong")
    )
    ratios = {where: (at(wrong, where) / at(right, where), ends) for where, ends in case["wrong"]["differs"].items()}
    assert ratios
    assert {where: pair for where, pair in ratios.items() if misses(*pair)} == {}


@pytest.mark.parametrize("side", ["right", "wrong"])
def test_a_shell_sees_the_same(side):
    case = CASES["unknown-key"]
    place(files_of(case, side))
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", SHELL, *case[side]["command"], "--json"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    if side == "right":
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["answers"]
    else:
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr


def test_every_case_has_its_twin():
    assert len(CASES) >= 18
    for name, case in CASES.items():
        assert set(case) == {"title", "right", "wrong"}, name
        assert case["wrong"].get("stderr") or case["wrong"].get("differs"), name
        assert case["right"] != case["wrong"], name


@pytest.mark.parametrize(
    ("found", "wanted"), [(1, 2), (3.0, {"low": 1, "high": 2}), (True, False), (0, {"low": 1, "high": 2})]
)
def test_a_wrong_field_is_noticed(found, wanted):
    assert misses(found, wanted)
    assert not misses(wanted["low"] if isinstance(wanted, dict) else wanted, wanted)
