"""The application: its commands in groups, each made when it is wanted."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from dse import removed
from dse.cli.options import COMMANDS, imported, made
from dse.errors import ArgumentError
from dse.reports import progress

COMMAND_GROUPS = {
    "Use": {"run": "runs", "answer": "questions", "report": "runs"},
    "Begin": {"new": "environment"} | dict.fromkeys(("check", "status", "serve", "mcp"), "runs"),
    "Ask": dict.fromkeys(("explain", "flips", "map", "uncertainty", "simulate"), "questions"),
    "Prove": dict.fromkeys(("verify", "diff"), "questions"),
    "Own data": dict.fromkeys(("fit", "characterise"), "own_data"),
    "Look up": dict.fromkeys(("papers", "list", "doctor"), "environment"),
}
"""Commands, and the module of this package that has each: it is imported when one is wanted."""

NAMES = tuple(name for names in COMMAND_GROUPS.values() for name in names)
"""Names of commands, in the order of the list."""

INSIDE = {
    "fit": "Fit a core or interface to data, or a host to this machine.",
    "new": "Write a study to start from.",
}
"""Commands that have commands inside."""

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""Settings of all commands: help is as wide as the terminal up to a readable width."""


class _Command(TyperCommand):
    """A command that names the replacement of an option of earlier versions."""

    def __init__(self, **settings: Any) -> None:
        """Write positional arguments only by name: their types are Python's, not a reader's."""
        super().__init__(**settings)
        for one in self.params:
            if isinstance(one, TyperArgument):
                name = one.display_name_raw if one.required else f"[{one.display_name_raw}]"
                piece = f"{name}..." if one.nargs != 1 and "..." not in name else name
                plain = {"get_usage_pieces": [piece], "display_type_rich": None}
                vars(one).update({how: lambda ctx, what=what: what for how, what in plain.items()})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of the command line."""
        known = {spelled for option in self.params for spelled in option.opts}
        for word in args[: args.index("--")] if "--" in args else args:
            option = word.partition("=")[0]
            if not option.startswith("--") or option in known:
                continue
            name = option.removeprefix("--").replace("-", "_")
            if instead := removed.remedy("argument", f"{self.name}.{name}"):
                raise ArgumentError(f"{option}: {removed.RULE}; {instead}")
        return super().parse_args(ctx, args)


class Commands(TyperGroup):
    """Commands that are listed in groups, and share the options with `SHARED` names."""

    SHARED = ("quiet",)

    def __init__(self, **settings: Any) -> None:
        """Give the shared options to the commands, so that they may follow their names."""
        super().__init__(**settings)
        self.share([option for option in self.params if option.name in self.SHARED])

    def share(self, options: list[Any]) -> None:
        """Add options to every command."""
        for command in self.commands.values():
            command.params += options
            if isinstance(command, Commands):
                command.share(options)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the first word, or raise ArgumentError with its successor."""
        name = args[0] if ctx.parent is None else f"{self.name} {args[0]}"
        if args[0] not in self.commands and (instead := removed.remedy("command", name)):
            raise ArgumentError(f"dse {name}: {removed.RULE}; {instead}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of use, and names of no group as they were added."""
        return sorted(self.commands, key=[*NAMES, *self.commands].index)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands first, for which readers look."""
        self.format_commands(ctx, formatter)
        TyperCommand.format_options(self, ctx, formatter)  # type: ignore[arg-type]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each group."""
        names = self.list_commands(ctx)
        width = max(map(len, names), default=0)
        left = {"Commands": {name: "" for name in names if name not in NAMES}}
        for title, group in (COMMAND_GROUPS | left).items():
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


def _version(wanted: bool) -> None:
    if wanted:
        print(f"dse {imported('importlib.metadata:version')('accel-dse')}", flush=True)
        raise typer.Exit


def _quiet(wanted: bool) -> None:
    if wanted:
        progress.quieten()


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


def application(*names: str) -> typer.Typer:
    """Return the application with the commands `names`, or all without names.

    If one is unknown all are there, but without their options, which take long to make.
    """
    app = _group("dse")
    app.callback()(_main)
    groups: dict[str, typer.Typer] = {}
    known = {*names} <= {*NAMES}
    wanted = names if names and known else NAMES
    for places in COMMAND_GROUPS.values():
        for name in filter(wanted.__contains__, places):
            import_module(f"dse.cli.{places[name]}")
    for words, entry in COMMANDS.items():
        first, _, inner = words.partition(" ")
        if first not in wanted:
            continue
        if inner and first not in groups:
            groups[first] = _group(first)
            app.add_typer(groups[first], help=INSIDE[first])
        into = groups[first] if inner else app
        into.command(inner or first, help=entry.summary, cls=_Command)(
            made(entry) if known else _unmade
        )
    return app


def _unmade() -> None:
    """Hold the place of a command in the list of commands."""


def _group(name: str) -> typer.Typer:
    return typer.Typer(
        name=name,
        cls=Commands,
        context_settings=SETTINGS,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
