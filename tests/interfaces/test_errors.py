import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rooftree.errors import CatalogueError, DoesNotFit


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian"], "there is no verb 'trian'; did you mean 'train'?"),
        (["zzzzzz"], "known: catalogue, collective, doctor, explain, infer, run, train"),
        (["train", "m", "--gpsu", "8"], "did you mean '--gpus'?"),
        (["train", "m", "--data", "8"], "No such option '--data'"),
        (["--json", "train", "m"], "options come after the verb; write rooftree train … --json"),
        (["-o", "there", "infer", "m"], "options come after the verb; write rooftree infer … -o"),
        (["--tpot=5 ms", "infer", "m"], "options come after the verb; write rooftree infer … --tpot"),
        (["--bytes", "1 GB", "train"], "options come after the verb; write rooftree collective … --bytes"),
        (["--catalogue", "there"], "options come after the verb; write rooftree VERB … --catalogue"),
        (["--jsno", "train", "m"], "No such option '--jsno'"),
        (["train"], "Missing argument 'MODEL'"),
        (["train", "m", "--gpus", "0"], "0 is not in the range x>=1"),
        (["train", "m", "--cluster", "azure-gb300"], "did you mean 'azure-gb300-4608'?"),
        (["collective", "all-reduze", "--gpus", "8", "--bytes", "1 GB"], "did you mean 'all_reduce'?"),
        (["collective", "all_reduce", "--gpus", "8", "--bytes", "64"], "'64' has no unit; write '64 GB' or '64 GiB'"),
        (["collective", "all_reduce", "--gpus", "8", "--bytes", "1 s"], "'1 s' is in s, but B is needed"),
        (["collective", "all_reduce", "--gpus", "8", "--bytes", "0 GB"], "'0 GB' is not positive"),
        (["collective", "all_reduce", "--gpus", "8", "--bytes", "-1 GB"], "'-1 GB' is not positive"),
        (["infer", "m", "--tpot", "50"], "'50' has no unit; write '50 ms'"),
        (["infer", "m", "--tpot", "soon"], "'soon' is not a number with a unit"),
        (["explain", "mfuu"], "there is no metric 'mfuu'; did you mean 'mfu'?"),
        (["explain", "tpott"], "there is no metric 'tpott'; did you mean 'tpot'?"),
        (["catalogue", "somewher"], "did you mean 'somewhere'?"),
        (["catalogue", "--catalogue", "no/such/folder"], "Directory 'no/such/folder' does not exist"),
    ],
)
@pytest.mark.parametrize("json_", [False, True])
def test_a_wrong_question_gets_one_message_on_stderr(rooftree, backend, arguments, message, json_):
    outcome = rooftree(*arguments, *(["--json"] if json_ else []))
    assert outcome.status == 2
    assert outcome.out == ""
    assert message.casefold() in outcome.err.casefold()
    assert outcome.err.count("Error: ") == 1
    assert "Traceback" not in outcome.err


def test_a_fault_of_the_studies_is_told_without_traceback(rooftree, backend):
    backend.fault = DoesNotFit("memory: 412 GB needed", "layout: 48 does not divide 64 heads; try 32")
    outcome = rooftree("train", "m", "--json")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == "Error: memory: 412 GB needed\nlayout: 48 does not divide 64 heads; try 32\n"


def test_an_interrupt_ends_with_130(rooftree, backend):
    backend.fault = KeyboardInterrupt()
    outcome = rooftree("train", "m")
    assert (outcome.status, outcome.out) == (130, "")
    assert "Traceback" not in outcome.err


def test_a_fault_of_our_own_is_not_dressed_up(rooftree, backend):
    backend.fault = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        rooftree("train", "m")


