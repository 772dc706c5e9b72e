"""Commands made from functions: their options from signatures, help from docstrings."""

from __future__ import annotations

import codecs
import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from importlib import import_module
from inspect import Parameter, Signature, getdoc, signature, unwrap
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, TextIO

import typer

from dse.api.arguments import argument_kind, check_kinds
from dse.errors import ArgumentError, visible
from dse.files.json import json_text
from dse.reports import progress
from dse.workers import cores

Function = Callable[..., Any]

SPELLED = {
    "overrides": ("--set",),
    "settings": ("--set",),
    "forms": ("--form",),
    "from_": ("--from",),
    "out": ("--out", "-o"),
}
"""Options that are not called as the argument is, or not only."""

SHARED = {
    "json": ("", "Print JSON instead of text."),
    "jobs": ("", "Most processes (default: one per CPU core)."),
}
"""Help of options with one meaning in every command that has them."""

EMPTY = Parameter.empty


@dataclass(frozen=True)
class Entry:
    """A command: its function that prints, and the public functions whose results it prints.

    Attributes
    ----------
    prints
        Called with a `Call`, if there are functions, and with the command's other options.
    functions
        ``module:name`` each, imported when the command is made.
    without
        Arguments of these functions that are no options.
    """

    prints: Function
    functions: tuple[str, ...]
    without: tuple[str, ...]

    @property
    def summary(self) -> str:
        """Return the help of the command: its docstring up to the arguments."""
        return (getdoc(self.prints) or "").partition("\n\nParameters\n")[0]


COMMANDS: dict[str, Entry] = {}
"""Commands by the words that call them."""


def command(
    *functions: str, name: str = "", without: tuple[str, ...] = ()
) -> Callable[[Function], Function]:
    """Return a decorator that makes a function a command, which prints results of functions."""

    def register(prints: Function) -> Function:
        COMMANDS[name or prints.__name__.rstrip("_")] = Entry(prints, functions, without)
        return prints

    return register


class Call:
    """Public functions, and their arguments from the command line.

    Attributes
    ----------
    given
        Values of arguments, without the omitted ones.
    """

    def __init__(
        self, functions: list[Function], given: Mapping[str, Any], defaults: Mapping[str, Any]
    ) -> None:
        """Keep them."""
        self.given = dict(given)
        self._functions = {function.__name__: function for function in functions}
        self._defaults = defaults

    def __call__(self, **more: Any) -> Any:
        """Call the function, if it is one, with the given arguments and `more`."""
        (name,) = self._functions
        return self.of(name)(**more)

    def of(self, name: str, rule: str = "", *others: str) -> Function:
        """Return a function with its given arguments.

        Raises
        ------
        ArgumentError
            An option is given that neither it nor `others` have, with `rule` as the reason.
        """
        shapes = {one: signature(self._functions[one]).parameters for one in (name, *others)}
        shape, allowed = shapes[name], {each for one in shapes.values() for each in one}
        for key, value in self.given.items():
            if key not in allowed and value != self._defaults.get(key):
                raise ArgumentError(f"{_names(key)[0]}: {rule}; leave it out")
        given = {key: value for key, value in self.given.items() if key in shape}
        several = [key for key in given if shape[key].kind is Parameter.VAR_POSITIONAL]
        words = [word for key in several for word in given.pop(key)]
        return partial(self._functions[name], *words, **given)


def made(entry: Entry) -> Function:
    """Return a command as a function that typer reads."""
    functions = [imported(where) for where in entry.functions]
    own = signature(entry.prints, eval_str=True).parameters
    mine = {name: each for name, each in own.items() if name != "call"}
    theirs = {
        name: each
        for function in functions
        for name, each in signature(function, eval_str=True).parameters.items()
        if name not in entry.without and argument_kind(each).word is not None
    }
    helps = SHARED | described(entry.prints)
    for function in functions:
        helps = described(function) | helps
    shape = theirs | mine
    defaults = {name: each.default for name, each in shape.items()}
    usual = {"jobs": cores()} if "jobs" in shape else {}

    def invoke(**words: Any) -> None:
        given = usual | {name: value for name, value in words.items() if value not in (None, [])}
        check_kinds(
            *({_spelled(shape[name]): one[name] for name in given} for one in (shape, given))
        )
        values = {name: given[name] for name in mine if name in given}
        if functions:
            rest = {name: value for name, value in given.items() if name in theirs}
            entry.prints(Call(functions, rest, defaults | usual), **values)
        else:
            entry.prints(**values)

    options = [_option(each, *helps.get(name, ("", ""))) for name, each in shape.items()]
    options.sort(key=lambda option: option.name == "json")
    vars(invoke)["__signature__"] = Signature(options)
    invoke.__annotations__ = {option.name: option.annotation for option in options}
    return invoke


