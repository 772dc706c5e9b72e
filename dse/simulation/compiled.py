"""Offloads one after the other (`dse.simulation.events`) as machine code, in the same order."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from dse.contract import Column
from dse.model.tape.kernel import machine_code
from dse.model.tape.operations import LONG, NUMBER, loop
from dse.simulation.pipeline import Kinds, Pipeline

POINTED = (LONG, *[NUMBER] * 6)
"""Kinds and arrivals (n); times of each kind; when each station is free and ready; starts, ends,
and when host cores are left (n)."""

CALLED = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3, *[ctypes.c_void_p] * len(POINTED))
NAME = "recursion"
OF_STATION = ("busy_s", "fill_s", "first_round", "last_round_s")


def passages(pipelines: Sequence[Pipeline], kind: Kinds, arrived_s: Column) -> tuple[Column, ...]:
    """Return when offloads start, when they end, and when they leave their host cores."""
    one, count = pipelines[0], len(arrived_s)
    _, function = _code(tuple(station.whole for station in one.stations), one.sync)
    times = np.array(
        [
            [p.overhead_s, p.latency_s, p.core_s]
            + [getattr(station, name) for station in p.stations for name in OF_STATION]
            for p in pipelines
        ]
    )
    limits = (int(min(limit, count)) for limit in (one.slots, one.cores))
    state = np.zeros(2 * len(one.stations))
    found = tuple(np.empty(count) for _ in range(3))
    given = (np.ascontiguousarray(kind, dtype=np.int64), np.ascontiguousarray(arrived_s))
    function(count, *limits, *(rows.ctypes.data for rows in (*given, times, state, *found)))
    return found


@cache
def _code(wholes: tuple[bool, ...], sync: bool) -> tuple[Any, Any]:
    """Return the function for stations some of which are whole, after what keeps it alive."""
    module = ir.Module(NAME)
    parameters = (LONG, LONG, LONG, *(one.as_pointer() for one in POINTED))
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), parameters), NAME)
    b = ir.IRBuilder(function.append_basic_block())
    loop(b, function.args[0], 1, lambda number: _one(b, function.args, number, wholes, sync))
    b.ret_void()
    return machine_code(str(module), NAME, CALLED)


def _one(b: Any, given: Sequence[Any], number: Any, wholes: tuple[bool, ...], sync: bool) -> None:
    """Write what one offload passes: as `dse.simulation.events`, with `passed` at each station."""
    _, slots, cores, kinds, arrived, times, state, started, ended, left = given

    def load(rows: Any, at: Any) -> Any:
        return b.load(b.gep(rows, [at]))

    def largest(one: Any, *others: Any) -> Any:
        for other in others:
            one = b.select(b.fcmp_ordered(">", other, one), other, one)
        return one

    def behind(start: Any, rows: Any, places: Any) -> Any:
        earlier = b.sub(number, places)
        there = b.icmp_signed(">=", earlier, LONG(0))
        waits = largest(start, load(rows, b.select(there, earlier, LONG(0))))
        return b.select(there, waits, start)

    row = b.mul(load(kinds, number), LONG(3 + len(OF_STATION) * len(wholes)))
    overhead, latency, core = (load(times, b.add(row, LONG(place))) for place in range(3))
    start = behind(behind(load(arrived, number), ended, slots), left, cores)
    first = last = b.fadd(b.fadd(start, overhead), latency)
    for place, whole in enumerate(wholes):
        at = 3 + len(OF_STATION) * place
        busy, fill, first_round, rounds = (
            load(times, b.add(row, LONG(at + field))) for field in range(len(OF_STATION))
        )
        free, ready = (b.gep(state, [LONG(2 * place + field)]) for field in range(2))
        comes = largest(last if whole else first, b.load(free))
        over = largest(b.fadd(comes, busy), last)
        there = b.fadd(first, b.fmul(b.fsub(last, first), first_round))
        begin = largest(comes, b.load(ready), there)
        final = largest(b.fadd(begin, rounds), last)
        b.store(over, free)
        b.store(b.fadd(begin, busy), ready)
        last = b.fadd(b.select(b.fcmp_ordered("<", over, final), over, final), fill)
        first = last if whole else b.fadd(comes, fill)
    leaves = last if sync else b.fadd(start, core)
    for rows, value in ((started, start), (ended, last), (left, leaves)):
        b.store(value, b.gep(rows, [number]))
