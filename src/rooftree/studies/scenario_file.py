"""The keys of a scenario file, and how its text becomes them: every fault of the file at once."""

import json
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar, get_args, get_type_hints

from rooftree.errors import ScenarioError, nearest
from rooftree.files import placed, raise_all, read_text, shown, toml_table, visible
from rooftree.units import parse

_LIMIT_BYTES = int(parse("64 KiB", "B"))
"""In a line: a key of very many parts takes the TOML reader time and memory that grow with its square."""
_FORBID: dict[str, Any] = {"extra": "forbid", "strict": True}


@dataclass(kw_only=True)
class LayoutKeys:
    """Table `layout`: sizes of the parallel groups; what is left out is 1."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _FORBID
    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    data: int = 0
    microbatch: int = 1
    interleave: int = 1
    recompute: str = "none"
    shard: str = "optimizer"


@dataclass(kw_only=True)
class TrainingKeys:
    """Table `training`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _FORBID
    model: str
    gpus: int
    global_batch: int
    sequence: int
    precision: str
    gpus_per_domain: int = 0
    prediction: bool = False
    layout: LayoutKeys | None = None


@dataclass(kw_only=True)
class ServingKeys:
    """Table `serving`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _FORBID
    model: str
    gpus: int
    input_tokens: int
    output_tokens: int
    precision: str
    kv_precision: str
    concurrency: int = 0
    time_per_output_token_limit: str = ""
    gpus_per_domain: int = 0
    layout: LayoutKeys | None = None


@dataclass(kw_only=True)
class ScenarioKeys:
    """The whole file."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _FORBID
    title: str
    cluster: str
    seed: int = 1
    training: TrainingKeys | None = None
    serving: ServingKeys | None = None


def read_table(path: Path) -> tuple[dict[str, Any], str]:
    """Return the table of a scenario file and its text; raises ScenarioError for what is not TOML."""
    text = read_text(path, _LIMIT_BYTES, ScenarioError)
    return toml_table(text, visible(str(path)), ScenarioError), text


def keys_from(table: dict[str, Any], label: str) -> ScenarioKeys:
    """Return the keys of a table.

    Raises ScenarioError with every fault, each line beginning with `label`: unknown keys with the nearest name, missing
    ones, wrong kinds.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        text = json.dumps(table, default=lambda other: [str(other)])  # a date is no text
    except ValueError:
        raise ScenarioError(placed(label, "has a number of thousands of digits; check the digits")) from None
    except RecursionError:
        raise ScenarioError(placed(label, "is nested too deeply; write plain tables")) from None
    try:
        return TypeAdapter(ScenarioKeys).validate_json(text)
    except ValidationError as faults:
        raise_all(label, [_fault(dict(fault)) for fault in faults.errors(include_url=False)], ScenarioError)
        raise


def _fault(fault: dict[str, Any]) -> str:
    """Say one of pydantic's faults as what, why, what to do."""
    where, kind = [str(step) for step in fault["loc"]], fault["type"]
    name = visible(".".join(where))
    if kind == "missing":
        return f"{name}: is missing; add it"
    if kind in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"{name}: is not known here; {nearest(where[-1][:60], _known(where[:-1]))}"
    wanted = {"int_type": "a whole number", "string_type": "a text in quotes", "bool_type": "true or false"}
    return f"{name} = {shown(fault['input'])}: is not {wanted.get(kind, 'a table')}; write {wanted.get(kind, '[…]')}"


def _known(where: list[str]) -> list[str]:
    """Return the keys of the table at a path."""
    keys: Any = ScenarioKeys
    for step in where:
        hint = get_type_hints(keys).get(step)
        keys = next((one for one in get_args(hint) if is_dataclass(one)), ScenarioKeys)
    return [each.name for each in fields(keys)]
