"""Design-space exploration of hardware accelerator cores.

>>> import dse
>>> dse.run("studies/settop_116mbps.yaml").front  # a pandas DataFrame
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dse.removed import no_attribute

if TYPE_CHECKING:
    from dse import errors as errors
    from dse.answers.answer import Answer as Answer
    from dse.answers.answer import SweepAnswer as SweepAnswer
    from dse.api import fit as fit
    from dse.api.answers import answer as answer
    from dse.api.answers import simulate as simulate
    from dse.api.answers import uncertainty as uncertainty
    from dse.api.audits import diff as diff
    from dse.api.audits import explain as explain
    from dse.api.audits import verify as verify
    from dse.api.changes import decision_map as decision_map
    from dse.api.changes import flips as flips
    from dse.api.pages import report as report
    from dse.api.runs import run as run
    from dse.api.runs import status as status
    from dse.api.studies import load as load
    from dse.api.studies import problem as problem
    from dse.audit.diff import RunComparison as RunComparison
    from dse.audit.explain import Explanation as Explanation
    from dse.audit.verdict import Verification as Verification
    from dse.contract.evaluators import InfeasibleDesign as InfeasibleDesign
    from dse.model.problem import Problem as Problem
    from dse.papers.reproduce import Reproduction as Reproduction
    from dse.papers.reproduce import reproduce as reproduce
    from dse.parametric.decision_map import DecisionMap as DecisionMap
    from dse.parametric.flips import Flips as Flips
    from dse.runs.result import Result as Result
    from dse.runs.status import Status as Status
    from dse.sampling.report import UncertaintyReport as UncertaintyReport
    from dse.search.open_problem import OpenProblem as OpenProblem
    from dse.silicon.characterisation import Characterisation as Characterisation
    from dse.silicon.public import characterise as characterise
    from dse.silicon.public import verilog as verilog
    from dse.simulation.report import Simulation as Simulation
    from dse.study.study import Study as Study

_MODULES = {"errors": "dse.errors", "fit": "dse.api.fit"}

_FROM = {
    "dse.api.answers": ("answer", "simulate", "uncertainty"),
    "dse.api.changes": ("decision_map", "flips"),
    "dse.api.audits": ("diff", "explain", "verify"),
    "dse.api.pages": ("report",),
    "dse.silicon.public": ("characterise", "verilog"),
    "dse.api.studies": ("load", "problem"),
    "dse.api.runs": ("run", "status"),
    "dse.answers.answer": ("Answer", "SweepAnswer"),
    "dse.audit.diff": ("RunComparison",),
    "dse.audit.explain": ("Explanation",),
    "dse.audit.verdict": ("Verification",),
    "dse.contract.evaluators": ("InfeasibleDesign",),
    "dse.model.problem": ("Problem",),
    "dse.papers.reproduce": ("Reproduction", "reproduce"),
    "dse.runs.result": ("Result",),
    "dse.runs.status": ("Status",),
    "dse.sampling.report": ("UncertaintyReport",),
    "dse.search.open_problem": ("OpenProblem",),
    "dse.silicon.characterisation": ("Characterisation",),
    "dse.simulation.report": ("Simulation",),
    "dse.parametric.decision_map": ("DecisionMap",),
    "dse.parametric.flips": ("Flips",),
    "dse.study.study": ("Study",),
}
"""Public names, by the module that they come from, imported when they are requested."""

_WHERE = {name: module for module, names in _FROM.items() for name in names}

__all__ = [*_MODULES, *_WHERE]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found: Any = import_module(_MODULES[name])
    elif name in _WHERE:
        found = getattr(import_module(_WHERE[name]), name)
    elif name == "__version__":
        from importlib.metadata import version

        found = version("accel-dse")
    else:
        raise no_attribute("dse", name, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
