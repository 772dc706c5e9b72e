"""The text of a liberty file as nested groups, without knowledge of cells."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field

from dse.errors import ENOUGH_FAULTS, Fault, Position, shortened, visible

_STATEMENT = re.compile(
    r"""
    \s*+(?:
      (?P<close>\})
    | (?P<blank>\\\r?\n | ;)
    | (?P<name>[A-Za-z_][\w.]*+)[ \t]*+(?:
        : \s*+ (?:"(?P<quoted>[^"]*)" | (?P<plain>[^;{}"\n]*+)) (?:[ \t]*;)?
      | \( (?P<arguments>(?:[^()"]++|"[^"]*")*+) \) (?:\s*(?P<open>\{))?
      )
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENTS = re.compile(r'("[^"]*")|/\*.*?\*/|//[^\n]*', re.DOTALL)
_REST = re.compile(r"\s*\Z")


@dataclass(slots=True)
class LibertyGroup:
    """``kind (names) { ... }``.  A place is an offset in the text.

    Attributes
    ----------
    attributes
        ``name : value``, the last of a name, with its place.
    lists
        ``name (values)``, as written between the brackets, with its place.
    """

    kind: str
    names: str
    at: int
    attributes: dict[str, tuple[str, int]] = field(default_factory=dict)
    lists: list[tuple[str, str, int]] = field(default_factory=list)
    groups: list[LibertyGroup] = field(default_factory=list)

    def get(self, name: str, default: str = "") -> str:
        """Return the value of an attribute, without its quotes."""
        found = self.attributes.get(name)
        return found[0] if found else default

    def place(self, name: str) -> int:
        """Return the place of an attribute, or of the group itself."""
        found = self.attributes.get(name)
        return found[1] if found else self.at

    def words(self) -> list[str]:
        """Return the names in the brackets."""
        return words(self.names)

    def all(self, *kinds: str) -> Iterator[LibertyGroup]:
        """Yield the groups inside that are of one of these kinds."""
        return (group for group in self.groups if group.kind in kinds)

    def last(self, name: str) -> tuple[str, int] | None:
        """Return the last list of this name, with its place."""
        found = [(text, at) for written, text, at in self.lists if written == name]
        return found[-1] if found else None


def words(text: str) -> list[str]:
    """Return the names between commas, blanks and quotes."""
    return re.findall(r'[^\s",\\]+', text)


class LibertyText:
    """A file's text and its errors."""

    def __init__(self, text: str, file: str) -> None:
        """Keep the text, comments as blanks.  `file` is its name in errors."""
        self.text = _COMMENTS.sub(lambda one: one[1] or re.sub(".", " ", one[0]), text)
        self.file = file
        self.faults: list[Fault] = []
        self._lines: list[int] = []

    def position(self, at: int) -> Position:
        """Return line and column of an offset."""
        if not self._lines:
            self._lines = [0, *(found.end() for found in re.finditer("\n", self.text))]
        line = bisect(self._lines, at)
        return Position(line, at - self._lines[line - 1] + 1, self.file)

    def fault(self, at: int, path: tuple[str, ...], written: str, rule: str, remedy: str) -> None:
        """Note an error at an offset."""
        if len(self.faults) < ENOUGH_FAULTS:
            shown = visible(shortened(written))
            self.faults.append(self.position(at).fault(path, shown, rule, remedy))

    def library(self) -> LibertyGroup | None:
        """Return the group ``library``.  Unreadable text is an error."""
        root = LibertyGroup("file", "", 0)
        open_groups, at = [root], 0
        for found in _STATEMENT.finditer(self.text):
            if found.start() != at:
                break
            at = found.end()
            inside = open_groups[-1]
            name = found["name"]
            if name is None:
                if found["close"]:
                    open_groups.pop()
                    if not open_groups:
                        self._lost(at - 1, "a bracket closes that was not opened")
                        return None
            elif found["arguments"] is None:
                value = found["quoted"]
                value = found["plain"].strip() if value is None else value
                inside.attributes[name] = (value, found.start("name"))
            elif found["open"]:
                group = LibertyGroup(name, found["arguments"], found.start("name"))
                inside.groups.append(group)
                open_groups.append(group)
            else:
                inside.lists.append((name, found["arguments"], found.start("name")))
        if not _REST.match(self.text, at):
            start = at + re.match(r"\s*", self.text[at : at + 10_000]).end()  # type: ignore[union-attr]
            self._lost(start, "a statement is 'name : value;' or 'name (values) {'")
            return None
        if len(open_groups) > 1:
            group = open_groups[-1]
            self._lost(group.at, "this group is not closed")
            return None
        return self._only(root)

    def _only(self, root: LibertyGroup) -> LibertyGroup | None:
        libraries = list(root.all("library"))
        if len(libraries) != 1:
            written = f"{len(libraries)} groups 'library'"
            rule, remedy = "a liberty file has one", "name a file 'library (name) { ... }'"
            self.fault(0, (), written, rule, remedy)
            return None
        for name, written, at in root.lists + libraries[0].lists:
            if name == "include_file":
                remedy = "name that file too, or put its text here"
                self.fault(at, (), f"include_file {written}", "other files are not read", remedy)
        return libraries[0]

    def _lost(self, at: int, rule: str) -> None:
        written = self.text[at : at + 60].split("\n", 1)[0]
        self.fault(at, (), repr(written), rule, "look for a missing bracket, quote or ';' before")