def imported(where: str) -> Any:
    """Return the function or the constant of ``module:name``."""
    return resolve_name(where)


def _option(parameter: Parameter, metavar: str, text: str) -> Parameter:
    """Return an argument of a function as typer wants it: with its type, its help, its default."""
    kind, name = argument_kind(parameter), parameter.name
    several = kind.several or parameter.kind is Parameter.VAR_POSITIONAL
    default = None if parameter.default in ((), EMPTY) or name == "jobs" else parameter.default
    required = parameter.default is EMPTY and parameter.kind is not Parameter.VAR_POSITIONAL
    place = parameter.kind is not Parameter.KEYWORD_ONLY and kind.positional
    stands = "PATH" if kind.word is Path and not place else name.rstrip("_").upper()
    settings: dict[str, Any] = {"help": text, "metavar": metavar or kind.metavar or stands}
    settings |= {"autocompletion": _completion(name, text)}
    if place:
        info: Any = typer.Argument(show_default=False, **settings)
    else:
        spelled = _names(name)
        if kind.word is bool and default is not False:
            spelled = (f"{_dashed(name)}/--no-{_dashed(name)[2:]}",)
        info = typer.Option(
            *spelled, show_default=default is not None and default is not False, **settings
        )
    word: Any = list[kind.word] if several else kind.word  # type: ignore[name-defined]
    return Parameter(
        name,
        Parameter.KEYWORD_ONLY,
        default=EMPTY if required else default,
        annotation=Annotated[word if required else word | None, info],
    )


_LISTED = re.compile(r"see `dse list ?(\w*)`")


def _completion(name: str, text: str) -> Callable[[str], list[str]] | None:
    """Return a completion for an argument whose help refers to a list of its values, else None."""
    found = _LISTED.search(text)
    if found is None:
        return None

    def complete(incomplete: str) -> list[str]:
        names = imported("dse.installation.inventory:names_of")(found[1])
        more = ["knee"] if name == "prefer" else []
        return [one for one in (*names, *more) if one.startswith(incomplete)]

    return complete


def _spelled(parameter: Parameter) -> str:
    """Return the name of an argument on the command line."""
    named = parameter.kind is Parameter.KEYWORD_ONLY or not argument_kind(parameter).positional
    return _names(parameter.name)[0] if named else parameter.name


def _names(argument: str) -> tuple[str, ...]:
    """Return the names of the option of an argument."""
    return SPELLED.get(argument, (_dashed(argument),))


def _dashed(name: str) -> str:
    return "--" + name.rstrip("_").replace("_", "-")


_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z])")
_AS_IN = re.compile(r"As in `([\w.]+)`")


def described(function: Function) -> dict[str, tuple[str, str]]:
    """Return the placeholder of each argument, and the first sentence of its description."""
    return {name: _sentence(function, name, *found) for name, found in _arguments(function)}


