"""Where the facts lie that come with rooftree: inside an installed package, or beside the sources."""

from pathlib import Path


def shipped(name: str) -> Path:
    """Return the folder `catalogue` or `measurements` that comes with this copy of rooftree.

    >>> shipped("catalogue").is_dir()
    True
    """
    package = Path(__file__).resolve().parents[1]
    installed = package / "data" / name
    return installed if installed.is_dir() else package.parents[1] / name
