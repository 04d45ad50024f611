"""The fitted layer of the catalogue: everything that is derived from measured rows, as part files.

`python -m rooftree.studies.fitted_layer` writes it anew; a test holds the files against a new fit.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from rooftree.facts.catalogue import Catalogue, cluster, load, open_catalogue, precision
from rooftree.facts.hardware import Accelerator, Efficiency, Link
from rooftree.facts.shipped import shipped
from rooftree.studies.fit import Fitted, Problem, gemm_problem, ring_problem, solve, switch_problem
from rooftree.units import text, unit_of

_ACROSS = {"nvlink4": "h100-superpod", "nvlink5": "gb200-nvl72"}
_MEASURED_ON = {"nvlink4": ("h200", "h100-sxm"), "nvlink5": ("gb200", "gb200")}
_PLACES = 4


def problems(catalogue: Catalogue) -> dict[str, list[Problem]]:
    """Return every fit by its part; all start from the shipped layer, whatever was fitted before."""
    catalogue = Catalogue(catalogue.layers[:1])
    formats = {name: precision(catalogue, name) for name in ("bf16", "fp8", "nvfp4")}
    accelerators = {n: cast("Accelerator", load(catalogue, "accelerator", n)) for n in ("h100-sxm", "h200", "gb200")}
    result: dict[str, list[Problem]] = {}
    for generation in ("hopper", "blackwell"):
        start = cast("Efficiency", load(catalogue, "efficiency", generation))
        result[f"efficiency/{generation}"] = [gemm_problem(generation, accelerators, formats, start)]
    for name, where in _ACROSS.items():
        up, on = cast("Link", load(catalogue, "link", name)), cluster(catalogue, where)
        ring_on, switch_on = _MEASURED_ON[name]
        ring = ring_problem(ring_on, on.rack.domain_accelerators, up, on.scale_out)
        result[f"link/{name}"] = [ring, switch_problem(switch_on, up)]
    return result


def fit_all(catalogue: Catalogue) -> tuple[Fitted, ...]:
    """Fit every free parameter, on fit rows alone."""
    found: list[Fitted] = []
    for part, each in problems(catalogue).items():
        for problem in each:
            found += solve(problem, part)
    return tuple(found)


def layer_files(fitted: Sequence[Fitted]) -> dict[str, str]:
    """Return the files of the layer by their place in it: figures with value, range and the rows they come from."""
    parts = sorted({one.part for one in fitted})
    return {f"{part}.toml": "\n".join(_table(one) for one in fitted if one.part == part) for part in parts}


def _table(one: Fitted) -> str:
    """Return the table of a figure."""
    unit = unit_of(one.key)
    rows = ", ".join(one.rows[:4]) + (f" and {len(one.rows) - 4} more" if len(one.rows) > 4 else "")
    value, low, high = (_written(number, unit) for number in (one.value, one.low, one.high))
    lines = [
        f'[figures."{one.key}"]' if "." in one.key else f"[figures.{one.key}]",
        f"value = {value}",
        'basis = "derived"',
        'source = "TRUTH"',
        f'where = "robust fit on {len(one.rows)} fit rows: {rows}"',
        f"low = {low}",
        f"high = {high}",
    ]
    return "\n".join(lines) + "\n"


def _written(number: float, unit: str) -> str:
    """Return a number with as many digits as it deserves, in quotes where it has a unit."""
    rounded = float(f"{number:.{_PLACES}g}")
    return repr(rounded) if unit == "1" else f'"{text(rounded, unit)}"'


def write(folder: Path, files: dict[str, str]) -> None:
    """Write the files of the layer."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, "utf-8")


if __name__ == "__main__":
    write(shipped("catalogue") / "fitted", layer_files(fit_all(open_catalogue())))
