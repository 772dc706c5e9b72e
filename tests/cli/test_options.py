"""Options made from functions: a sentence, a type and a default for each."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from dse.api.arguments import Count, Names
from dse.cli.options import Call, Entry, described, made
from dse.errors import ArgumentError


def bake(
    flour: str, *, eggs: Count = 2, salt: bool = True, with_: Names = (), jobs: Count = 1
) -> Any:
    """Bake.

    Parameters
    ----------
    flour : KIND
        What is ground.  Wheat, for instance.
    eggs
        How many
        go in (default: two).
    salt
        Add salt.
    with_
        More of it.
    """
    return flour, eggs, salt, with_, jobs


def steam(*, water: str, eggs: Count = 2) -> None:
    """Steam.

    Parameters
    ----------
    water
        How much.
    eggs
        As in `bake`.
    """


def command(words: list[str]) -> Any:
    printed: list[Any] = []

    def prints(call: Call, *, json: bool = False) -> None:
        printed.append((call(), json))

    app = typer.Typer(add_completion=False)
    app.command()(made(Entry(prints, (f"{__name__}:bake",), ())))
    app(words, standalone_mode=False)
    return printed[0]


def test_words_of_a_command_are_the_arguments_of_the_function() -> None:
    (flour, eggs, salt, more, jobs), json = command(
        ["rye", "--no-salt", "--with", "a", "--with", "b"]
    )
    assert (str(flour), eggs, salt, more, json) == ("rye", 2, False, ["a", "b"], False)
    assert jobs >= 1
    with pytest.raises(ArgumentError, match=r"^--eggs=0: give a whole number, 1 or more"):
        command(["rye", "--eggs", "0"])


def test_help_is_the_first_sentence_of_a_docstring_or_of_the_one_that_it_names() -> None:
    assert described(bake)["flour"] == ("KIND", "What is ground.")
    assert described(steam)["eggs"] == ("", "How many go in (default: two).")


def test_what_only_another_function_takes_is_refused_unless_it_is_its_default() -> None:
    given, defaults = {"water": "5 %", "eggs": 3}, {"water": None, "eggs": 2}
    call = Call([bake, steam], given, defaults)
    assert call.of("steam").keywords == given
    with pytest.raises(ArgumentError, match="--water: bread has none; leave it out"):
        call.of("bake", "bread has none")
    assert call.of("bake", "bread has none", "steam").keywords == {"eggs": 3}
