"""Labels of devices and designs for people, and the parts that distinguish shown designs.

A design has a code name in a study, its JSON and its CSV.  In texts for people, its label
replaces it: ``2 AES-GCM (10 rounds, half clock)`` for ``2 aes128_u10_half``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

Labels = Mapping[str, str]
"""Labels shown in place of code names of devices and designs."""

LONGEST_LABEL = 64
"""Most characters of a label."""

JOINED = re.compile(r"( \+ | -> )")
"""Separators between the parts of a fleet, and between the stages of a chain."""

COUNT_BEFORE_NAME = re.compile(r"(?:^|(?<= \+ )|(?<= -> ))(\d+) (?=\S)")
"""Count of a core, in the name of a fleet."""


def fault_of_label(label: str) -> tuple[str, str] | None:
    """Return the rule that a label breaks and the remedy, or None if it is valid."""
    if not label.strip():
        return "this label is empty", "write a few words, or none"
    if not label.isprintable():
        return "a label is one line of plain text", "write it without line breaks or tabs"
    if len(label) > LONGEST_LABEL:
        rule = f"a label has at most {LONGEST_LABEL} characters, and this one {len(label)}"
        return rule, "shorten it"
    return None


def labelled(name: str, labels: Labels, same: Collection[str] = ()) -> str:
    """Return the name of a fleet or of a choice with labels.

    Parts of labels that are the `same` for all shown designs are omitted.
    """
    if not labels:
        return name
    return "".join(_labelled(part, labels, same) for part in JOINED.split(name))


def labelled_line(line: str, labels: Labels) -> str:
    """Return a design and its choices, separated by commas, with labels."""
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


def unlabelled(text: str, labels: Labels) -> str:
    """Return a printed design with code names in place of the labels that only one of them has."""
    printed = [(_labelled(f"1 {code}", labels, ()).removeprefix("1 "), code) for code in labels]
    known = {*printed, *((label, code) for code, label in labels.items())}
    codes = {label: code for label, code in known if sum(one == label for one, _ in known) == 1}
    if not codes:
        return text
    longest = sorted(codes, key=len, reverse=True)
    found = rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)"
    return re.sub(found, lambda match: codes[match[0]], text)


def same_parts(names: Iterable[str], labels: Labels) -> list[str]:
    """Return the parts of labels that the fleets of several designs have in common, in order.

    Empty if a design has no label, or if there is only one fleet.
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
    """Return the labels of a core's designs: the core's label, then the design's."""
    if not (head or labels):
        return {}
    return {name: ", ".join(filter(None, [head, labels.get(name, name)])) for name in names}
