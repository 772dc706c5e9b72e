"""Texts, comments and names are in the field's nouns, not in words of this project alone."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
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


CAPS = {
    r"\b(?:what(?![^.\n]*\?)|whoever)\b": 27,
    r"\bwhere\b": 11,
    r"\bsay(?:s|ing)?\b": 4,
    r"\b(?:that|those) of\b": 4,
    r"\bstands?\b": 1,
    r"\b(?:tell|nobody|none (?:of|is|are|has|have))\b": 0,
    r"\bof (?:its|their) own\b|(?<!host )\balone\b": 5,
    r"\btakes? (?:the )?(?:least|less|most|more|\d)": 0,
    r"\bheld (?:to|against)\b": 1,
    r"\bfaults?\b|\bfigures?\b(?! \d)": 9,
    r";\s": 26,
}
"""Constructions of this project alone, and how many of each all pages may have."""
BLOCKS = re.compile(r"(?ms)^ *```.*?^ *```$|`[^`\n]*`|\]\([^)]*\)|^    [^\n]*$")


def test_constructions_in_pages_become_fewer() -> None:
    quotes = ROOT / "docs" / "contributing" / "style.md"
    text = "\n".join(BLOCKS.sub("", page.read_text("utf-8")) for page in PAGES if page != quotes)
    found = {habit: len(re.findall(f"(?i){habit}", text)) for habit in CAPS}
    assert not {habit: number for habit, number in found.items() if number > CAPS[habit]}


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
