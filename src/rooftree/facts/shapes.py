"""Which numbers a transformer's shape may have, whoever wrote the file."""

import difflib
from collections.abc import Iterable, Mapping

from rooftree.files import visible

RANGES: Mapping[str, tuple[int, int]] = {
    "layers": (1, 10_000),  # pure: a limit on nonsense
    "hidden": (1, 2**20),
    "mlp_width": (1, 2**24),
    "dense_layers": (0, 10_000),  # pure: as layers
    "vocabulary": (1, 2**24),
    "prediction_layers": (0, 64),
    "maximum_tokens": (1, 2**40),
    "heads": (1, 2**16),
    "kv_heads": (1, 2**16),
    "head_dim": (1, 2**16),
    "query_rank": (0, 2**20),
    "kv_rank": (1, 2**20),
    "nope_dim": (0, 2**16),
    "rope_dim": (0, 2**16),
    "value_dim": (1, 2**16),
    "routed": (1, 2**20),
    "active": (1, 2**20),
    "shared": (0, 2**16),
    "width": (1, 2**24),
}
"""Field → smallest and largest value that is read. The largest lie far above any published or planned model (a model
at several of them would have more than 10^17 parameters): what lies beyond is a slip, not a shape."""


def number_fault(field: str, value: object) -> str:
    """Return why `value` cannot be a field of a shape and what to do; empty when it can.

    >>> number_fault("layers", 126), number_fault("layers", "126")
    ('', 'is text; write an integer without quotes')
    >>> number_fault("layers", 10**9)
    'is more than 10,000, the most that is read; check the digits'
    """
    low, high = RANGES[field]
    if isinstance(value, bool) or not isinstance(value, int):
        return f"is {_kind(value)}; write an integer{' without quotes' if isinstance(value, str) else ''}"
    if value < low:
        return f"is less than {low}; write a {'positive' if low else 'non-negative'} integer"
    if value > high:
        return f"is more than {high:,}, the most that is read; check the digits"
    return ""


def relation_faults(values: Mapping[str, int], names: Mapping[str, str]) -> list[str]:
    """Return what doesn't fit together among the fields of a shape.

    kv_heads divides heads; active <= routed; dense_layers <= layers.

    `names` says how the file spells a field. Fields that are not in `values` are not judged.

    >>> relation_faults({"active": 9, "routed": 8}, {"active": "num_experts_per_tok", "routed": "n_routed_experts"})
    ['num_experts_per_tok = 9: is more than n_routed_experts = 8; write at most 8']
    """
    faults = []
    if {"heads", "kv_heads"} <= values.keys() and values["heads"] % values["kv_heads"]:
        heads, groups = values["heads"], values["kv_heads"]
        fitting = min((n for n in range(1, heads + 1) if heads % n == 0), key=lambda n: abs(n - groups))
        faults.append(
            f"{names['kv_heads']} = {groups}: does not divide {names['heads']} = {heads}; try {fitting}",
        )
    for small, large in (("active", "routed"), ("dense_layers", "layers")):
        if {small, large} <= values.keys() and values[small] > values[large]:
            faults.append(
                f"{names[small]} = {values[small]}: is more than {names[large]} = {values[large]}; "
                f"write at most {values[large]}"
            )
    return faults


def missing_fault(key: str, others: Iterable[str]) -> str:
    """Return the line for a key that isn't there, with the nearest of the `others` that are.

    >>> missing_fault("hidden_size", ["hiden_size"])
    "hidden_size: is missing; is it meant by 'hiden_size'? write 'hidden_size'"
    """
    candidates = [other for other, _ in zip(others, range(200), strict=False) if len(other) <= 2 * len(key)]
    close = difflib.get_close_matches(key, candidates, n=1, cutoff=0.75)
    return f"{key}: is missing; " + (f"is it meant by '{visible(close[0])}'? write '{key}'" if close else "add it")


def _kind(value: object) -> str:
    """Return what a value is, in words."""
    if value is None:
        return "null"
    kinds = {bool: "a truth value", str: "text", float: "not an integer", list: "a list", dict: "an object"}
    return kinds.get(type(value), "not a number")
