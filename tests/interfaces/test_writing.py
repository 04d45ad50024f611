"""Files are written whole, all of them or none."""

import pytest

from rooftree.errors import ScenarioError
from rooftree.interfaces.writing import write


def test_files_stand_all_or_none(tmp_path):
    (tmp_path / "b").mkdir()
    with pytest.raises(ScenarioError, match="cannot be written"):
        write(tmp_path, {"a": "new", "b": "new"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]


def test_a_circle_of_links_is_one_message(tmp_path):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(ScenarioError):
        write(tmp_path / "one", {"a": "new"})
