"""Efficiency figures from measured rows: robust least squares in the logarithm of the time, on fit rows alone.

The free parameters belong to a GPU generation, a precision or a link. Each comes back with a range from the spread of
the residuals, and becomes a derived figure of the catalogue's fitted layer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from rooftree.facts.hardware import Accelerator, Efficiency, Link, Precision
from rooftree.facts.measurements import Measurement, table
from rooftree.models.collectives import ring_s, switch_reduce_s
from rooftree.models.efficiency import kernel_s
from rooftree.models.kernels import Kernel, Slice, gemm
from rooftree.models.layout import Group

FloatArray = npt.NDArray[np.float64]
GENERATIONS: Mapping[str, Mapping[str, str]] = {
    "hopper": {"h100-sxm": "h100-sxm", "h200": "h200", "gh200": "h100-sxm"},
    "blackwell": {"gb200": "gb200"},
}
"""Accelerators whose rows fit a generation's efficiency → the part with their rates (GH200 has the H100's GPU)."""
PULL = 0.01  # pure: weight of the pull towards the start
WIDE = 16384.0  # pure: columns; beyond this no product gets faster
"""Side of the square product that rows of an unnamed "best shape" are taken as."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A fitted figure: its value, its range, and the rows that it comes from."""

    part: str
    key: str
    value: float
    low: float
    high: float
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Residuals ln(predicted / measured) of some rows as a function of free parameters, with starts and bounds."""

    keys: tuple[str, ...]
    start: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    rows: Sequence[Measurement]
    predict: Callable[[Mapping[str, float], Measurement], float]


def solve(problem: Problem, part: str) -> tuple[Fitted, ...]:
    """Fit a problem; the range of a parameter is where it may move before the typical residual is exceeded.

    minimise sum rho(ln predicted - ln measured) over the logarithms of the parameters, rho = soft L1 with a scale of
    5 %; a weak pull (1 %) towards the start keeps parameters that the rows do not see where they were.
    """
    measured = np.log([row.value for row in problem.rows])
    start = np.log(problem.start)

    def residual(point: FloatArray) -> FloatArray:
        values = dict(zip(problem.keys, np.exp(point).tolist(), strict=True))
        predicted = np.log([problem.predict(values, row) for row in problem.rows])
        return np.concatenate([predicted - measured, PULL * (point - start)])

    bounds = (np.log(problem.low), np.log(problem.high))
    found = least_squares(residual, start, bounds=bounds, loss="soft_l1", f_scale=0.05, x_scale="jac")
    jacobian = np.asarray(found.jac)
    spread = float(np.median(np.abs(residual(found.x)[: len(problem.rows)])))
    deviation = spread * np.sqrt(np.diag(np.linalg.pinv(jacobian.T @ jacobian)))
    best, width = np.exp(found.x), np.exp(np.minimum(deviation, 0.5))
    ids = tuple(row.id for row in problem.rows)
    return tuple(
        Fitted(part=part, key=key, value=float(v), low=float(max(v / w, lo)), high=float(min(v * w, hi)), rows=ids)
        for key, v, w, lo, hi in zip(problem.keys, best, width, problem.low, problem.high, strict=True)
    )


def fit_rows(name: str, accelerators: Sequence[str]) -> list[Measurement]:
    """Return the fit rows of a table for some accelerators."""
    return [row for row in table(name).rows if row.split == "fit" and row.accelerator in accelerators]


def gemm_problem(
    generation: str,
    accelerators: Mapping[str, Accelerator],
    precisions: Mapping[str, Precision],
    start: Efficiency,
) -> Problem:
    """Matrix products of a generation: the fraction of each precision, the half width and the launch cost."""
    stands_for = GENERATIONS[generation]
    rows = [as_time(row) for row in fit_rows("micro", tuple(stands_for)) if row.quantity in ("gemm", "gemm_best")]
    names = sorted({row.conditions["precision"] for row in rows})

    def predict(values: Mapping[str, float], row: Measurement) -> float:
        trial = replace(
            start,
            gemm_fraction={precision: values[f"gemm_fraction.{precision}"] for precision in names},
            gemm_half_width=values["gemm_half_width"],
            launch_s=values["launch_s"],
        )
        accelerator = accelerators[stands_for[row.accelerator]]
        return kernel_s(gemm_kernel(row, precisions), replace(accelerator, efficiency=trial))

    first = tuple(start.gemm_fraction[precision] for precision in names)
    many = len(names)
    return Problem(
        keys=(*(f"gemm_fraction.{precision}" for precision in names), "gemm_half_width", "launch_s"),
        start=(*first, start.gemm_half_width, start.launch_s),
        low=(*(0.1,) * many, start.gemm_half_width / 10, start.launch_s / 10),
        high=(*(1.0,) * many, start.gemm_half_width * 10, start.launch_s * 10),
        rows=rows,
        predict=predict,
    )


def sides(row: Measurement) -> tuple[float, float, float]:
    """Rows, columns and inner length of the product that a row measured."""
    m, n, k = (float(row.count(side, int(WIDE))) for side in ("m", "n", "k"))
    return m, n, k


def as_time(row: Measurement) -> Measurement:
    """Return a row of FLOP/s as one of seconds."""
    m, n, k = sides(row)
    return replace(row, value=2 * m * n * k / row.value, unit="s")


def gemm_kernel(row: Measurement, precisions: Mapping[str, Precision]) -> Kernel:
    """Return the product that a row measured: operands in its precision, the result in 16 bits."""
    linear = precisions[row.conditions["precision"]]
    share = Slice(tensor=1, context=1, expert=1, linear=linear, core=precisions["bf16"])
    return gemm("gemm", *sides(row), share)


def ring_problem(accelerator: str, domain: int, up: Link, out: Link) -> Problem:
    """Ring all-reduces of one accelerator: fraction, base and step; with rows across domains, their fraction too."""
    rows = [row for row in collective_rows(accelerator) if row.conditions["algorithm"] == "ring"]

    def predict(values: Mapping[str, float], row: Measurement) -> float:
        return ring_s(_bytes(row), Group(row.devices, min(domain, row.devices)), link_with(up, values), out, rounds=2)

    fractions: tuple[str, ...] = ("ring_fraction", "cross_fraction")
    fractions = fractions if any(row.devices > domain for row in rows) else fractions[:1]
    many = len(fractions)
    return Problem(
        keys=(*fractions, "base_s", "step_s"),
        start=(*(getattr(up, key) for key in fractions), up.base_s, up.step_s),
        low=(*(0.1,) * many, up.base_s / 20, up.step_s / 20),
        high=(*(1.0,) * many, up.base_s * 20, up.step_s * 20),
        rows=rows,
        predict=predict,
    )


def switch_problem(accelerator: str, up: Link) -> Problem:
    """All-reduces done in the switches: the fraction, from messages of a megabyte up (NVLS is not used below)."""
    rows = [row for row in collective_rows(accelerator) if row.conditions["algorithm"] == "nvls"]
    rows = [row for row in rows if _bytes(row) >= 2**20]

    def predict(values: Mapping[str, float], row: Measurement) -> float:
        return switch_reduce_s(_bytes(row), row.devices, link_with(up, values))

    return Problem(
        keys=("reduce_fraction",), start=(up.reduce_fraction,), low=(0.1,), high=(1.0,), rows=rows, predict=predict
    )


def link_with(link: Link, values: Mapping[str, float]) -> Link:
    """Return a link with other efficiency figures."""
    kept = {
        key: getattr(link, key) for key in ("ring_fraction", "cross_fraction", "reduce_fraction", "base_s", "step_s")
    }
    now = kept | dict(values)
    return replace(
        link,
        ring_fraction=now["ring_fraction"],
        cross_fraction=now["cross_fraction"],
        reduce_fraction=now["reduce_fraction"],
        base_s=now["base_s"],
        step_s=now["step_s"],
    )


def collective_rows(accelerator: str) -> list[Measurement]:
    """Return the fit rows of all-reduces on an accelerator."""
    return [row for row in fit_rows("collectives", (accelerator,)) if row.quantity == "all_reduce"]


def _bytes(row: Measurement) -> float:
    """Return the size of a row's message."""
    return float(row.conditions["bytes"])
