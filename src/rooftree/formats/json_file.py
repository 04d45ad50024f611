"""JSON objects from files that may be cut off, hostile or something else altogether."""

import json
import math
from pathlib import Path

from rooftree.errors import FormatError
from rooftree.files import read_text, shown, visible
from rooftree.units import parse

LIMIT_BYTES = int(parse("4 MiB", "B"))
"""The largest file that is read; configurations with long lists of quantised modules reach about 1 MiB."""
_MOST = 100  # faults of one kind that are looked for: nobody reads more, and a hostile file must not take seconds


def read_object(path_or_text: Path | str) -> tuple[str, dict[str, object], list[str]]:
    """Return a file's label, its JSON object, and the faults that did not keep it from being read.

    A string whose first visible character is `{` or `[` is the JSON text itself, any other string a path. Keys that
    stand twice and NaN or Infinity are returned as faults, so that the caller can raise them with its own.

    Raises FormatError when there is no object to return: no such file, a folder, too large, empty, not UTF-8, cut off,
    nested too deeply, not JSON, or not an object.

    >>> read_object('{"layers": 2, "layers": 3}')
    ('text', {'layers': 3}, ['layers = 2 and 3: the key stands twice; keep one'])
    """
    if isinstance(path_or_text, str) and path_or_text.lstrip()[:1] in ("{", "["):
        label, text = "text", path_or_text
        if len(text) > LIMIT_BYTES:
            raise FormatError(f"{label}: has more than {LIMIT_BYTES:,} characters; give one config.json")
    else:
        path = Path(path_or_text)
        label, text = visible(str(path)), read_text(path, LIMIT_BYTES, FormatError)
    value, faults = _parse(label, text)
    if not isinstance(value, dict):
        raise FormatError(f"{label}: is {shown(value)}; give one JSON object {{…}}")
    return label, value, faults


def _parse(label: str, text: str) -> tuple[object, list[str]]:
    """Return the JSON value of a text and what is wrong with it."""
    twice: list[str] = []
    constants: list[str] = []

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        table = dict(items)
        if len(table) < len(items) and len(twice) < _MOST:
            twice.extend(_twice(items))
        return table

    def constant(name: str) -> float:
        constants.append(name)
        return float(name)

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as fault:
        if fault.pos >= len(text.rstrip()) or fault.msg.startswith("Unterminated string"):
            raise FormatError(f"{label}: line {fault.lineno}: ends in the middle; download it again") from None
        place = f"line {fault.lineno} column {fault.colno}"
        raise FormatError(f"{label}: {place}: is not JSON: {fault.msg}; mend it or download it again") from None
    except RecursionError:
        raise FormatError(f"{label}: is nested too deeply; give a config.json") from None
    except ValueError:
        raise FormatError(f"{label}: has a number of thousands of digits; check the digits") from None
    faults = [f"{line}: the key stands twice; keep one" for line in twice]
    if constants:
        faults += [f"{key} = {shown(number)}: is not JSON; write a number or null" for key, number in _endless(value)]
    return value, faults


def _twice(items: list[tuple[str, object]]) -> list[str]:
    """Return a line `key = value and value` for each key that an object has twice."""
    seen: dict[str, object] = {}
    lines: dict[str, str] = {}
    for key, value in items:
        if len(lines) >= _MOST:
            break
        if key in seen and key not in lines:
            lines[key] = f"{visible(key)} = {shown(seen[key])} and {shown(value)}"
        seen[key] = value
    return list(lines.values())


def _endless(value: object) -> list[tuple[str, float]]:
    """Return the place and value of each NaN and infinity."""
    found: list[tuple[str, float]] = []
    stack = [("", value)]
    while stack and len(found) < _MOST:
        place, item = stack.pop()
        if isinstance(item, float) and not math.isfinite(item):
            found.append((visible(place) or "value", item))
        elif isinstance(item, dict):
            stack += [(f"{place}.{visible(key)}" if place else visible(key), entry) for key, entry in item.items()]
        elif isinstance(item, list):
            stack += [(place, entry) for entry in item]
    return found