def _arguments(function: Function) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each argument of a docstring, possibly written ``name : METAVAR``, and its text."""
    _, _, rest = (getdoc(function) or "").partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w+\n-{3,}\n", rest)[0]
    for entry in re.split(r"\n(?=\S)", section) if section else ():
        head, _, text = entry.partition("\n")
        names, _, metavar = head.partition(" : ")
        for name in names.split(", "):
            yield name, (metavar, " ".join(text.split()))


def _sentence(function: Function, name: str, metavar: str, text: str) -> tuple[str, str]:
    """Return the first sentence, of another function if the text refers to it."""
    refers = _AS_IN.match(text)
    if refers is None:
        return metavar, _SENTENCE.split(text)[0].replace("``", "`")
    inside = sys.modules[unwrap(function).__module__]
    first, *inner = refers[1].split(".")
    other = getattr(inside, first, None) or getattr(import_module("dse"), first)
    other = reduce(getattr, inner, other)
    return _sentence(other, name, *dict(_arguments(other)).get(name, ("", "")))


def show(found: Any, json: bool) -> None:
    """Print the result of a command: text for people, plain data for programs."""
    if json:
        show_json(found.to_dict())
    else:
        write(found.text())


def write(text: str) -> None:
    """Print text at once, escaping control characters, with which names could steer a terminal."""
    print(coloured(visible(text), sys.stdout), flush=True)


def say(text: str) -> None:
    """Print a remark in lines that fit, unless only results are wanted."""
    if not progress.is_quiet():
        width = shutil.get_terminal_size().columns
        text = textwrap.fill(visible(text), width, subsequent_indent="  ", break_on_hyphens=False)
        print(f"{DIM}{text}{PLAIN}" if _has_colours(sys.stdout) else text, flush=True)


def spelled() -> str:
    """Return the command that calls the program again: ``dse``, or its path if not found."""
    program, found = Path(sys.argv[0]), shutil.which("dse")
    known = program.name != "dse" or not program.exists()
    if known or (found and Path(found).samefile(program)):
        return "dse"
    return os.path.relpath(program)


def complain(text: str) -> None:
    """Print errors on stderr, one per line, wrapped on a terminal."""
    text = visible(text)
    if sys.stderr.isatty():
        folded = textwrap.TextWrapper(
            shutil.get_terminal_size().columns,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        text = "\n".join(folded.fill(line) for line in text.split("\n"))
    if _has_colours(sys.stderr) and not text.startswith(_WARNING):
        text = f"{RED}{text}{PLAIN}"
    print(coloured(text, sys.stderr), file=sys.stderr)


_WARNING = "warning:"


def warn(text: str) -> None:
    """Print a warning on stderr: the command goes on, and ends with status 0 for all it knows."""
    if not progress.is_quiet():
        complain(f"{_WARNING} {text}")


BOLD, DIM, RED, GREEN, YELLOW, PLAIN = (f"\x1b[{number}m" for number in (1, 2, 31, 32, 33, 0))

_COLOURS = {
    RED: r"FAILS(?=  )|.* is refuted\b|.+? failed(?=:)",
    GREEN: r"holds(?=  )|Verified:",
    YELLOW: r"note:|warning:|found(?=  )|not (?:checked|proven)\b",
    BOLD: r"Take .*\.|▸ .*|recommended .*|[A-Z][\w -]{3,24}:(?= )",
}
"""Beginnings of lines, by colour: verdicts, warnings, the answer, labels."""

_COLOURED = re.compile("^(?:" + "|".join(f"({each})" for each in _COLOURS.values()) + ")", re.M)


def coloured(text: str, stream: TextIO) -> str:
    """Return text in colours if a terminal shows them (https://no-color.org)."""
    if not _has_colours(stream):
        return text
    colours = [*_COLOURS]
    return _COLOURED.sub(
        lambda found: f"{colours[(found.lastindex or 1) - 1]}{found[0]}{PLAIN}", text
    )


def _has_colours(stream: TextIO) -> bool:
    """Return whether a terminal shows colours, and its user wants them."""
    unwanted = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not unwanted


def show_json(value: Any) -> None:
    """Print plain data as JSON."""
    print(json_text(value), flush=True)


_PLAIN = {
    "\u2500": "-",
    "\u25b8": ">",
    "\u2026": "...",
    "\u00b2": "2",
    "\u00b5": "u",
    "\u2013": "-",
}
"""Replacements of characters that the encoding of a terminal or a file lacks."""


def write_in_any_encoding() -> None:
    """Print answers in any locale: no single character is worth losing one."""

    def plain(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        lacking = error.object[error.start : error.end]
        return "".join(_PLAIN.get(character, "?") for character in lacking), error.end

    codecs.register_error("plain", plain)
    modes = {"stdin": "r", "stdout": "w", "stderr": "w"}  # each takes the lowest free number
    for name in (one for one in modes if getattr(sys, one) is None):  # the caller closed it
        setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), modes[name]))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")
