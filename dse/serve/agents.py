"""Answers for agents over the Model Context Protocol: tools that read, write no file, run nothing.

Each reply has the JSON that the command prints, ``json``, and its ``certificate``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

from dse import __version__, search
from dse.api import answers, audits, changes, runs
from dse.api.studies import document_of
from dse.audit.explain import VERDICT_TEXTS
from dse.errors import ArgumentError, DseError, InfeasibleError, extra_module, faults_of
from dse.files.json import jsonable
from dse.files.memory import texts_of
from dse.installation import details
from dse.model.evaluation import ledger_of
from dse.reports.text import plural
from dse.study import records, study

Reply = dict[str, Any]
Fields = dict[str, Any] | None
Only = list[str] | None

FOR_AGENTS = (
    "dse answers which accelerator cores, how many and behind which interface.  Write a study "
    "(YAML) below the working folder, check it, then ask; list shows what it can name.  overrides "
    'replace fields: {"workload.rate": "73 Gbps"}.  A reply has what the command prints as JSON, '
    "and its certificate: what is proven.  Nothing is written, and no program is run."
)

_ONE_SEARCH = threading.Lock()
"""A search is of one process: requests wait for each other."""


def _check(study: str, overrides: Fields = None) -> Reply:
    """Read a study and report every error, each with its place, the rule and the remedy."""
    found: Reply = {"study": study, "faults": []}
    _inside(Path(), study)
    try:
        prepared = _opened(study, overrides)
        search.check_search(prepared.problem, prepared.settings)
        found["summary"] = prepared.summary()
    except ArgumentError:
        raise
    except DseError as error:
        found["faults"] = [*faults_of(error)]
    return _reply(found, f"read, not searched: {plural(len(found['faults']), 'fault')}")


def _run(study: str, overrides: Fields = None, time: str | None = None) -> Reply:
    """Find the Pareto front of a study: its designs, and their proof."""
    return _found(runs.run(_opened(study, overrides), time=time), _counts)


def _answer(
    study: str, overrides: Fields = None, prefer: str | None = None, time: str | None = None
) -> Reply:
    """Recommend a design: its reasons and limits, the costs of other choices, and its changes.

    `prefer` is the quantity to minimise: power, area, knee or an objective.
    """
    found = answers.answer(_opened(study, overrides), prefer=prefer, time=time)
    return _found(found, lambda facts: _counts(facts.get("answer", facts)))


def _flips(
    study: str, only: Only = None, overrides: Fields = None, time: str | None = None
) -> Reply:
    """Find the range of each assumption with the same answer, limited to names in `only`."""
    return _found(changes.flips(_opened(study, overrides), only=only or (), time=time), _proofs)


def _explain(study: str, design: str, overrides: Fields = None) -> Reply:
    """Explain why a design, "1 u8 + 2 u16", is on the front or not, with every term."""
    found = audits.explain(_opened(study, overrides), design)
    return _found(found, lambda facts: VERDICT_TEXTS[facts["verdict"]])


def _list(name: str | None = None, provides: str | None = None) -> Reply:
    """List the names for studies: of each kind, of one kind, or the details of one name."""
    for path in (*map(str, records.RECORDS_FOLDER.glob("*")), name or "."):
        _inside(Path(), path)
    return _reply(details.known_facts(name, provides), f"installed: accel-dse {__version__}")


TOOLS = (_check, _run, _answer, _flips, _explain, _list)


def _opened(written: str, overrides: Fields) -> study.Study:
    """Return a study that names no file outside the working folder, and no program."""
    _inside(Path(), written)
    document = document_of(Path(written), overrides)
    if document.measures:
        rule = "evaluate: a program measures its designs, and agents run none"
        raise ArgumentError(f"{written}: {rule}; run it with `dse run`, or name a table of designs")
    for text in texts_of(document.data):
        _inside(Path(document.file).parent, text)
    return study.ready(document)


def _inside(base: Path, written: str) -> None:
    """Raise ArgumentError if a path leads out of the working folder, also by a link."""
    try:
        inside = (base / written).resolve().is_relative_to(Path.cwd().resolve())
    except ValueError:  # no path at all
        inside = False
    if not inside or ".." in Path(written).parts:
        rule = "agents read only below the folder that `dse mcp` was started in"
        raise ArgumentError(f"{written}: {rule}; name a file there")


def _counts(facts: Mapping[str, Any]) -> str:
    if "ledger" not in facts:
        return "one answer for each value of the sweep, each with its own counts"
    designs = plural(int(facts["designs"]), "design")
    return f"{designs}, {facts['evaluated']:,} evaluated: {ledger_of(facts).proof}"


def _proofs(facts: Mapping[str, Any]) -> str:
    proofs = ", ".join(f"{count} by {proof}" for proof, count in facts["proofs"].items())
    unchecked = plural(len(facts["not_checked"]), "assumption")
    return f"ends of ranges proven: {proofs or 'none'}; {unchecked} not checked"


def _found(found: Any, certificate: Callable[[Mapping[str, Any]], str]) -> Reply:
    facts = found.to_dict()
    return _reply(facts, certificate(facts))


def _reply(facts: Any, certificate: str) -> Reply:
    return {"certificate": certificate, "json": jsonable(facts)}


def agent_server() -> Any:
    """Return a server of the tools, which has yet to run.

    Raises
    ------
    MissingLibraryError
        Without the extra ``mcp``.
    """
    mcpserver = extra_module("mcp.server.mcpserver", "dse mcp", "mcp", "mcp")

    def refusing(tool: Callable[..., Reply]) -> Callable[..., Reply]:
        @wraps(tool)
        def call(*args: Any, **given: Any) -> Reply:
            with _ONE_SEARCH:
                try:
                    return tool(*args, **given)
                except InfeasibleError as error:
                    first = str(error).partition("\n")[0]
                    return _reply(error.facts, f"no design meets every constraint: {first}")
                except DseError as error:
                    raise mcpserver.exceptions.ToolError(str(error)) from error

        return call

    found = mcpserver.MCPServer("dse", instructions=FOR_AGENTS, version=__version__)
    for tool in TOOLS:
        found.add_tool(refusing(tool), name=tool.__name__[1:])
    return found
