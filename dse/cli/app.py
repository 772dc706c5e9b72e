"""The application and its groups of commands, and the arguments that commands share."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer
from typer.core import TyperGroup

from dse.files.position import visible
from dse.reports import progress

GROUPS = {
    "Start": ("new", "check", "run", "status", "plot", "report"),
    "Ask": ("answer", "evaluate", "flips", "sweep", "map", "sensitivity", "simulate"),
    "Prove": ("verify", "explain", "diff"),
    "Own data": ("fit", "measure", "characterise"),
    "Papers": ("reproduce", "figure"),
    "Environment": ("list", "show", "schema", "doctor"),
}

COMMANDS = tuple(name for names in GROUPS.values() for name in names)
"""Each module of this name adds its command when it is imported."""

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""Of all commands; help is as wide as the terminal up to a width that can be read."""


class Commands(TyperGroup):
    """Commands that are listed in groups, and share the options with `SHARED` names."""

    SHARED = ("quiet",)

    def __init__(self, **settings: Any) -> None:
        """Give the shared options to the commands, so that they may stand behind their names."""
        super().__init__(**settings)
        self.share([option for option in self.params if option.name in self.SHARED])

    def share(self, options: list[Any]) -> None:
        """Add options to every command."""
        for command in self.commands.values():
            command.params += options
            if isinstance(command, Commands):
                command.share(options)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of use; those of no group as they were added."""
        return sorted(self.commands, key=[*COMMANDS, *self.commands].index)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each group."""
        names = self.list_commands(ctx)
        width = max(map(len, names), default=0)
        left = {"Commands": tuple(name for name in names if name not in COMMANDS)}
        for title, group in (GROUPS | left).items():
            rows = [
                (
                    name.ljust(width),
                    self.commands[name].get_short_help_str(formatter.width - width - 4),
                )
                for name in group
                if name in names
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


REFUTED, FAILING = 1, 4
"""Exit statuses: a run is not what it says; designs failed by accident, and the run stopped of it
or is to be strict.
"""

app = typer.Typer(
    name="dse",
    cls=Commands,
    context_settings=SETTINGS,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

StudyFile = Annotated[Path, typer.Argument(help="Study file (YAML).", show_default=False)]
StudyOrRun = Annotated[
    Path, typer.Argument(help="Study file, or the folder of a run.", show_default=False)
]
RunFolder = Annotated[
    Path, typer.Argument(help="Folder of a run, as `dse run` wrote it.", show_default=False)
]
Prefer = Annotated[
    str | None,
    typer.Option(help="What to minimise: power, area, knee, an objective or an expression."),
]
Tolerance = Annotated[
    str | None,
    typer.Option(
        metavar="PERCENT",
        help='Designs this near the best count as equal; other objectives decide: "1 %".',
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
    typer.Option(min=1, metavar="N", help="Most processes (default: one per CPU core)."),
]
Time = Annotated[
    str | None,
    typer.Option(metavar="TIME", help='Most CPU time: "10 min" (default: search.effort).'),
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help='Most memory: "2 GiB" (default: search.memory).'),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"dse {version('accel-dse')}")
        raise typer.Exit


def _quiet(wanted: bool) -> None:
    if wanted:
        progress.quieten()


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            callback=_quiet,
            expose_value=False,
            help="Print results and errors only: no progress, no warnings.",
        ),
    ] = False,
) -> None:
    """Find which accelerator cores, how many, behind which interface."""


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
    if not progress.is_quiet():
        print(f"warning: {visible(text)}", file=sys.stderr)


class Parts:
    """Prints parts of a text as they come, a blank line between them if `apart`."""

    def __init__(
        self, before: Callable[[], None], after: Callable[[], None], *, apart: bool
    ) -> None:
        """Print nothing so far; call `before` and `after` around each part."""
        self._before, self._after = before, after
        self._apart = apart
        self._started = False

    def tell(self, text: str) -> None:
        """Print a part, at once."""
        self._before()
        tell(f"\n{text}" if self._apart and self._started else text)
        self._started = True
        self._after()


def show_json(value: Any) -> None:
    """Print plain data as JSON."""
    from dse.files.json import json_text

    print(json_text(value), flush=True)


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
