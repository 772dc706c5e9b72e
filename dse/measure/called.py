"""A small program that calls a function of a user's file for one design.

``python -P called.py FILE NAME`` reads the arguments in ``design.json``, and writes kind and cause
of a failure, and what the function returns, to ``outputs``.  It imports only the standard library
and the file, so that it starts fast.
"""

import importlib.util
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

INPUT_NAME, OUTPUT_NAME = "design.json", "outputs"

_INFEASIBLE = "InfeasibleDesign"
"""Name of the exception for an infeasible design."""


def outcome(function: Callable[..., Any], design: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return kind and cause of a failure, or what a function returns as JSON."""
    try:
        found = function(**design)
        if not isinstance(found, Mapping):
            rule = f"the function returns a {type(found).__name__}, not a dict of its outputs"
            return "output", rule, ""
        named = {str(name): value for name, value in found.items()}
        return "", "", json.dumps(named, default=_plain)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:  # anything that a foreign function raises
        if _INFEASIBLE in (one.__name__ for one in type(error).__mro__):
            return "infeasible", str(error) or "it is infeasible", ""
        return "exit", f"{type(error).__name__}: {error}", ""


def _plain(value: Any) -> Any:
    """Return a number of numpy as one of Python, and other objects as the name of their type."""
    item = getattr(value, "item", None)
    found = item() if callable(item) and getattr(value, "size", 1) == 1 else None
    return found if isinstance(found, int | float | str) else {"kind": type(value).__name__}


def _imported(file: str, name: str) -> Callable[..., Any]:
    """Import a file, with its folder in the path, and return a function."""
    sys.path.insert(0, str(Path(file).parent))
    spec = importlib.util.spec_from_file_location(f"_measuring_{Path(file).stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError("it is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found: Callable[..., Any] = getattr(module, name)
    return found


def _called(file: str, name: str) -> tuple[str, str, str]:
    design = json.loads(Path(INPUT_NAME).read_text(encoding="utf-8"), parse_int=float)
    try:
        function = _imported(file, name)
    except (Exception, SystemExit) as error:  # anything that a foreign module raises
        return "start", f"{file} cannot be imported: {type(error).__name__}: {error}", ""
    return outcome(function, design)


if __name__ == "__main__":
    found = json.dumps(_called(sys.argv[1], sys.argv[2]))
    Path(OUTPUT_NAME).write_text(found, encoding="utf-8")
