"""Texts, comments and names are in the field's nouns, not in words of this project alone."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.project.test_readme import ROOT

DIALECT = re.compile(
    r"\btold\b|\btells\b|\basked of\b|\b(?:is|are) asked\b|\bleft out\b|\bleaves out\b"
    r"|\blook(?:ed|s) at\b|\bendless\b|\bborder of\b|\bis what it says\b|\bfigures behind it\b"
    r"|(?i:\bbeside\b|\bsaid\b)"
)
PROGRAM = re.compile(
    r"(?i)(?:\b|_)(?:un)?(?:told|asked)(?:\b|_)|left[_ -]out\b|\bleaves? out\b"
    r"|\blook(?:ed|s)[_ ]at\b"
)
"""Of names, comments and docstrings."""
SOURCES = sorted(
    path for top in ("dse", "cores", "objectives") for path in (ROOT / top).rglob("*.py")
)
PAGES = sorted({*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"})
QUOTED = {"dse/contract/decorator.py"}
"""Quotations of the papers."""


def texts(path: Path) -> Iterator[str]:
    """Yield the strings of a page or module; docstrings only of commands, whose help they are."""
    if path.suffix != ".py":
        yield path.read_text(encoding="utf-8")
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    bare = set() if path.parent == ROOT / "dse" / "cli" else bare
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.value


@pytest.mark.parametrize("paths", [SOURCES, PAGES], ids=["programs", "pages"])
def test_texts_have_no_word_of_the_dialect(paths: list[Path]) -> None:
    found = [
        f"{name}: {word[0]}"
        for path in paths
        if (name := path.relative_to(ROOT).as_posix()) not in QUOTED
        for text in texts(path)
        for word in DIALECT.finditer(text)
        if text != word[0]  # a name
    ]
    assert not found


HABITS = {
    "what": r"\b(?:what(?![^.\n]*\?)|whoever)\b",
    "where": r"\bwhere\b",
    "says": r"\bsay(?:s|ing)?\b",
    "that of": r"\b(?:that|those) of\b",
    "stands": r"\bstands?\b",
    "nobody": r"\b(?:tell|nobody|none (?:of|is|are|has|have))\b",
    "of its own": r"\bof (?:its|their) own\b|(?<!host )\balone\b",
    "takes": r"\btakes? (?:the )?(?:least|less|most|more|\d)",
    "held to": r"\bheld (?:to|against)\b",
    "fault": r"\bfaults?\b|\bfigures?\b(?! \d)",
    "semicolon": r";\s",
}
"""Constructions of this project alone."""
CAPS = {
    "pages": {
        "what": 8,
        "where": 4,
        "of its own": 2,
        "fault": 4,
        "semicolon": 10,
    },
    "strings": {
        "what": 32,
        "where": 7,
        "says": 4,
        "that of": 4,
        "stands": 6,
        "nobody": 13,
        "of its own": 19,
        "takes": 2,
        "fault": 8,
        "semicolon": 486,
    },
    "comments": {
        "what": 28,
        "where": 15,
        "says": 2,
        "that of": 7,
        "stands": 1,
        "nobody": 4,
        "of its own": 7,
        "takes": 11,
        "fault": 50,
        "semicolon": 16,
    },
}
"""How many of each construction pages, strings, and comments with docstrings may have."""
BLOCKS = re.compile(r"(?ms)^ *```.*?^ *```$|`[^`\n]*`|\]\([^)]*\)|^    [^\n]*$")
GENERATED = {ROOT / "docs" / name for name in ("held_out.md", "gallery.md")}
"""Pages that programs write."""


def pages_text() -> str:
    """Return the prose of all pages, without the page that quotes the constructions."""
    quotes = ROOT / "docs" / "contributing" / "style.md"
    return "\n".join(BLOCKS.sub("", page.read_text("utf-8")) for page in PAGES if page != quotes)


def strings_text() -> str:
    """Return the strings with a space of all modules, which are messages."""
    found = []
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
        texts = (node.value for node in constants if id(node) not in bare)
        found += [text for text in texts if isinstance(text, str) and " " in text]
    return "\n".join(found)


def comments_text() -> str:
    """Return the comments and docstrings of all modules, without the names."""
    found = (text for path in SOURCES for text in prose(path) if not text.isidentifier())
    return "\n".join(found)


@pytest.mark.parametrize("text", [pages_text, strings_text, comments_text])
def test_constructions_become_fewer(text: Callable[[], str]) -> None:
    caps, prose_of_all = CAPS[text.__name__.removesuffix("_text")], text()
    found = {name: len(re.findall(f"(?i){habit}", prose_of_all)) for name, habit in HABITS.items()}
    assert not {name: number for name, number in found.items() if number > caps.get(name, 0)}


def test_pages_have_at_most_28_000_words() -> None:
    written = {*(ROOT / "docs").rglob("*.md")} - GENERATED
    assert sum(len(page.read_text("utf-8").split()) for page in written) <= 28_000


def prose(path: Path) -> Iterator[str]:
    """Yield the names, comments and docstrings of a module."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        is_docstring = token.type == tokenize.STRING and '"""' in token.string[:4]
        if token.type in {tokenize.NAME, tokenize.COMMENT} or is_docstring:
            yield token.string


def test_names_and_comments_have_no_word_of_the_dialect() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {word[0]}"
        for path in SOURCES
        for text in (path.stem, *prose(path))
        for word in PROGRAM.finditer(text)
    ]
    assert not found
