"""The traffic of a design: its pipelines, from fields of the study and columns of its stages."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dse.contract import ATTACHMENTS, SIZE, TRANSFERS, WAIT_MODES
from dse.errors import UnitError
from dse.model.mixed import TASKS_OFFLOADED, filled_share, whole_tasks
from dse.model.space import ALONE, Index
from dse.simulation.pipeline import Draw, Pipeline, Station, Traffic
from dse.study.study import Study

FRAME_BYTE = 2 + 2 + 4
"""Start symbols, sequence number, link check."""

ADDRESSED_BYTE, ANSWERING_BYTE = 16, 12
"""Header of a request with a 64-bit address, and of a completion with data."""

DESCRIPTOR_BYTE, WORD_BYTE = 16, 4


def wire_byte(columns: Mapping[str, float], size: float) -> tuple[float, float]:
    """Return the bytes to the device and to the host of an offload of so many bytes.

    The device reads the offload and, unless it is inline, writes a result of the same size.  A
    batch shares a doorbell, one fetch and one write-back of its descriptors, an interrupt, and the
    read of a head pointer.

    References
    ----------
    PCI Express base specification 5.0, for packets, and Neugebauer et al., SIGCOMM 2018,
    section 3, for a batch.
    """
    payload = columns["interface_max_payload_byte"]
    cut = min(payload, columns["interface_completion_byte"])

    def headers(byte: float, most: float, header: int) -> int:
        return math.ceil(byte / most) * (FRAME_BYTE + header)

    def requests(byte: float) -> float:
        return headers(byte, columns["interface_max_read_request_byte"], ADDRESSED_BYTE)

    def answered(byte: float) -> float:
        return headers(byte, cut, ANSWERING_BYTE) + byte

    def written(byte: float) -> float:
        return headers(byte, payload, ADDRESSED_BYTE) + byte

    batch, word = columns["interface_batch"], WORD_BYTE
    result = 0.0 if _inline(columns) else written(size)
    ring = DESCRIPTOR_BYTE * columns["interface_descriptors"] * batch
    to_device = written(word) + answered(ring) + requests(word)
    to_host = requests(ring) + written(ring) + written(word) + answered(word)
    return answered(size) + to_device / batch, requests(size) + result + to_host / batch


Columns = Mapping[str, float]
Stages = Mapping[str, list[float]]

STAGES = (
    "stage_capacity_bit_per_s",
    "stage_clocked",
    "stage_common",
    "stage_dynamic_energy_j_per_bit",
    "stage_latency_s",
    "stage_leakage_power_w",
    "stage_message_end_bit",
    "stage_payload_bit",
    "stage_read_byte_per_bit",
    "stage_round_bit",
    "stage_round_s",
    "stage_serial_tasks",
    "stage_written_byte_per_bit",
)
FILLED = "filled"
"""Key of the share of whole tasks that messages fill, among columns of stages."""

PACKETS, AGAIN = "interface_packet_byte_per_s", "interface_reread_ratio"
"""Keys of the rate of packets on PCI Express, and of the share of a record read again."""

RAREST = 1e-15
"""The least chance of a number of bytes read again that is simulated."""


_REFUSED = (
    ("sizes that stay on the host are", "leave workload.offload_above out"),
    ("a sum of overhead and latency is", "write overhead and latency in its place"),
    (
        "streams of dependent tasks that share pipelines are",
        "set workload.streams=1, or workload.chained=false",
    ),
    ("a power cap, under which clocks fall, is", "remove budget.power_cap"),
    ("clocks that meet the rate are", "write `clock: 1`, or another fraction, in the stages"),
    ("a whole accelerator, whose pipelines are unknown, is", "describe it by `stages`"),
)
"""What is refused, in the order of `_refuse`, and what to do instead."""


def traffic_of(prepared: Study, index: Index) -> Traffic:
    """Return the traffic of one design (1, d): its arrivals, and their path.

    Raises
    ------
    UnitError
        The study has no offloads, or something that is not simulated.
    """
    problem = prepared.problem
    columns = {name: float(column[0]) for name, column in problem.space.columns(index).items()}
    fleets = problem.stage_columns(problem.space.columns(index), STAGES)
    unknown = (np.zeros(1),) * len(problem.stages)  # of power and memory, as to the model
    stages = {name: [float(one[0]) for one in fleets.get(name, unknown)] for name in STAGES}
    _refuse(columns, stages)
    if (index < 0).any():
        raise UnitError(f"{ALONE} offloads nothing", "name a design with instances")
    for one in problem.quantities:
        if one.simulated == "packet_rate":
            columns[PACKETS] = float(problem.columns(index, [one.name])[one.name][0])
    size, parts = np.full(1, columns.get(SIZE, 1.0)), problem.stages[0].messages
    ends = zip(stages["stage_payload_bit"], stages["stage_message_end_bit"], strict=True)
    stages[FILLED] = [float(filled_share(parts, {SIZE: size}, *end)[0]) for end in ends]
    mix = prepared.mix
    sizes, shares = ((columns[SIZE],), (1.0,)) if mix is None else (mix.sizes, mix.shares)
    passed = [
        (_pipeline(columns | {SIZE: size, AGAIN: again}, stages), share * chance)
        for size, share in zip(sizes, shares, strict=True)
        for again, chance in _again(columns, size).items()
    ]
    pipelines, chances = zip(*passed, strict=True)
    return Traffic(
        pipelines=pipelines,
        shares=chances,
        demand_bit_per_s=columns.get("workload_rate_bit_per_s", float("inf")),
        cv2=columns.get("workload_arrival_cv2", 0.0),
        draw=_draw(columns | {SIZE: max(sizes)}, stages),
    )


def _pipeline(columns: Columns, stages: Stages) -> Pipeline:
    """Return the pipeline of offloads of one size, in which writes take half a PCIe round trip."""
    clock = columns["interface_host_clock_hz"]

    def seconds(name: str, per: str = "") -> float:
        cycles = columns.get(f"interface_{name}_cycles{per}", 0.0)
        return cycles / clock + columns.get(f"interface_{name}_s{per}", 0.0)

    overhead, mode = seconds("overhead"), WAIT_MODES[int(columns["interface_wait"])]
    # the doorbell is written, then a descriptor is read if there is one, then the payload
    across = 0.5 + min(columns.get("interface_descriptors", 0.0), 1.0) + 1.0
    return Pipeline(
        slots=columns["interface_in_flight"],
        cores=columns["interface_host_cores"],
        sync=mode == "sync",
        overhead_s=overhead,
        core_s=overhead + (2.0 * seconds("switch") if mode == "sync_os" else 0.0),
        latency_s=seconds("latency") + across * seconds("round_trip"),
        stations=_stations(columns, stages, seconds("latency", "_per_byte")),
        bits=8.0 * columns[SIZE],
    )


def _refuse(columns: Columns, stages: Stages) -> None:
    """Raise UnitError if there is no pipeline, or only the equations define its clocks."""
    if "interface_in_flight" not in columns or not any(stages.values()):
        rule = "what is simulated are offloads, and this study has none"
        raise UnitError(rule, "give it stages and an interface")
    sums = (columns.get(f"interface_overhead_plus_latency_{unit}") for unit in ("cycles", "s"))
    least, paced = min(stages["stage_capacity_bit_per_s"]), max(stages["stage_common"]) > 0
    refused = (
        columns.get(TASKS_OFFLOADED, 1.0) < 1,
        any(sums),
        max(stages["stage_serial_tasks"]) > 1,
        columns.get("budget_power_cap_w", math.inf) < math.inf,
        paced and "workload_rate_bit_per_s" in columns,
        math.isinf(least),
    )
    for (what, remedy), holds in zip(_REFUSED, refused, strict=True):
        if holds:
            raise UnitError(f"{what} not simulated", remedy)
    if least <= 0:
        raise UnitError("a stage of this design has no instances", "choose another design")


def _stations(columns: Columns, stages: Stages, byte_s: float) -> tuple[Station, ...]:
    """Return the stations behind the host: link, memory, every stage, link."""
    size = columns[SIZE]
    per_cycle = columns.get("interface_link_byte_per_cycle", float("inf"))
    cycled = per_cycle * columns["interface_host_clock_hz"]
    link_s = size / min(columns["interface_link_byte_per_s"], cycled)
    in_s = out_s = link_s
    if columns.get("interface_pcie", 0.0):
        in_s, out_s = (max(link_s, byte / columns[PACKETS]) for byte in wire_byte(columns, size))
    stored = columns["interface_transfer"] == TRANSFERS.index("store_and_forward")
    memory = columns.get("budget_memory_byte_per_s", float("inf"))
    found = [Station("latency per byte", byte_s * size, whole=True)] if byte_s else []
    found.append(Station("link in", in_s, whole=stored, again_s=columns[AGAIN] * in_s))
    found.append(Station("memory", 8.0 * size * _moved_byte(stages) / memory))
    found += _fleet(stages, 8.0 * size)
    if not _inline(columns):
        found.append(Station("link out", out_s, whole=stored))
        found.append(Station("last write", 0.0, columns.get("interface_round_trip_s", 0.0) / 2.0))
    return tuple(one for one in found if one.busy_s or one.fill_s)


def _inline(columns: Columns) -> bool:
    return columns.get("interface_attachment") == ATTACHMENTS.index("inline")


def _again(columns: Columns, size: float) -> Mapping[float, float]:
    """Return the chance of each share of a record that is read again: up to each
    segment that is sent again, independently of the others."""
    share = columns.get("interface_retransmit_share", 0.0) * _inline(columns)
    segment, chances, end = columns.get("interface_segment_byte", size), {0.0: 1.0}, 0.0
    while share and end < size:
        end = min(end + segment, size)
        for byte, chance in sorted(chances.items(), reverse=True):
            chances[byte] = (1.0 - share) * chance
            chances[byte + end] = chances.get(byte + end, 0.0) + share * chance
        chances = {byte: chance for byte, chance in chances.items() if chance > RAREST}
    return {byte / size: chance for byte, chance in chances.items()}


def _fleet(stages: Stages, bits: float) -> list[Station]:
    """Return the stages: each at its own clock, or all at the rate of the slowest."""
    found = []
    rates = _rates(stages)
    for number, rate in enumerate(rates):
        of = {name: stages[name][number] for name in (*STAGES, FILLED)}
        name = f"stage {number + 1}" if len(rates) > 1 else "fleet"
        round_bit, end, payload = (
            of[f"stage_{one}_bit"] for one in ("round", "message_end", "payload")
        )
        slower = of["stage_capacity_bit_per_s"] / rate
        before = max(float(whole_tasks(bits / 8.0, round_bit, end)) - 1.0, 0.0)
        busy = float(whole_tasks(bits / 8.0, payload, end)) * payload * of[FILLED] / rate
        first, last = (
            max(1.0 - before * round_bit / bits, 0.0),
            before * of["stage_round_s"] * slower,
        )
        filling = of["stage_latency_s"] * slower
        found.append(Station(name, busy, filling, first_round=first, last_round_s=last))
    return found


def _rates(stages: Stages) -> list[float]:
    """Return at which rate each stage streams while it is busy."""
    carried = stages["stage_capacity_bit_per_s"]
    slowest = min(carried)
    pairs = zip(carried, stages["stage_common"], strict=True)
    return [slowest if common else own for own, common in pairs]


def _moved_byte(stages: Stages) -> float:
    """Return bytes to and from memory for a bit of payload."""
    return stages["stage_read_byte_per_bit"][0] + stages["stage_written_byte_per_bit"][-1]


def _draw(columns: Columns, stages: Stages) -> Draw:
    """Return the draw of all parts: gated clocks switch with the payload, others all the time."""
    energy, clocked = stages["stage_dynamic_energy_j_per_bit"], stages["stage_clocked"]
    buffers = 2.0 * columns["interface_in_flight"] * 8.0 * columns[SIZE]  # input and output
    always = [
        *stages["stage_leakage_power_w"],
        *(e * c * rate for e, c, rate in zip(energy, clocked, _rates(stages), strict=True)),
        columns.get("interface_buffer_leakage_w_per_bit", 0.0) * buffers,
        columns.get("interface_idle_power_w", 0.0),
        columns.get("budget_constant_power_w", 0.0),
    ]
    of_bits = [
        *(e * (1.0 - c) for e, c in zip(energy, clocked, strict=True)),
        columns.get("budget_memory_j_per_byte", 0.0) * _moved_byte(stages),
        columns.get("interface_transfer_j_per_byte", 0.0) / 8.0,
        4.0 * columns.get("interface_buffer_j_per_bit", 0.0),  # in and out, written and read
    ]
    host = columns.get("interface_host_power_w", 0.0) / columns["interface_host_cores"]
    return Draw(sum(always), host, sum(of_bits))
