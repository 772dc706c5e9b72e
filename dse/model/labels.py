"""Names for people: labels of devices and designs, and what tells those that are shown apart.

A design is known by a code name, which a study, its JSON and its CSV have.  Where people read,
its label stands instead: ``2 AES-GCM (10 rounds, half clock)`` for ``2 aes128_u10_half``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

Labels = Mapping[str, str]
"""By code name of a device or a design, what people read in its place."""

LONGEST_LABEL = 64
"""Of a label."""

JOINED = re.compile(r"( \+ | -> )")
"""Between the parts of a fleet, and between the stages of a chain."""

COUNTED = re.compile(r"(?:^|(?<= \+ )|(?<= -> ))(\d+) (?=\S)")
"""How many of a core, in the name of a fleet."""


def fault_of_label(label: str) -> tuple[str, str] | None:
    """Return the rule that a label breaks and the remedy, None where it is one."""
    if not label.strip():
        return "a label is what people read, and this one is empty", "write a few words, or none"
    if not label.isprintable():
        return "a label is one line of plain text", "write it without line breaks or tabs"
    if len(label) > LONGEST_LABEL:
        rule = f"a label has at most {LONGEST_LABEL} characters, and this one {len(label)}"
        return rule, "shorten it"
    return None


def labelled(name: str, labels: Labels, same: Collection[str] = ()) -> str:
    """Return the name of a fleet or of a choice as people read it.

    Without the parts of labels that are the `same` for all that are shown.
    """
    if not labels:
        return name
    return "".join(_labelled(part, labels, same) for part in JOINED.split(name))


def labelled_line(line: str, labels: Labels) -> str:
    """Return a design and its choices, which commas part, as people read them."""
    return ", ".join(labelled(part, labels) for part in line.split(", "))


def _labelled(part: str, labels: Labels, same: Collection[str]) -> str:
    count, _, code = part.partition(" ")
    if not (count.isdigit() and code in labels):
        return labels.get(part, part)
    whole = labels[code].split(", ")
    first, *rest = [one for one in whole if one not in same] or [""]
    if first != whole[0]:
        first, rest = "", [*filter(None, [first, *rest])]
    brackets = f"({', '.join(rest)})" if rest else ""
    return " ".join(filter(None, [count, first, brackets]))


def same_parts(names: Iterable[str], labels: Labels) -> list[str]:
    """Return the parts of labels that the fleets of several designs have in common, in order.

    None where a fleet is of a design without a label, or all are of one and as many.
    """
    known = {*names}
    parts = [part for name in known for part in JOINED.split(name)[::2]]
    codes = {code for count, _, code in (part.partition(" ") for part in parts) if count.isdigit()}
    if len(known) < 2 or not codes <= labels.keys():
        return []
    split = [labels[code].split(", ") for code in codes]
    return [one for one in (split[0] if split else ()) if all(one in other for other in split)]


def labels_in(names: Iterable[str], labels: Labels) -> dict[str, str]:
    """Return the labels of the designs in the names of fleets."""
    parts = (part.partition(" ")[2] for name in {*names} for part in JOINED.split(name)[::2])
    return {code: labels[code] for code in dict.fromkeys(parts) if code in labels}


def labels_of_core(head: str, names: Sequence[str], labels: Labels) -> dict[str, str]:
    """Return the labels of designs of a core: that of the core, and those of its designs."""
    if not (head or labels):
        return {}
    return {name: ", ".join(filter(None, [head, labels.get(name, name)])) for name in names}
