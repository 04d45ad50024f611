import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of published samples beside the repository; $ROOFTREE_SHARED names another."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("ROOFTREE_SHARED", beside))
    if not folder.is_dir():
        pytest.skip(f"no folder of samples at {folder}; set ROOFTREE_SHARED")
    return folder
