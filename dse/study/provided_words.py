"""What is said of the cores that a stage takes for a function, and of a function without cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dse import contract
from dse.algebra import units
from dse.contract.functions import kinds_of_function, provided
from dse.errors import nearest
from dse.model.designs import Designs
from dse.plugins import registry
from dse.study import schema
from dse.study.faults import Faults, Path
from dse.study.scenario import Scenario

_CLOSE = 6
"""Most functions that are named in place of one that nobody provides."""


@dataclass(frozen=True)
class Taken:
    """A core that a stage takes, and its designs under names that begin with that of the core."""

    core: contract.Core
    assumed: tuple[str, ...]
    designs: Designs


def note_taken(
    wanted: str,
    taken: Sequence[Taken],
    refused: Mapping[str, str],
    written: schema.StageSection,
    scenario: Scenario,
) -> None:
    """Note which cores were taken and which not, their functions and nodes, what they assume."""
    names = ", ".join(one.core.name for one in taken)
    scenario.notes.append(f"{wanted} is provided by {names}")
    if refused:
        scenario.notes.append(f"not taken for {wanted}: {_told(refused)}")
    known = registry.records(contract.Function)
    functions = dict.fromkeys(
        name for one in taken for name in one.core.provides if provided(wanted, (name,), known)
    )
    if len(functions) > 1:
        scenario.notes.append(
            f"{wanted} is any of {', '.join(functions)}, which do the same work; nothing here says "
            "that they are equally secure"
        )
    nodes = dict.fromkeys(one.core.node or "a node that is not stated" for one in taken)
    if len(nodes) > 1 and written.scale_to is None:
        scenario.notes.append(
            f"{wanted}: designs of several nodes in one list, and nothing is scaled: "
            f"{', '.join(nodes)}; write `node` for one of them, or `scale_to`"
        )
    for kernel in scenario.kernels:
        if kernel.provides and not any(provided(wanted, (one,), known) for one in kernel.provides):
            scenario.notes.append(
                f"kernel {kernel.name} computes {', '.join(kernel.provides)} on the host, and the "
                f"cores {wanted}: what compares both compares two functions"
            )
    for assumed in dict.fromkeys(one.assumed for one in taken if one.assumed):
        cores = [one.core.name for one in taken if one.assumed == assumed]
        words = ", ".join(units.stem(name).replace("_", " ") for name in assumed)
        who = wanted if len(cores) == len(taken) else ", ".join(cores)
        scenario.notes.append(f"{who}: assumed for every design: {words}")


def _told(refused: Mapping[str, str]) -> str:
    """Return who is not taken, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for name, why in refused.items():
        by_reason.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())


def refuse_function(
    wanted: str,
    refused: Mapping[str, str],
    cores: Sequence[contract.Core],
    known: Mapping[str, contract.Function],
    path: Path,
    faults: Faults,
) -> None:
    """Report a function without cores: why none can be taken, or what is close."""
    place = (*path, "provides")
    if refused:
        remedy = "ask for less, by `node`, `evidence`, `among` or the objectives"
        rule = f"no core that provides {wanted} can be taken: {_told(refused)}"
        faults.add(place, rule, remedy)
        return
    offered = dict.fromkeys(name for core in cores for name in core.provides)
    if wanted not in known:
        rule = f"{wanted!r} is no function that is known"
        faults.add(place, rule, nearest(wanted, {*known, *offered}))
        return
    family = {*kinds_of_function(wanted, known)[1:]}
    close = [name for name in offered if family & {*kinds_of_function(name, known)}]
    said = f"closest are {', '.join(close[:_CLOSE])}" if close else "none is close"
    remedy = f"{said}; `dse list cores --provides FUNCTION` shows cores"
    faults.add(place, f"no core provides {wanted}, {known[wanted].summary}", remedy)
