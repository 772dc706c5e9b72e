"""What turns designs into figures, whatever they are mapped to: faults, results kept."""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from dse.errors import DseError, Fault, OutputError, StudyError
from dse.files.json import json_text, read_regular, write_text
from dse.silicon.figures import UNKEPT, CharacterisedDesign, Conditions, of_design
from dse.silicon.targets import Target
from dse.silicon.tasks import DesignTask
from dse.silicon.yosys import chosen_yosys, full_name

LARGEST_BYTE = 1_000_000
"""A larger file is no result."""


@dataclass(kw_only=True)
class Characteriser(ABC):
    """Turns designs into figures; a worker uses one for all of its designs.

    Attributes
    ----------
    conditions
        For all designs.
    kept
        Results of earlier calls.
    tool
        What maps, and its version.
    """

    conditions: Conditions
    kept: KeptResults | None = None
    tool: str = field(init=False)

    def __post_init__(self) -> None:
        """Ask the mapping tool for its version."""
        self.tool = full_name(chosen_yosys(self.conditions.tool))

    @abstractmethod
    def check(self) -> None:
        """Refuse what no design can be characterised with."""

    @abstractmethod
    def depends_on(self) -> Mapping[str, Any]:
        """Return what figures depend on besides design, conditions and tool."""

    @abstractmethod
    def remarks(self, targets: Sequence[Target]) -> Iterator[str]:
        """Yield what stands above a table for all of its designs, mapped for some clocks."""

    @abstractmethod
    def figures_of(self, task: DesignTask) -> CharacterisedDesign:
        """Map a design, hold it to its answers, and find its figures."""

    def key(self, task: DesignTask) -> str:
        """Return a hash of all that the figures depend on, this program included."""
        design = replace(task.design, verilog="")
        inputs = {
            "program": own_sha256(),
            "tool": self.tool,
            "conditions": asdict(self.conditions) | {"time_limit_s": 0},
            "design": asdict(design),
            "description": task.description_sha256,
            "vectors": task.vectors_sha256,
            "warm_up": task.vectors.warm_up,
            "target": asdict(task.target),
            **self.depends_on(),
        }
        return sha256(json_text(inputs).encode())

    def known(self, task: DesignTask) -> CharacterisedDesign | None:
        """Return what was found before, if it was kept."""
        found = self.kept.read(self.key(task)) if self.kept else None
        if found is None:
            return None
        try:
            return CharacterisedDesign(**{**found, "notes": tuple(found["notes"])})
        except (KeyError, TypeError):  # something else was kept
            return None

    def measured(self, task: DesignTask) -> CharacterisedDesign | tuple[Fault, ...]:
        """Characterise a design, or say why not; what is found is kept at once."""
        try:
            found = self.figures_of(task)
        except StudyError as error:
            return tuple(of_design(task.design.name, one) for one in error.faults)
        except DseError as error:
            return (Fault(task.design.name, "", str(error), ""),)
        if self.kept is not None:
            try:
                self.kept.write(self.key(task), asdict(found))
            except OutputError as error:  # hours of work are worth more than that
                remedy = "set XDG_CACHE_HOME to a folder that can be written, or say so with"
                unkept = f"{error}; {remedy} --no-cache"
                return replace(found, facts={**found.facts, UNKEPT: unkept})
        return found


def script_sha256(script: str) -> str:
    """Return a hash of a script without the commands that name files, whose contents have one."""
    lines = (line for line in script.splitlines() if not line.startswith("read_verilog"))
    return sha256("\n".join(lines).encode())


def sha256(content: bytes) -> str:
    """Return a hash of some content."""
    return hashlib.sha256(content).hexdigest()


def own_sha256(folder: Path = Path(__file__).parent) -> str:
    """Return a hash of the modules that figures come from."""
    return sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py"))))


def user_folder() -> Path:
    """Return where this user's programs keep what can be made again (XDG Base Directory)."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".cache") / "dse"


@dataclass(frozen=True)
class KeptResults:
    """A folder of results; the oldest go when they take more than `most_byte` together."""

    folder: Path
    most_byte: float

    def read(self, key: str) -> dict[str, Any] | None:
        """Return what was kept under a key; None where it is not, or cannot be read."""
        path = self._path(key)
        try:
            found = json.loads(read_regular(path, LARGEST_BYTE))
        except (OSError, ValueError):
            return None
        with suppress(OSError):
            os.utime(path)
        return found if isinstance(found, dict) else None

    def write(self, key: str, result: Mapping[str, Any]) -> None:
        """Keep a result, whole or not at all, and drop the ones not used for longest.

        Raises
        ------
        OutputError
            The folder cannot be written.
        """
        write_text(self._path(key), json_text(dict(result)))
        files = []
        for path in self.folder.glob("*.json"):
            with suppress(OSError):  # another process drops some as well
                files.append((path.stat().st_mtime, path.stat().st_size, path))
        left = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if left <= self.most_byte:
                break
            path.unlink(missing_ok=True)
            left -= size

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"
