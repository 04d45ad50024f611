"""What stands in no file: places on one machine, hosts in lock files, traces of how the file was made."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOPS = ["home", "work", "tmp", "root", "opt", "mnt", "Users"]
PLACE = re.compile(r"(?<![\w.~$}*-])/(?:" + "|".join(TOPS) + r")/\w")  # a path's start, not the middle of an address
OUTSIDE = re.compile(r"\.\./" + "shared" + r"\b")
MAKERS = [
    ("clau", "de"),
    ("anth", "ropic"),
    ("chat", "gpt"),
    ("co-authored", "-by:"),
    ("sub", "agent"),
    ("ai ", "assistant"),
]
MAKER = re.compile("|".join(first + last for first, last in MAKERS), re.IGNORECASE)
HOST = re.compile(r"://|index-url|find-links|trusted-host|\bfile:", re.IGNORECASE)
BINARY = {".png", ".jpg", ".gif", ".ico", ".woff2", ".gz", ".parquet"}


def tracked() -> list[Path]:
    """Return the files that git knows, or, outside a checkout, those that are not hidden."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    if listing.returncode == 0 and listing.stdout:
        return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]
    seen = (path for path in ROOT.rglob("*") if path.is_file())
    return [path for path in seen if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)]


def faults(text: str, where: str) -> list[str]:
    """Return a line for each word that must not stand in a file."""
    patterns = {"a path of one machine": PLACE, "a path outside the repository": OUTSIDE, "how it was made": MAKER}
    if where.endswith(".lock"):
        patterns["an address; lock files name hashes only (scripts/lock)"] = HOST
    return [
        f"{where}:{number}: '{match[0]}' is {what}; take it out"
        for number, line in enumerate(text.splitlines(), 1)
        for what, pattern in patterns.items()
        if (match := pattern.search(line))
    ]


def test_no_file_names_a_machine_or_how_it_was_made():
    found = []
    for path in tracked():
        if path.suffix not in BINARY:
            found += faults(path.read_text("utf-8"), str(path.relative_to(ROOT)))
    assert found == []


@pytest.mark.parametrize("top", TOPS)
def test_a_path_of_one_machine_is_caught(top):
    assert "one machine" in faults(f'path = "/{top}/x/y"', "a.py")[0]


@pytest.mark.parametrize("maker", ["".join(pair) for pair in MAKERS])
def test_a_trace_of_how_it_was_made_is_caught(maker):
    assert "how it was made" in faults(f"Written by {maker.title()} x", "a.md")[0]


@pytest.mark.parametrize(
    "line", ["https:" + "//example.org/work/x", "docs/home/x", "an agentic workload", "a/tmp/b", "$x/tmp/y"]
)
def test_addresses_and_words_of_the_field_pass(line):
    assert faults(line, "a.md") == []


@pytest.mark.parametrize("line", ["--index-" + "url x", "a @ https:" + "//example.org/a.whl", "fil" + "e:x"])
def test_an_address_in_a_lock_file_is_caught(line):
    assert "an address" in faults(line, "requirements.lock")[0]
    assert faults(line, "a.md") == []


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_each_locked_release_has_hashes(name):
    entries = (ROOT / name).read_text("utf-8").replace("\\\n", " ").splitlines()
    pinned = [line for line in entries if line and not line.startswith("#")]
    assert pinned
    assert [line for line in pinned if "==" not in line or "--hash=sha256:" not in line] == []


def test_the_development_lock_holds_the_runtime_lock():
    names = ("requirements.lock", "requirements-dev.lock")
    run, dev = (
        {line.split()[0] for line in (ROOT / name).read_text("utf-8").splitlines() if "==" in line} for name in names
    )
    assert run <= dev
