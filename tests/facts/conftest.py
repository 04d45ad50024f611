from collections.abc import Callable
from pathlib import Path

import pytest

from rooftree.facts.catalogue import open_catalogue
from rooftree.facts.layers import Catalogue

SOURCES = '[S]\ntitle = "Sheet"\npublisher = "Maker"\ndate = "2026"\nwhere = "maker.example"\n'
GOOD = 'basis = "published"\nsource = "S"\nwhere = "page 1"\n'


@pytest.fixture
def layer(tmp_path: Path) -> Callable[..., Catalogue]:
    """Write part files, `{"switch/a": "…"}`, and open the catalogue with them on top."""

    def opened(files: dict[str, str], folder: str = "mine") -> Catalogue:
        root = tmp_path / folder
        for name, text in {"sources": SOURCES, **files}.items():
            path = root / f"{name}.toml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return open_catalogue([root])

    return opened


@pytest.fixture
def switch() -> Callable[..., str]:
    """A whole switch file; a figure's table, the title or anything at the end can be replaced."""

    def written(
        ports: str = f"value = 64\n{GOOD}",
        power: str = f'value = "2 kW"\n{GOOD}',
        rate: str = f'value = "400 Gb/s"\n{GOOD}',
        title: str = 'title = "A switch"\n',
        end: str = "",
    ) -> str:
        return (
            f"{title}[figures.ports]\n{ports}\n[figures.power_w]\n{power}\n"
            f"[figures.port_bandwidth_bytes_per_s]\n{rate}\n{end}"
        )

    return written
