"""The commands in groups and in the order of use, as the help of the program shows them."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

GROUPS = {
    "Start": ("new", "check", "run", "plot", "report"),
    "Ask": ("answer", "evaluate", "flips", "sweep", "sensitivity", "simulate"),
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
