"""Names that were removed before 1.0, each with what to do instead: the one table of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Kind = Literal["field", "argument", "command", "plugin", "value"]

RULE = "removed before 1.0"
"""What is wrong with a name of the table."""

_OF_CORES = (
    "measure its designs in a study of their own (`evaluate:`), and write `table: CSV` of them here"
)
_MEASURED = "name a program (`command`), or a function of a file (`function: model.py:area`)"
_PAIRS = "list the designs that there are in a table, `designs: CSV`, or exclude others by rules"
_TIME = 'limit it by `time`, for instance "60 s"'
_DESCRIBED = "describe Verilog of your own with dse.verilog(FILES, top=..., ...), and give that"
_SHARED = (
    "let several machines measure (`--dask`), or sample with an Optuna study of your own through "
    "`dse.problem` (docs/api.md)"
)

_ONE_LIBRARY = "characterise in each library by itself, with a table for each"
_CELLS = "map to a library of standard cells (`library`); a table may state cores of an FPGA"
_NETWORK = "add an area per instance to the table of cores yourself"
_PLAIN = "leave it out: sums are mapped to gates"
_WAVES = "run the testbench yourself, with $dumpfile and $dumpvars, and check against the .vcd"

_SIMULATED = "leave it out: a simulation adds a line to an answer, and never changes it"

_CONFLICT = (
    "write a study with `designs: TABLE.csv` and its `constraints`, and run it: where no design "
    "meets them, it says which ones are in conflict and what would admit a design"
)

_STATED = "state the cycles of a task (`--cycles-per-task`)"

_SAMPLED = "write `dse uncertainty STUDY --samples N --of PATH=PERCENT --seed N`"

_CORES_OF_OURS = "run the study des_100gbps_by_synthesis, whose cores are made of descriptions"
_PRINTED = "write table or law; `dse papers cores` has what is printed beside ours"

_MEMORY = 'write `--set "search.memory=2 GiB"` (`overrides` in Python)'
_FOLDER = "write the folder after the name"
_DELETE = "delete the record that is there, or name another"
_TOLERANCE = 'write `--set "tolerance=1 %"` (`overrides` in Python)'

REMOVED: Mapping[tuple[Kind, str], str] = {
    ("command", "schema"): "write `dse check --schema`",
    ("command", "sweep"): "write `dse map` with one range, or dse.decision_map(...)",
    ("command", "show"): "write `dse list NAME`",
    ("command", "plot"): "write `dse report RUN --pictures`",
    ("command", "measure"): "write `dse fit host`, or `dse fit interface --measure`",
    ("command", "reproduce"): "write `dse papers`",
    ("command", "figure"): "write `dse papers FIGURE --out DIR`",
    ("command", "evaluate"): "write `dse explain`, which shows every term as well",
    ("command", "sensitivity"): "write `dse uncertainty --sobol`",
    ("argument", "answer.samples"): _SAMPLED,
    ("argument", "answer.uncertainty"): _SAMPLED,
    ("argument", "answer.seed"): _SAMPLED,
    ("field", "search.storage"): _SHARED,
    ("field", "stages.core"): _OF_CORES,
    ("field", "evaluate.using"): _MEASURED,
    ("field", "evaluate.settings"): "let the command or the function say them itself",
    ("field", "axes.of"): _PAIRS,
    ("field", "axes.values"): _PAIRS,
    ("field", "axes.only"): _PAIRS,
    ("field", "search.compiled"): "delete it; numpy evaluates every design",
    ("field", "evaluate.fidelities"): (
        "measure the cheap level in a study of its own, and list the best designs in `designs: CSV`"
    ),
    ("field", "evaluate.repeats"): (
        "let the command or the function measure as often as it takes, and tell the mean"
    ),
    ("field", "evaluate.outputs.expect"): "remove it; `gaussian` learns from what is measured",
    ("field", "evaluate.cost"): "limit a search by `budget: {designs: 100, time: 2 h}`",
    ("field", "search.budget.cost"): "limit a search by `budget: {designs: 100, time: 2 h}`",
    ("field", "search.until"): "end the search by `budget: {designs: 100, time: 2 h}`",
    ("argument", "run.storage"): _SHARED,
    ("argument", "answer.flips_budget"): _TIME,
    ("argument", "report.flips_budget"): _TIME,
    ("argument", "flips.budget"): _TIME,
    ("argument", "map.budget"): _TIME,
    ("argument", "decision_map.budget"): _TIME,
    ("argument", "answer.told"): "write `callback`",
    ("argument", "run.told"): "write `callback`",
    ("argument", "report.runs"): "make a page of each run; `dse diff` compares two",
    ("argument", "report.living"): "serve the run, whose numbers move: dse serve RUN",
    ("argument", "run.measure_again"): "measure again what failed in another run: --reuse RUN",
    ("argument", "status.salvage"): "put back a copy of the run, or measure again with --fresh",
    ("argument", "characterise.top"): _DESCRIBED,
    ("argument", "characterise.check"): _DESCRIBED,
    ("argument", "characterise.figures"): _DESCRIBED,
    ("argument", "characterise.clock_port"): _DESCRIBED,
    ("argument", "characterise.corner"): _ONE_LIBRARY,
    ("argument", "characterise.corners"): _ONE_LIBRARY,
    ("argument", "characterise.supply"): _ONE_LIBRARY,
    ("argument", "characterise.place"): (
        "place the design with tools of your own, and write the figures into the table"
    ),
    ("argument", "characterise.mapping_tool"): (
        "leave it out: pyosys maps, or without it the yosys on the PATH"
    ),
    ("argument", "characterise.cache_limit"): "leave it out: results take 64 MB at most",
    ("argument", "characterise.device"): _CELLS,
    ("argument", "characterise.placements"): _CELLS,
    ("argument", "characterise.joined_by"): _NETWORK,
    ("plugin", "generator.network"): _NETWORK,
    ("argument", "answer.simulate"): _SIMULATED,
    ("argument", "answer.no_simulate"): _SIMULATED,
    ("argument", "explain.infeasible"): _CONFLICT,
    ("argument", "explain.constraint"): _CONFLICT,
    ("argument", "explain.constraints"): _CONFLICT,
    ("argument", "explain.study"): _CONFLICT,
    ("argument", "explain.run"): "write `source`",
    ("argument", "characterise.multipliers"): "write the recoding in the description of the design",
    ("argument", "characterise.full_adders"): _PLAIN,
    ("argument", "characterise.wire"): "leave it out: uncertainty columns have what wires add",
    ("argument", "characterise.keep"): "map the design with Yosys yourself: netlists are not kept",
    ("argument", "characterise.memory"): "leave a memory of more than 20 kbit out of the design",
    ("argument", "characterise.done"): _STATED,
    ("argument", "verilog.done"): _STATED,
    ("value", "check=.v"): _WAVES,
    ("value", "check=.sv"): _WAVES,
    ("value", "check=.fst"): "convert it to .vcd (fst2vcd of GTKWave)",
    ("field", "search.warm_start"): "remove it; a heuristic begins at random from its seed",
    ("plugin", "method.sms-emoa"): "write nsga2 or nsga3",
    ("plugin", "method.nsga2-optuna"): "write nsga2, or tpe for a method of Optuna",
    ("argument", "reproduce.by_synthesis"): _CORES_OF_OURS,
    ("argument", "reproduce.library"): _CORES_OF_OURS,
    ("value", "stages.model=published_table"): _PRINTED,
    ("value", "stages.model=published_law"): _PRINTED,
    ("argument", "reproduce.all"): "leave it out: every claim is printed",
    ("argument", "reproduce.out"): "redirect what is printed into a file, or write --json",
    ("argument", "figure.gallery"): "draw `all`; captions stand in `dse list figures --json`",
    ("argument", "figure.jobs"): "leave it out: one process draws",
    ("argument", "run.memory"): _MEMORY,
    ("argument", "run.rows"): "leave it out: front.csv has every row",
    ("argument", "answer.memory"): _MEMORY,
    ("argument", "flips.memory"): _MEMORY,
    ("argument", "flips.tolerance"): _TOLERANCE,
    ("argument", "map.memory"): _MEMORY,
    ("argument", "map.tolerance"): _TOLERANCE,
    ("argument", "map.resume"): "leave it out, and give the map more --time",
    ("argument", "decision_map.memory"): _MEMORY,
    ("argument", "decision_map.tolerance"): _TOLERANCE,
    ("argument", "decision_map.known"): "leave it out, and give the map more time",
    ("argument", "simulate.tolerance"): _TOLERANCE,
    ("argument", "report.memory"): "leave it out: search.memory of the study holds",
    ("argument", "report.tolerance"): "set it on the page, or as `tolerance` in the study",
    ("argument", "core.out"): _FOLDER,
    ("argument", "objective.out"): _FOLDER,
    ("argument", "method.out"): _FOLDER,
    ("argument", "core.force"): _DELETE,
    ("argument", "platform.force"): _DELETE,
    ("argument", "interface.force"): _DELETE,
    ("argument", "status.rows"): "leave it out: five are shown; --json has all",
    ("argument", "status.every"): "leave it out: --watch looks every two seconds",
}
"""By kind and name, the remedy.

A ``field`` is of a study: its dotted path without positions in lists and names of axes
(``evaluate.repeats``, ``axes.of``).  An ``argument`` is ``function.argument``, and the option of
the command of that name.  A ``command`` is the word after ``dse``, a ``plugin`` is ``kind.name``
(``method.sms-emoa``), a ``value`` is ``field=value``.
"""


def remedy(kind: Kind, name: str) -> str:
    """Return what to do instead of a name, or nothing where it was not removed.

    Examples
    --------
    >>> remedy("plugin", "method.sms-emoa")
    'write nsga2 or nsga3'
    """
    return REMOVED.get((kind, name), "")
