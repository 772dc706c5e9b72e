"""Sections of an answer: sentences, a table, and the same numbers as plain data."""

from __future__ import annotations

import html as escaping
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from dse.files.json import jsonable
from dse.reports.text import WIDEST, Printable, paragraph, table_text, terminal_width

INDENT = "  "


@dataclass(frozen=True)
class Section:
    """One section of an answer.

    Attributes
    ----------
    key
        Its name in JSON.
    title
        Its heading, possibly empty.
    lines
        Sentences, read before the table.
    headers, rows
        Its table.  Without headers the rows are pairs of a name and a value.
    remarks
        Sentences, read after the table.
    facts
        Every number of lines and rows as plain data, in SI.
    brief
        Sentences that replace all of it in a text of one screen, or None if it is shown whole.
    """

    key: str
    title: str = ""
    lines: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    remarks: tuple[str, ...] = ()
    facts: Any = None
    brief: tuple[str, ...] | None = None


@dataclass(frozen=True, repr=False, kw_only=True)
class Readable(Printable):
    """A record of sections: text for its repr, a table in a notebook, plain data for JSON.

    Attributes
    ----------
    question
        The question.
    preference
        Criterion by which one design is better than another, in words.
    sections
        The sections, the notes last.
    """

    question: str
    preference: str
    sections: tuple[Section, ...]

    def with_section(self, section: Section) -> Self:
        """Return the same with one more section, before the notes."""
        return replace(self, sections=(*self.sections[:-1], section, self.sections[-1]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON: the same numbers as the text, in SI."""
        facts = {section.key: section.facts for section in self.sections}
        found: dict[str, Any] = jsonable(
            {"question": self.question, "preference": self.preference} | facts
        )
        return found

    def text(self) -> str:
        """Return the text that the command line prints."""
        return sections_text(self.question, self.sections)

    def _repr_html_(self) -> str:
        return html(self.question, self.sections)


@dataclass(frozen=True, repr=False, kw_only=True)
class OneScreen(Readable):
    """A record that is shown in one screen unless all of it is requested."""

    def text(self, *, all: bool = False) -> str:
        """Return the part that fits one screen, or all of it."""
        shown = sections_text if all else brief_text
        return shown(self.question, self.sections)


def sections_text(question: str, sections: Iterable[Section]) -> str:
    """Return sections as plain text, a blank line between them."""
    parts = [paragraph(question)] if question else []
    widest = terminal_width(WIDEST)
    parts += [_text(section, widest) for section in sections]
    return "\n\n".join(part for part in parts if part)


def brief_text(question: str, sections: Iterable[Section]) -> str:
    """Return sections in one screen, without blank lines except below the question."""
    parts = [f"{paragraph(question)}\n"] if question else []
    for section in sections:
        if section.brief is None:
            parts.append("\n" * bool(section.title) + _text(section, terminal_width()))
        else:
            parts += [paragraph(line, INDENT) for line in section.brief]
    return "\n".join(part for part in parts if part)


class Reporter:
    """Writer of sections part by part, which together are the text.

    Parts are separated by blank lines if `all` is shown, and by ends of lines otherwise.
    """

    def __init__(self, question: str, write: Callable[[str], None], *, all: bool) -> None:
        """Begin with the question."""
        self._question = question
        self._write = write
        self._text = sections_text if all else brief_text

    def report(self, sections: Iterable[Section]) -> None:
        """Write some sections."""
        text = self._text(self._question, sections)
        self._question = ""
        if text:
            self._write(text)


def _text(section: Section, widest: int) -> str:
    lines = [f"{section.title}:"] if section.title else []
    lines += [paragraph(line, INDENT) for line in section.lines]
    if section.rows and section.headers:
        lines.append(table_text(section.rows, section.headers, width=widest))
    elif section.rows:
        broad = max(len(name) for name, *_ in section.rows)
        for name, *rest in section.rows:
            lines.append(
                paragraph(f"{INDENT}{name:<{broad}}  {'  '.join(rest)}", " " * (broad + 4))
            )
    lines += [paragraph(line, INDENT) for line in section.remarks]
    return "\n".join(lines)


def html(question: str, sections: Iterable[Section]) -> str:
    """Return sections as HTML for a notebook, escaped and without loading anything."""
    parts = [f"<p><b>{_escape(question)}</b></p>"] if question else []
    for section in sections:
        if section.title:
            parts.append(f"<p><b>{_escape(section.title)}</b></p>")
        parts += [f"<p>{_escape(line)}</p>" for line in section.lines]
        if section.rows:
            head = _row(section.headers, "th") if section.headers else ""
            body = "".join(_row(row, "td") for row in section.rows)
            parts.append(f"<table>{head}{body}</table>")
        parts += [f"<p>{_escape(line)}</p>" for line in section.remarks]
    return "<div>" + "\n".join(parts) + "</div>"


def _row(cells: Sequence[str], kind: str) -> str:
    return "<tr>" + "".join(f"<{kind}>{_escape(cell)}</{kind}>" for cell in cells) + "</tr>"


def _escape(shown: str) -> str:
    return escaping.escape(shown).replace("\n", "<br>")
