"""Shapes of transformers from the `config.json` of Hugging Face Transformers."""

from pathlib import Path

from rooftree.errors import FormatError, NotModelled
from rooftree.facts.architectures import Experts, GroupedQuery, Latent, Transformer
from rooftree.facts.shapes import missing_fault, number_fault, relation_faults
from rooftree.files import raise_all, shown
from rooftree.formats.families import FAMILIES, KNOWN, Family
from rooftree.formats.json_file import read_object
from rooftree.formats.oddities import Findings, Table, first, judge, truth


def read_config(path_or_text: Path | str) -> Transformer:
    """Return the shape that a `config.json` describes.

    Read are dense models with grouped-query attention (`llama`, `mistral`, `qwen2`, `qwen3`) and experts with latent
    attention (`deepseek_v2`, `deepseek_v3`, `kimi_k2`). A string that begins with `{` is the text itself. The name is
    the file's, or its folder's for a plain `config.json`. `notes` says what the shape leaves out: biases, norms of
    queries and keys, the quantisation of the stored weights, keys that are not known here.

    Raises FormatError with every fault of the file at once, one a line; NotModelled for a `model_type` that is not
    read and for keys that change the shape in a way that is not modelled, such as a sliding window.

    >>> shape = read_config('''{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
    ...     "intermediate_size": 11008, "num_attention_heads": 32, "max_position_embeddings": 4096,
    ...     "vocab_size": 32000}''')
    >>> shape.layers, shape.attention, shape.experts
    (32, GroupedQuery(heads=32, kv_heads=32, head_dim=128), None)
    >>> read_config('{"model_type": "mamba"}')  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    rooftree.errors.NotModelled: text: model_type = "mamba": is not modelled; choose a model of deepseek_v2, ...
    """
    label, table, faults = read_object(path_or_text)
    findings = Findings(faults=faults)
    model_type = _model_type(label, table, findings)
    family = FAMILIES[model_type]
    values = _values(table, family, findings)
    tied = truth(table, "tie_word_embeddings", findings)
    judge(table, family, values.get("layers", 0), values.get("maximum_tokens", 0), findings)
    if findings.faults:
        raise_all(label, findings.faults + findings.refusals, FormatError)
    raise_all(label, findings.refusals, NotModelled)
    where = f"config.json of Hugging Face Transformers, model_type {model_type}"
    return _transformer(_name(path_or_text, label, model_type), label, where, values, tied, tuple(findings.notes))


def _model_type(label: str, table: Table, findings: Findings) -> str:
    """Return the family of a file, one of those that are read."""
    model_type = table.get("model_type")
    if not isinstance(model_type, str) or not model_type:
        said = f" (architectures = {shown(first(table['architectures']))})" if "architectures" in table else ""
        state = f" = {shown(model_type)}: is not a name" if "model_type" in table else ": is missing"
        fault = f"model_type{state}{said}; write one of {', '.join(sorted(FAMILIES))}"
        raise FormatError(*(f"{label}: {line}" for line in [*findings.faults[:10], fault]))
    if model_type not in FAMILIES:
        known = ", ".join(sorted(FAMILIES))
        raise NotModelled(f"{label}: model_type = {shown(model_type)}: is not modelled; choose a model of {known}")
    return model_type


def _values(table: Table, family: Family, findings: Findings) -> dict[str, int]:
    """Return the numbers of the shape that are fine, under our names, and add what is wrong to the findings."""
    values: dict[str, int] = {}
    strangers = [key for key in table if key not in KNOWN and key not in family.keys.values()]
    for name, key in family.keys.items():
        value = table.get(key)
        if value is None and name in family.absent:
            values[name] = family.absent[name]
        elif key not in table:
            findings.faults += [] if name in family.derived else [missing_fault(key, strangers)]
        elif value is None and name in family.null:
            values[name] = family.null[name]
        elif value is not None or name not in family.derived:
            fault = number_fault(name, value)
            if fault:
                findings.faults.append(f"{key} = {shown(value)}: {fault}")
            elif isinstance(value, int):
                values[name] = value
    _derive(table, family, values, findings)
    findings.faults += relation_faults(values, family.keys)
    return values


def _derive(table: Table, family: Family, values: dict[str, int], findings: Findings) -> None:
    """Add what a file may leave out: as many key heads as heads; heads that share the hidden size evenly."""
    heads, hidden = values.get("heads", 0), values.get("hidden", 0)
    missing = [name for name in family.derived if name not in values and table.get(family.keys[name]) is None]
    if not heads or not hidden:
        return
    if "kv_heads" in missing:
        values["kv_heads"] = heads
    if "head_dim" in missing:
        if hidden % heads:
            findings.faults.append(
                f"num_attention_heads = {heads}: does not divide hidden_size = {hidden}; "
                "correct one of them or add head_dim"
            )
        values["head_dim"] = hidden // heads


def _transformer(
    name: str, source: str, where: str, values: dict[str, int], tied: bool, notes: tuple[str, ...]
) -> Transformer:
    """Return the shape that checked values describe."""

    def some(*names: str) -> dict[str, int]:
        return {entry: values[entry] for entry in names}

    latent = "kv_rank" in values
    return Transformer(
        name=name,
        title=name,
        layers=values["layers"],
        hidden=values["hidden"],
        mlp_width=values["mlp_width"],
        gated=True,
        attention=Latent(**some("heads", "query_rank", "kv_rank", "nope_dim", "rope_dim", "value_dim"))
        if latent
        else GroupedQuery(**some("heads", "kv_heads", "head_dim")),
        experts=Experts(**some("routed", "active", "shared", "width")) if latent else None,
        dense_layers=values.get("dense_layers", values["layers"]),
        vocabulary=values["vocabulary"],
        tied_embeddings=tied,
        prediction_layers=values.get("prediction_layers", 0),
        maximum_tokens=values["maximum_tokens"],
        source=source,
        where=where,
        notes=notes,
    )


def _name(path_or_text: Path | str, label: str, model_type: str) -> str:
    """Return what the model is called: the file's stem, or the folder's name for a plain `config.json`."""
    if label == "text":
        return model_type
    path = Path(path_or_text)
    stem = path.stem.removesuffix("config").rstrip("_-.")
    return stem or path.absolute().parent.name or model_type
