"""Modules of the program in which a command executes a function, imports aside.

python -m benchmarks.rooms run studies/des_100gbps.yaml
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from dse.cli import main as command_line

ROOT = Path(__file__).resolve().parent.parent
IMPORTING = "<frozen importlib._bootstrap>"


def executed(arguments: list[str]) -> Counter[str]:
    """Return each module that executes a function for a command, with how many it executes."""
    codes: set[CodeType] = set()

    def called(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code in codes or not code.co_filename.startswith(f"{ROOT}/"):
            return
        above: FrameType | None = frame
        while above and above.f_code.co_filename != IMPORTING:
            above = above.f_back
        if above is None:
            codes.add(code)

    sys.argv = ["dse", *arguments]
    sys.setprofile(called)
    try:
        command_line()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    files = (Path(code.co_filename).resolve().relative_to(ROOT) for code in codes)
    return Counter(f"{file}" for file in files if file.parts[0] in ("dse", "cores", "objectives"))


def main() -> None:
    """Print the modules that a command executes; a run goes to a folder that is lost."""
    arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        if arguments[:1] == ["run"] and "--out" not in arguments:
            arguments += ["--out", f"{folder}/run"]
        modules = executed(arguments)
    for module, functions in sorted(modules.items()):
        print(f"{functions:4} {module}")
    print(f"{len(modules)} modules, {sum(modules.values())} functions")


if __name__ == "__main__":
    main()
