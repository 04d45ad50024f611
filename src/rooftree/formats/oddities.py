"""What a Hugging Face configuration says beside the sizes: refused, noted or harmless, but never passed over."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rooftree.facts.shapes import number_fault
from rooftree.files import shown, visible
from rooftree.formats.families import KNOWN, REFUSED, REFUSED_PREFIXES, Family

Table = Mapping[str, object]


@dataclass(slots=True, kw_only=True)
class Findings:
    """What a reader found in a file: faults to mend, things that are not modelled, things that were left out."""

    faults: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def judge(table: Table, family: Family, layers: int, maximum_tokens: int, findings: Findings) -> None:
    """Add to `findings` what a file says beside the sizes of the shape.

    `layers` and `maximum_tokens` are 0 where the file's own are wrong.

    >>> from rooftree.formats.families import FAMILIES
    >>> found = Findings()
    >>> judge({"sliding_window": 4096}, FAMILIES["mistral"], 32, 32768, found)
    >>> found.refusals
    ['sliding_window = 4096: is not modelled; write null for full attention']
    """
    if family.note:
        findings.notes.append(family.note)
    _class(table, family, findings)
    _refused(table, family, findings)
    _layers(table, layers, findings)
    _window(table, family, maximum_tokens, findings)
    for key in ("attention_bias", "mlp_bias"):
        if truth(table, key, findings):
            findings.notes.append(f"{key}: the biases are not counted (under 0.1 % of the weights)")
    stored = table.get("quantization_config")
    if stored is not None:
        method = stored.get("quant_method") if isinstance(stored, dict) else None
        findings.notes.append(f"quantization_config: the published weights are stored as {shown(method or stored)}")
    _unknown(table, family, findings)


def truth(table: Table, key: str, findings: Findings, *, default: bool = False) -> bool:
    """Return a truth value of a file; a missing or null one is the default, another kind a fault.

    >>> truth({"tied": True}, "tied", Findings()), truth({}, "tied", Findings())
    (True, False)
    """
    value = table.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        findings.faults.append(f"{key} = {shown(value)}: is not a truth value; write true or false")
        return default
    return value


def first(value: object) -> object:
    """Return the first entry of a list, anything else as it is.

    >>> first(["LlamaForCausalLM"]), first(None)
    ('LlamaForCausalLM', None)
    """
    return value[0] if isinstance(value, list) and value else value


def _class(table: Table, family: Family, findings: Findings) -> None:
    """Refuse a model class that the family isn't built with: draft heads, classifiers."""
    if table.get("architectures"):
        built = first(table["architectures"])
        if built not in (f"{family.stem}ForCausalLM", f"{family.stem}Model"):
            findings.refusals.append(f"architectures = {shown(built)}: is not modelled; {family.stem}ForCausalLM is")


def _refused(table: Table, family: Family, findings: Findings) -> None:
    """Refuse keys that change the shape in a way that is not modelled, where they are set."""
    read = set(family.keys.values())
    starts = tuple(REFUSED_PREFIXES)
    refused = [key for key in table if (key in REFUSED or key.startswith(starts)) and key not in read and table[key]]
    for key in refused[:100]:
        why = REFUSED.get(key) or next(why for start, why in REFUSED_PREFIXES.items() if key.startswith(start))
        findings.refusals.append(f"{visible(key)} = {shown(table[key])}: {why}")


def _layers(table: Table, layers: int, findings: Findings) -> None:
    """Refuse layers that differ from one another, except for the first dense ones."""
    frequency = table.get("moe_layer_freq", 1)
    if isinstance(frequency, bool) or frequency != 1:
        findings.refusals.append(
            f"moe_layer_freq = {shown(frequency)}: expert layers with gaps are not modelled; only 1 is"
        )
    types = table.get("layer_types")
    if types is None:
        return
    if not isinstance(types, list) or (layers and len(types) != layers):
        findings.faults.append(f"layer_types = {shown(types)}: is not one entry for each layer; correct or remove it")
    elif any(entry != "full_attention" for entry in types):
        odd = next(entry for entry in types if entry != "full_attention")
        findings.refusals.append(f"layer_types = {shown(odd)}: only full_attention in all layers is modelled")


def _window(table: Table, family: Family, maximum_tokens: int, findings: Findings) -> None:
    """Refuse a sliding window that is used, note one that is not."""
    window = table.get("sliding_window", family.window)
    used = truth(table, "use_sliding_window", findings, default=family.windowed)
    if window is None:
        return
    fault = number_fault("maximum_tokens", window)
    if fault:
        findings.faults.append(f"sliding_window = {shown(window)}: {fault} or null")
    elif not used:
        findings.notes.append(f"sliding_window = {shown(window)}: is switched off by use_sliding_window")
    elif isinstance(window, int) and window >= maximum_tokens > 0:
        findings.notes.append(f"sliding_window = {shown(window)}: is never reached (max_position_embeddings)")
    else:
        said = "" if "sliding_window" in table else ", this family's default when the key is missing"
        findings.refusals.append(
            f"sliding_window = {shown(window)}{said}: is not modelled; write null for full attention"
        )


def _unknown(table: Table, family: Family, findings: Findings) -> None:
    """Note the keys that nobody here knows."""
    known = KNOWN | REFUSED.keys() | set(family.keys.values())
    strangers = [key for key in table if key not in known and not key.startswith(tuple(REFUSED_PREFIXES))]
    if strangers:
        more = f" and {len(strangers) - 8} more" if len(strangers) > 8 else ""
        findings.notes.append(f"keys that are not read: {', '.join(visible(key) for key in strangers[:8])}{more}")
