"""Values given to names in a program or on the command line: ``workload.rate=73 Gbps``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dse.errors import Fault, StudyError
from dse.files.position import quoted
from dse.files.yaml import flow_yaml

Assignments = str | Sequence[str] | Mapping[str, Any]
"""A dict, a text ``NAME=VALUE``, or several of them."""

_BETWEEN = re.compile(r"[,\s]+(?=[^\s,=]+\s*=)")


def assignments(given: Assignments | None, example: str, *, joined: bool = False) -> dict[str, str]:
    """Return ``{name: value}``; what is no text becomes the YAML that says the same.

    Parameters
    ----------
    given
        None for nothing.
    example
        What a remedy suggests.
    joined
        Whether a text may hold several, as a design does: ``des.u16=3 des.u8=1``.

    Raises
    ------
    StudyError
        When a part is not ``NAME=VALUE``, a name stands twice, or YAML has no such value.
    """
    found: dict[str, str] = {}
    faults = []
    for part in _parts(given, joined=joined):
        try:
            name, value = _pair(part)
        except (TypeError, ValueError):
            rule = "it must be NAME=VALUE" + ("" if isinstance(part, str) else ", as YAML has it")
            fault = Fault(where="", written=quoted(part), rule=rule, remedy=f"write {example}")
            faults.append(fault)
            continue
        if name in found:
            rule, remedy = f"it is {found[name]} already", "write it once"
            faults.append(Fault(where=name, written=value, rule=rule, remedy=remedy))
        found[name] = value
    if faults:
        raise StudyError(faults)
    return found


def _parts(given: Any, *, joined: bool) -> list[Any]:
    """Return texts ``NAME=VALUE``, or pairs of name and value."""
    if isinstance(given, Mapping):
        return list(given.items())
    parts = list(given) if isinstance(given, list | tuple) else [given]
    if joined and all(isinstance(part, str) for part in parts):
        return [part for text in parts for part in _BETWEEN.split(text.strip(", \n\t"))]
    return [] if given is None else parts


def _pair(part: Any) -> tuple[str, str]:
    """Return name and value; `TypeError` or `ValueError` when it is no assignment."""
    if isinstance(part, str):
        name, equals, value = part.partition("=")
    else:
        (name, value), equals = (part if isinstance(part, tuple) else ()), "="
    if not (equals and isinstance(name, str) and name.strip()):
        raise ValueError(name)
    return name.strip(), flow_yaml(value).strip()
