"""Small text files of a user, whatever really lies at their path."""

import json
import stat
import tomllib
from pathlib import Path
from typing import Any

from rooftree.errors import RooftreeError

_LONGEST = 200
_MOST_DOTS = 200
_MOST_FAULTS = 20


def read_text(path: Path, limit_bytes: int, error: type[RooftreeError]) -> str:
    """Return the text of a regular UTF-8 file that isn't empty.

    Raises `error` when there is no such file, it is a folder or a device, cannot be opened, is larger than
    `limit_bytes`, is empty or isn't UTF-8. Nothing is read beyond the limit.

    >>> from rooftree.errors import FormatError
    >>> read_text(Path("no/such/config.json"), 100, FormatError)
    Traceback (most recent call last):
    ...
    rooftree.errors.FormatError: no/such/config.json: no such file; check the path
    """
    label = visible(str(path))
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise error(f"{label}: is a folder; give a file in it")
        if not stat.S_ISREG(mode):
            raise error(f"{label}: is a device or a pipe; give a regular file")
        with path.open("rb") as file:
            content = file.read(limit_bytes + 1)
    except FileNotFoundError:
        raise error(f"{label}: no such file; check the path") from None
    except (OSError, ValueError) as fault:
        why = (fault.strerror if isinstance(fault, OSError) else "") or "not a valid path"
        raise error(f"{label}: cannot be opened: {why}; check the path and its permissions") from None
    if len(content) > limit_bytes:
        raise error(f"{label}: has more than {limit_bytes:,} bytes; give the file itself, not an archive or weights")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise error(f"{label}: byte {fault.start} is not UTF-8; save the file as UTF-8 text") from None
    if not text.strip():
        raise error(f"{label}: is empty; download it again")
    return text


def toml_table(text: str, label: str, error: type[RooftreeError]) -> dict[str, Any]:
    """Return the table of a TOML text.

    Raises `error` when it is not TOML, or nested or dotted deeper than any table that a person writes: the reader takes
    quadratic time over a key of many parts.

    >>> from rooftree.errors import FormatError
    >>> toml_table("a = 1", "x.toml", FormatError)
    {'a': 1}
    """
    if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):
        raise error(f"{label}: a line has more than {_MOST_DOTS} dots; write plain tables")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise error(f"{label}: is not TOML: {visible(str(fault))}; mend that place") from None
    except RecursionError:
        raise error(f"{label}: is nested too deeply; write plain tables") from None
    except ValueError:
        raise error(f"{label}: has a number of thousands of digits; check the digits") from None


def stands(path: Path) -> bool:
    """Whether a file lies at a path; a path that cannot be looked at, such as one too long, is none.

    >>> stands(Path("a" * 5000))
    False
    """
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def visible(text: str) -> str:
    r"""Return a user's text on one line, without control characters, and at most 200 characters of it.

    >>> visible("a\nb\x1b[31m")
    'a\\nb\\x1b[31m'
    """
    short = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in short)


def shown(value: object) -> str:
    """Return a value of a file as a message shows it: as JSON, short, on one line.

    >>> shown("4096"), shown(None), shown([1, 2]), shown(1e9)
    ('"4096"', 'null', 'a list of 2', '1000000000.0')
    """
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return json.dumps(value if len(value) <= 40 else value[:37] + "...")
    text = json.dumps(value) if value is None or isinstance(value, bool | int | float) else visible(str(value))
    return text if len(text) <= 40 else text[:37] + "..."


def placed(label: str, fault: str) -> str:
    """Return a fault with the file that it is in before it; without one it came from the command line.

    >>> placed("a.toml", "x: missing"), placed("", "x: missing")
    ('a.toml: x: missing', 'x: missing')
    """
    return f"{label}: {fault}" if label else fault


def raise_all(label: str, faults: list[str], error: type[RooftreeError]) -> None:
    """Raise `error` with a line `label: fault` for each fault; do nothing without faults.

    Of a file with very many faults the first twenty are shown.

    >>> from rooftree.errors import FormatError
    >>> raise_all("a.json", ["x = 1: too small; write 2", "y: missing; add it"], FormatError)
    Traceback (most recent call last):
    ...
    rooftree.errors.FormatError: a.json: x = 1: too small; write 2
    a.json: y: missing; add it
    """
    lines = [placed(label, fault) for fault in faults[:_MOST_FAULTS]]
    if len(faults) > _MOST_FAULTS:
        lines.append(placed(label, f"there are more faults than these {_MOST_FAULTS}; mend these first"))
    if lines:
        raise error(*lines)