def test_a_closed_pipe_is_no_error():
    code = "import sys; from rooftree.interfaces.cli import main; sys.exit(main(['explain', '--json']))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], stdout=write_end, stderr=subprocess.PIPE, env=environment, check=False
    )
    os.close(write_end)
    assert done.stderr == b""
    assert done.returncode == 128 + signal.SIGPIPE


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "s.toml"],
        ["train", "m"],
        ["infer", "m"],
        ["collective", "all_reduce", "--bytes", "1 GiB", "--gpus", "72"],
        ["catalogue"],
        ["catalogue", "somewhere"],
        ["catalogue", "small"],
        ["explain"],
        ["explain", "mfu"],
        ["doctor"],
    ],
)
def test_json_is_one_object_with_the_time_and_nothing_else(rooftree, backend, arguments):
    outcome = rooftree(*arguments, "--json")
    assert (outcome.status, outcome.err) == (0, "")
    table = json.loads(outcome.out)
    assert isinstance(table, dict)
    assert table["elapsed_s"] >= 0


def test_a_broken_part_fails_doctor_and_only_that(rooftree, backend):
    backend.fault = CatalogueError("rack/x.toml: hosts: missing; add it")
    outcome = rooftree("doctor", "--json")
    failing = [check for check in json.loads(outcome.out)["checks"] if not check["good"]]
    assert outcome.status == 1
    assert [check["what"] for check in failing] == ["efficiency", "site", "prices"]
    assert [check["faults"] for check in failing] == [["rack/x.toml: hosts: missing; add it"], [], []]
    assert failing[0]["detail"] == "1 of 1 parts cannot be used: blackwell"
    assert failing[1]["detail"] == "1 of 1 parts cannot be used: somewhere; the faults are told above"


WRONG = """
[figures.memory_bandwidth_bytes_per_s]
value = "4"
basis = "assumed"
source = "ROOFTREE"
where = "a question of what would be if it were half"
low = "3.9 TB/s"
high = "4.1 TB/s"
note = "what if"
[figures.memory_bandwidht_bytes_per_s]
value = "4 TB/s"
"""


def test_doctor_tells_each_fault_once_on_a_line_of_its_own(rooftree, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("gb300", "h200"):
        path = Path("mine/accelerator") / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(WRONG)
    outcome = rooftree("doctor", "--catalogue", "mine")
    lines = outcome.out.splitlines()
    assert outcome.status == 1
    faults = [line for line in lines if line.startswith("      mine/")]
    assert len(faults) == 4
    files = [line.split(": ")[0].strip() for line in faults]
    assert files == 2 * ["mine/accelerator/gb300.toml"] + 2 * ["mine/accelerator/h200.toml"]
    assert outcome.out.count("unknown figure; did you") == 2
    assert max(map(len, lines[lines.index(faults[0]) :])) <= 100
    failing = [line.split(":")[0] for line in lines if line.startswith("FAILS")]
    assert failing == [f"FAILS {kind}" for kind in ("accelerator", "host", "rack", "cluster")]


def test_doctor_goes_on_behind_broken_sources(rooftree, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine/accelerator").mkdir(parents=True)
    Path("mine/sources.toml").write_text('[X]\ntitle = "a"\npublisher = "b"\ndate = "2025"\n')
    Path("mine/accelerator/gb300.toml").write_text(WRONG)
    out = rooftree("doctor", "--catalogue", "mine").out
    assert out.count("mine/sources.toml: X.where: must be a text") == 1
    assert out.count("'4' has no unit") == 1


def test_doctor_tells_what_is_wrong_with_a_folder(rooftree, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    outcome = rooftree("doctor", "--catalogue", "mine")
    assert outcome.status == 1
    assert "FAILS catalogue: cannot be opened\n      mine: holds no part files;" in outcome.out


def shell(*arguments, **environment):
    """Run the command line in a process of its own."""
    code = "import sys; from rooftree.interfaces.cli import main; sys.exit(main())"
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_a_terminal_of_few_letters_shows_a_sign_for_the_rest():
    done = shell("explain", "mfu", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert b"?" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_an_output_that_cannot_be_written_is_one_message():
    code = "import sys; from rooftree.interfaces.cli import main; sys.exit(main(['explain', 'mfu']))"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, check=False)  # noqa: S603
    assert done.returncode == 2
    assert done.stderr.startswith(b"Error: the output cannot be written")


@pytest.mark.parametrize("name", ["a" * 300, "a" * 300 + ".json", "x/" + "a" * 300])
def test_a_model_path_that_no_system_takes_is_one_message(name):
    done = shell("train", name, "--gpus", "8")
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
