"""Tables of a catalogue file, read so that every fault is found at once."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields

from rooftree.errors import nearest
from rooftree.facts.architectures import Experts, GroupedQuery, Latent, Transformer
from rooftree.facts.shapes import RANGES, missing_fault, number_fault
from rooftree.files import shown, visible

Shape = Transformer | GroupedQuery | Latent | Experts


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a file, where it stands in it, and the faults found so far.

    A missing or wrong value adds a fault and reads as empty, so that all faults of a file are found in one pass.

    >>> table = Table({"title": "Llama", "layers": 0}, "", [])
    >>> table.text("title"), table.truth("gated"), table.faults
    ('Llama', False, ['gated: is missing; add it'])
    """

    values: Mapping[str, object]
    prefix: str
    faults: list[str]

    def fault(self, key: str, why: str, known: Collection[str] = ()) -> None:
        """Add a fault of one key."""
        if key in self.values:
            self.faults.append(f"{self.prefix}{visible(key)} = {shown(self.values[key])}: {why}")
        else:
            strangers = [name for name in self.values if name not in known]
            self.faults.append(self.prefix + missing_fault(key, strangers))

    def integers(self, part: type[Shape], *others: str) -> dict[str, int]:
        """Return the whole numbers of a part; keys that are neither these nor `others` are faults."""
        names = [entry.name for entry in fields(part) if entry.name in RANGES]
        known, numbers = {*names, *others}, {}
        for name in names:
            value = self.values.get(name)
            why = number_fault(name, value)
            if why:
                self.fault(name, why, known)
            elif isinstance(value, int):
                numbers[name] = value
        for key in [key for key in self.values if key not in known]:
            self.fault(key, f"is not known here; {nearest(key[:60], known)}")
        return numbers

    def text(self, key: str) -> str:
        """Return a text that isn't empty."""
        value = self.values.get(key)
        if isinstance(value, str) and value:
            return value
        self.fault(key, "is not a text; write one in quotes")
        return ""

    def truth(self, key: str) -> bool:
        """Return a truth value."""
        value = self.values.get(key)
        if isinstance(value, bool):
            return value
        self.fault(key, "is not a truth value; write true or false")
        return False

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, which may be left out."""
        value = self.values.get(key, [])
        if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
            return tuple(value)
        self.fault(key, 'is not a list of texts; write ["…"]')
        return ()

    def table(self, key: str) -> "Table":
        """Return a table of this one."""
        value = self.values.get(key)
        if not isinstance(value, dict):
            self.fault(key, f"is not a table; write it under [{key}]")
            value = {}
        return Table(value, f"{key}.", self.faults)
