"""What arguments the public functions take: one table, by name, for programs and commands alike."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from dse.contract import PRECISIONS
from dse.errors import GONE, ArgumentError
from dse.files.position import quoted

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Kind:
    """What an argument may be, in words, and whether a value is that."""

    what: str
    allows: Callable[[Any], bool]


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Return a public function that refuses what is not of the `KINDS` of its arguments."""
    shape = signature(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs.keys() & GONE.keys() - shape.parameters.keys():
            raise ArgumentError(f"{name}: {GONE[name]}")
        try:
            given = shape.bind(*args, **kwargs).arguments
        except TypeError:
            return function(*args, **kwargs)  # Python says which argument is missing or unknown
        for name, value in given.items():
            parameter = shape.parameters[name]
            for each in value if parameter.kind is Parameter.VAR_POSITIONAL else (value,):
                if each is not parameter.default and not KINDS[name].allows(each):
                    raise ArgumentError(f"{name}={_shown(each)}: give {KINDS[name].what}")
        return function(*args, **kwargs)

    return call


def texts(given: str | Sequence[str]) -> list[str]:
    """Return one text, or several, as a list."""
    return [given] if isinstance(given, str) else list(given)


def paths(given: str | Path | Sequence[str | Path]) -> tuple[Path, ...]:
    """Return one path, or several."""
    return (Path(given),) if isinstance(given, str | Path) else tuple(map(Path, given))


def _shown(value: Any) -> str:
    """Return a value as a program writes it, or of what type it is."""
    plain = value is None or isinstance(value, str | int | float | list | tuple | dict | Path)
    return quoted(value) if plain else f"<{type(value).__name__}>"


def _whole(low: int, high: float = float("inf")) -> Kind:
    limit = f"{low} or more" if high == float("inf") else f"{low} to {high}"

    def allows(value: Any) -> bool:
        try:
            return not isinstance(value, bool) and low <= operator.index(value) <= high
        except TypeError:
            return False

    return Kind(f"a whole number, {limit}", allows)


def _one_of(*names: str) -> Kind:
    known = " or ".join(repr(name) for name in names)
    return Kind(known, lambda value: isinstance(value, str) and value in names)


def _instance(what: str, *types: type) -> Kind:
    return Kind(what, lambda value: isinstance(value, types))


def _is_study(value: Any) -> bool:
    from dse.study.study import Study

    return isinstance(value, str | Path | Mapping | Study)


def _is_run(value: Any) -> bool:
    if isinstance(value, str | Path):
        return True
    from dse.runs.result import Result

    return isinstance(value, Result)


def _are_texts(value: Any) -> bool:
    several = isinstance(value, list | tuple | set | frozenset)
    return isinstance(value, str) or (several and all(isinstance(one, str) for one in value))


def _are_paths(value: Any) -> bool:
    several = isinstance(value, list | tuple | set | frozenset)
    return isinstance(value, str | Path) or (
        several and all(isinstance(one, str | Path) for one in value)
    )


def _assigns(value: Any) -> bool:
    return isinstance(value, str | list | tuple | Mapping)  # their reader checks the rest


_STUDY = "the path of a study, YAML text, a dict or a Study"
_RUN = Kind("the folder of a run, or a Result that was saved", _is_run)
_PATH = _instance("a path", str, Path)
_TEXT = _instance("a text", str)
_WORDS = (
    *("method", "rate", "prefer", "tolerance", "width", "range_", "algorithm", "clock"),
    *("time", "memory", "within", "other_range"),
    *("top", "clock_port", "device", "wire", "mapping_tool", "time_limit", "cache_limit"),
)
_TEXTS = Kind("a text or a list of texts", _are_texts)
_FLAG = _instance("True or False", bool)
_COUNT = _whole(1)
_FIELDS = Kind("{'workload.rate': '73 Gbps'} or 'workload.rate=73 Gbps'", _assigns)

KINDS: Mapping[str, Kind] = {
    "study": Kind(_STUDY, _is_study),
    "source": Kind(f"{_STUDY}, a Result or its folder", lambda v: _is_study(v) or _is_run(v)),
    **dict.fromkeys(("run", "runs", "first", "second"), _RUN),
    **dict.fromkeys(("table", "data", "software", "hardware", "out", "check", "joined_by"), _PATH),
    **dict.fromkeys((*_WORDS, "papers", "dask"), _TEXT),
    **dict.fromkeys(("only", "by", "over", "targets", "measure_again", "supply"), _TEXTS),
    **dict.fromkeys(
        ("description", "library", "corners", "reuse"),
        Kind("a path or a list of paths", _are_paths),
    ),
    **dict.fromkeys(
        (
            "cache",
            "front",
            "counts",
            "pure",
            "force",
            "flips",
            "simulate",
            "plots",
            "all",
            "resume",
            "fresh",
        ),
        _FLAG,
    ),
    **dict.fromkeys(
        ("trials", "samples", "budget", "jobs", "workers", "offloads", "events", "rows"), _COUNT
    ),
    **dict.fromkeys(("tasks", "warm_up", "placements"), _COUNT),
    "seed": _whole(0, 2**32 - 1),
    "cloud": _whole(0),
    **dict.fromkeys(("overrides", "settings"), _FIELDS),
    "design": Kind("{'des.u16': 3} or 'des.u16=3 des.u8=1'", _assigns),
    "uncertainty": Kind("{'area': '10 %'} or 'area=10 %'", _assigns),
    "figures": Kind("{'payload': '64 bit'} or 'payload=64 bit'", _assigns),
    "forms": Kind("{'area': 'affine'} or 'area=affine'", _assigns),
    "per_byte": _one_of("latency", "computing"),
    "precision": _one_of(*PRECISIONS),
    **dict.fromkeys(("progress", "stop", "told", "evaluate"), Kind("a function", callable)),
}
"""By the name of the argument; what is given as its default is always right."""
