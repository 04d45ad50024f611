"""Files that are either whole or not there."""

import contextlib
import errno
import os
from collections.abc import Mapping
from pathlib import Path

from rooftree.errors import ScenarioError
from rooftree.interfaces.words import clean

_ADVICE = "choose another folder with -o DIR"


def check(folder: Path) -> None:
    """Look whether files can be written into a folder, so that a wrong one is told before anything is computed.

    Raises ScenarioError when it, or what it would lie in, is a file or not writable. Makes nothing.
    """
    try:
        standing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    except (OSError, ValueError) as fault:
        raise ScenarioError(f"{clean(str(folder))}: {_why(fault)}; {_ADVICE}") from None
    if not standing.is_dir():
        raise ScenarioError(f"{clean(str(standing))}: is a file, but results go into a folder; {_ADVICE}")
    if not os.access(standing, os.W_OK | os.X_OK):
        raise ScenarioError(f"{clean(str(standing))}: is not writable; change its permissions or {_ADVICE}")


def write(folder: Path, texts: Mapping[str, str]) -> dict[str, Path]:
    """Write files into a folder, all of them beside their places first and then moved there, and return their paths.

    Raises ScenarioError when one cannot be written; what stood in their places is then left as it was.
    """
    check(folder)
    places = {name: (folder / f".{name}.{os.getpid()}.part", folder / name) for name in texts}
    at = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, (beside, at) in places.items():
            if at.is_dir():
                raise IsADirectoryError(errno.EISDIR, "a folder stands in its place")
            beside.write_text(texts[name], encoding="utf-8")
        for beside, at in places.values():
            beside.replace(at)
    except OSError as fault:
        raise ScenarioError(f"{clean(str(at))}: cannot be written: {_why(fault)}; {_ADVICE}") from None
    finally:
        for beside, _ in places.values():
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
    return {name: path for name, (_, path) in places.items()}


def _why(fault: OSError | ValueError) -> str:
    """Return the reason of a failure in words."""
    return (fault.strerror if isinstance(fault, OSError) else "") or "not a valid path"
