import json
import os
import signal
import subprocess
import sys

import pytest

from rooftree.errors import CatalogueError, DoesNotFit


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian"], "there is no verb 'trian'; did you mean 'train'?"),
        (["zzzzzz"], "known: catalogue, collective, doctor, explain, infer, run, train"),
        (["train", "m", "--gpsu", "8"], "did you mean '--gpus'?"),
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
    assert "rack/x.toml: hosts: missing; add it" in failing[0]["detail"]
