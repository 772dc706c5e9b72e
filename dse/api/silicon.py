"""Tables of cores from descriptions of hardware: ``dse.characterise("des", library=...)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dse.api.arguments import public, texts
from dse.files.assignments import Assignments, assignments

if TYPE_CHECKING:
    from dse.silicon.characterisation import Characterisation


@public
def characterise(
    description: str | Path | Sequence[str | Path],
    *,
    library: str | Path | Sequence[str | Path] = (),
    device: str | None = None,
    placements: int = 3,
    over: str | Sequence[str] = (),
    corners: Sequence[str | Path] = (),
    supply: str | Sequence[str] = (),
    clock: str | None = None,
    targets: str | Sequence[str] = (),
    out: str | Path | None = None,
    tasks: int = 200,
    seed: int = 1,
    top: str | None = None,
    clock_port: str = "clk",
    check: str | Path | None = None,
    figures: Assignments | None = None,
    warm_up: int | None = None,
    wire: str | None = None,
    joined_by: str | Path | None = None,
    mapping_tool: str | None = None,
    time_limit: str = "3600 s",
    cache: bool = True,
    cache_limit: str = "64 MB",
    jobs: int = 1,
    progress: Callable[[int, int, str], None] | None = None,
) -> Characterisation:
    """Map hardware to the cells of a library, and find its area, clock and power.

    >>> dse.characterise("des", library="sky130.lib.gz", over="unroll=1,2,4", out="des_sky130.csv")
    >>> dse.characterise("des", device="ice40:hx8k", over="unroll=1,2,4", out="des_ice40.csv")

    Each design is mapped, its timing analysed, random tasks are simulated at its clock with the
    delays of its gates, and no table is written unless every answer is right.  On a device it is
    placed and routed instead, for area and clock; its power is not known.

    Parameters
    ----------
    description
        The name of a generator, or files of Verilog.
    library
        Liberty files of one process at one corner.
    device
        In place of a library: a field-programmable gate array, for which nextpnr is installed.
    placements
        How often each design is placed on a device; its clock is the median.
    over
        Values of parameters, every combination of which is a design: ``unroll=1,2,4``;
        without, those that a generator ships.
    corners
        Libraries of the same cells at other supply voltages, one file each; the netlists mapped to
        `library` get a row for each voltage.
    supply
        Voltages (V) between those of the libraries, where rows are fitted: ``"1.3, 1.4"``.
    clock
        At which power is taken, and for which logic is mapped; without it the fastest of each.
    targets
        Clocks for which each design is mapped, a row each.
    out
        CSV to write, which `table` of a study and `dse.fit.core` read.
    tasks, seed
        Random tasks of a generator, at least.
    top, clock_port, check, figures, warm_up
        Of Verilog: the outermost module and its clock, the table of known answers, what one task
        is (``{"payload": "64 bit", "cycles_per_task": "16 / unroll"}``), cycles not counted.
    wire
        A wire load of the library; without it wires have no capacitance.
    joined_by
        A table of what joins a fleet, characterised in the same library; each row then has what
        one instance adds to it.
    mapping_tool
        ``pyosys`` or ``yosys``; by default the first that is installed.
    time_limit
        The longest that mapping a design may take.
    cache, cache_limit
        Keep results in this user's cache folder, and how much of them.
    jobs
        Most processes.

    Raises
    ------
    dse.errors.StudyError
        What is wrong with descriptions, library or answers, or the first answer that is wrong.
    dse.errors.MissingLibraryError
        There is no Yosys.
    """
    from dse.errors import StudyError
    from dse.files.folder import write_text
    from dse.silicon import requests
    from dse.silicon.characterisation import characterise_all
    from dse.silicon.characteriser import KeptResults, user_folder
    from dse.silicon.characterisers import of_device, of_library
    from dse.silicon.corners import at_supplies
    from dse.silicon.figures import Conditions
    from dse.silicon.network import read_network, with_network

    sources = [description] if isinstance(description, str | Path) else [*description]
    asked = requests.Asked(
        hardware=tuple(map(str, sources)),
        over=assignments(texts(over), "unroll=1,2,4"),
        top=top,
        clock_port=clock_port,
        check=None if check is None else str(check),
        figures=assignments(figures, "payload=64 bit"),
        warm_up=warm_up or 0,
        tasks=tasks,
        seed=seed,
    )
    clock_hz = requests.positive_quantity(clock, "clock_hz", "clock") if clock else 0.0
    targets_hz = [
        requests.positive_quantity(text, "clock_hz", "targets")
        for text in requests.between_commas(targets)
    ]
    limit_s = requests.positive_quantity(time_limit, "time_limit_s", "time_limit")
    conditions = Conditions(
        period_s=1.0 / clock_hz if clock_hz else 0.0,
        tool=mapping_tool,
        wire=wire,
        time_limit_s=limit_s,
    )
    most = requests.positive_quantity(cache_limit, "cache_limit_byte", "cache_limit")
    kept = KeptResults(user_folder() / "silicon", most) if cache else None
    wanted = asked.design_tasks()
    if joined_by is not None and corners:
        raise StudyError([requests.ONE_SUPPLY])
    files = [library] if isinstance(library, str | Path) else [*library]
    if out is not None:
        others = [*files, *corners, *([] if joined_by is None else [joined_by])]
        asked.check_output(Path(out), wanted, map(Path, others))
    network = None if joined_by is None else read_network(Path(joined_by))
    supplies_v = requests.supplies(supply, corners, clock)
    if device is None:
        characterisers = of_library(files, corners, conditions, kept)
    else:
        given = {"library": library, "corner": corners, "targets": targets_hz, "wire": wire}
        characterisers = of_device(device, placements, given, conditions, kept)
    tables = [
        characterise_all(
            asked.name,
            wanted,
            characteriser,
            jobs=jobs,
            targets_hz=targets_hz,
            remarks=[*requests.origin_of(asked, characterisers, targets_hz)],
            progress=progress,
        )
        for characteriser in characterisers
    ]
    found = at_supplies(tables, supplies_v) if corners else tables[0]
    if network is not None:
        found = with_network(found, network)
    if out is not None:
        write_text(Path(out), found.csv())
    return found
