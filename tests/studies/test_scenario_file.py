import time

import pytest

from rooftree.errors import ScenarioError
from rooftree.studies.scenario_file import read_table

LISTS = "x = [\n" + ("{a" + ".a" * 150 + " = [\n") * 20 + "]}\n" * 20 + "]\n"


def fault_of(read, **named):
    start_s = time.perf_counter()
    with pytest.raises(ScenarioError) as raised:
        read(**named)
    assert time.perf_counter() - start_s < 1
    return str(raised.value)


def test_an_unknown_key_comes_with_the_nearest_of_its_table(read):
    assert "training.sequnce: is not known here; did you mean 'sequence'?" in fault_of(read, end="sequnce = 1\n")
    assert "did you mean 'tensor'?" in fault_of(read, end="[training.layout]\ntensr = 1\n")
    assert "tilte: is not known here; did you mean 'title'?" in fault_of(read, top="tilte = 1\n")


def test_missing_keys_are_all_named(read):
    text = fault_of(read, tables="[training]\ngpus = 8\n")
    assert [f"training.{key}: is missing; add it" in text for key in ("model", "global_batch", "precision")] == [
        True
    ] * 3


@pytest.mark.parametrize("value", ['"8"', "8.0", "true", "[8]", "nan", "inf", "2020-01-01", "{}"])
def test_a_count_must_be_a_whole_number(read, value):
    with pytest.raises(ScenarioError, match=r"training.gpus = .*: is not a whole number"):
        read({"gpus": value})


def test_a_table_must_be_a_table(read):
    assert "training = a list of 1: is not a table" in fault_of(read, tables="training = [1]\n")


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("x = " + "[" * 30_000, "nested too deeply"),
        (".".join(["a"] * 20_000) + " = 1", "more than 200 dots"),
        ("x = {" + "a.b.c.d.e.f = {" * 2_000, "more than 200 dots"),
        (LISTS, "nested too deeply"),
        ("x = 1" + "0" * 5_000, "thousands of digits"),
        ("x = ", "is not TOML"),
        ("gpus = 8", "is not TOML"),
        ("# " + "x" * 70_000, "has more than 65,536 bytes"),
    ],
    ids=["lists", "dots", "tables", "lists of tables", "digits", "cut off", "twice", "large"],
)
def test_a_hostile_file_ends_in_one_message_in_no_time(read, end, why):
    assert why in fault_of(read, end=end)


def test_many_lines_of_deep_keys_take_no_time(read):
    lines = "".join(f"k{n}" + ".a" * 199 + " = 1\n" for n in range(150))
    assert fault_of(read, end=lines)


@pytest.mark.parametrize(("content", "why"), [(b"", "is empty"), (b"\xff\xfe", "is not UTF-8")])
def test_a_file_that_is_no_text_is_refused(tmp_path, content, why):
    file = tmp_path / "s.toml"
    file.write_bytes(content)
    with pytest.raises(ScenarioError, match=why):
        read_table(file)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match="is a folder"):
        read_table(tmp_path)


def test_control_characters_never_reach_the_terminal(read):
    assert "\x1b" not in fault_of(read, end='"a\\u001b[31m" = 1\n')
