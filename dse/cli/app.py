"""The application that the command modules add to, and the arguments that they share."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from dse.files.position import visible

REFUTED = 1
"""Exit status when a run is not what it says."""

app = typer.Typer(
    name="dse",
    help="Which accelerator core, how many, behind which interface: fronts instead of guesses.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

StudyFile = Annotated[Path, typer.Argument(help="Study file (YAML).", show_default=False)]
StudyOrRun = Annotated[Path, typer.Argument(help="Study file, or the folder of a run.")]
RunFolder = Annotated[Path, typer.Argument(help="Folder that `dse run` wrote.", show_default=False)]
Prefer = Annotated[
    str | None,
    typer.Option(help="power, area, knee, an objective, or an expression to minimise."),
]
Tolerance = Annotated[
    str | None,
    typer.Option(
        metavar="PERCENT",
        help='Among designs so near the best the other objectives decide: "1 %".',
    ),
]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help='Replace a field: --set "workload.rate=73 Gbps".'
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Most processes; as many as there are cores."),
]
FlipsBudget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help='CPU time to look for what would change the answer: "60 s". '
        "10 s, and 60 s where all of it is asked for.",
    ),
]
Budget = Annotated[
    str, typer.Option(metavar="TIME", help='CPU time that it may take, such as "10 min".')
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"dse {version('accel-dse')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Which accelerator core, how many, behind which interface: fronts instead of guesses."""


class Found(Protocol):
    """What a command found: text for people, plain data for programs."""

    def text(self) -> str:
        """Return it as text."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""


def show(found: Found, *, as_json: bool) -> None:
    """Print what a command found."""
    if as_json:
        show_json(found.to_dict())
    else:
        tell(found.text())


def tell(text: str) -> None:
    """Print text at once; what is in a name must not steer the terminal."""
    print(visible(text), flush=True)


def warn(text: str) -> None:
    """Print a warning on stderr: the command goes on, and ends with status 0 for all it knows."""
    print(f"warning: {visible(text)}", file=sys.stderr)


class Parts:
    """Prints parts of a text as they come, a blank line between them if `apart`."""

    def __init__(self, before: Callable[[], None], *, apart: bool) -> None:
        """Print nothing so far; `before` is called before each part."""
        self._before = before
        self._apart = apart
        self._started = False

    def tell(self, text: str) -> None:
        """Print a part, at once."""
        self._before()
        tell(f"\n{text}" if self._apart and self._started else text)
        self._started = True


def show_json(value: Any) -> None:
    """Print plain data as JSON."""
    from dse.files.json import json_text

    print(json_text(value))


def say(line: str) -> None:
    """Show progress on stderr when it is a terminal; an empty line clears it."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()


_PLAIN = {"\u2500": "-", "\u2026": "...", "\u00b2": "2", "\u00b5": "u", "\u2013": "-"}
"""What stands for a character where the encoding of a terminal or a file lacks it."""


def write_in_any_encoding() -> None:
    """Let an answer through whatever the locale: no character of it is worth losing it."""

    def plain(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        lacking = error.object[error.start : error.end]
        return "".join(_PLAIN.get(character, "?") for character in lacking), error.end

    codecs.register_error("plain", plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")
