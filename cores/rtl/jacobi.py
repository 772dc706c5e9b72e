"""Jacobi stencil cores in Verilog: n * n stencils on an array of shift registers.

The array has (n + 2) * (n + 2) cells and takes n columns in each clock cycle.  One cycle later the
n * n results are in registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dse.contract.generators import Choice, Design, Vectors, bits_of, generator
from dse.cores.rtl.verilog import concatenation, cut

WEIGHTS = ((1, 2, 1), (2, 4, 2), (1, 2, 1))
"""Weights of the nine cells, with the sum 16."""

_HALO = 2
_SIDE = Choice(
    name="side", description="Stencils along one edge of the square array, n", values=(1, 2, 3, 4)
)
_CELL = Choice(
    name="cell_bit",
    description="Width of a cell, an unsigned whole number; the paper does not give it",
    values=(16, 8, 32),
)


def smooth(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the mean of each inner cell's neighbourhood, rounded down: exact to the bit.

    ``(sum over the nine cells of weight * cell) // 16`` with weights 1 2 1, 2 4 2, 1 2 1 (figure
    10: the average of the Gaussian neighbourhood), of whole numbers from 0.
    """
    rows, columns = (size - _HALO for size in cells.shape)
    total = sum(
        weight * cells[row : row + rows, column : column + columns]
        for row, weights in enumerate(WEIGHTS)
        for column, weight in enumerate(weights)
    )
    return np.asarray(total // 16)


def smoothed_stripe(design: Design, *, seed: int, tasks: int) -> Vectors:
    """Return a stripe of n + 2 rows of random cells, n columns per cycle, and its inner cells."""
    side, width = int(design.parameters["side"]), int(design.parameters["cell_bit"])
    filling = -(-_HALO // side)  # cycles before the first with a whole neighbourhood
    cycles = filling + -(-tasks // side**2) + 2
    random = np.random.default_rng(seed)
    cells = random.integers(0, 2**width, (side + _HALO, cycles * side), dtype=np.int64)
    smoothed = smooth(cells)
    # columns that arrive in cycle c are in the array after it, and smoothed after the next
    first = filling + 2
    last_columns = (np.arange(first, cycles) - 1) * side - _HALO
    chosen = last_columns[:, None] - side + np.arange(side)
    answer = np.zeros((cycles, side * side * width), dtype=bool)
    by_cycle = smoothed[:, chosen].transpose(1, 0, 2).reshape(cycles - first, side * side)
    answer[first:] = bits_of(by_cycle, width).reshape(cycles - first, -1)
    entering = cells.reshape(side + _HALO, cycles, side).transpose(1, 0, 2)
    return Vectors(
        stimulus={"entering": bits_of(entering, width).reshape(cycles, -1)},
        expected={"answer": answer},
        known={"answer": np.arange(cycles) >= first},
        warm_up=first,
        tasks=(cycles - first) * side**2,
    )


@generator(
    answers=smoothed_stripe,
    parameters=(_SIDE, _CELL),
    designs=tuple({"side": side} for side in _SIDE.values),
    description="Jacobi stencil: 1 to 16 cells per cycle from one array of shift registers",
    source="Battle & Hempstead, section VI-A and figure 10",
)
def jacobi(*, side: int, cell_bit: int) -> Design:
    """Return an engine with `side` * `side` stencils.

    In each cycle n columns of n + 2 cells enter and n * n results leave.  A cell is an unsigned
    whole number of `cell_bit` bits.  Sums are exact, and the division by 16 rounds down.

    Assumed: the paper gives neither the weights (we take the binomial kernel, sigma = 0.85 cells)
    nor the width, nor the number of columns per cycle for n > 1: n must, for n * n results.
    """
    columns = -(-_HALO // side) + 1
    return Design(
        name=f"n{side}",
        parameters={"side": side, "cell_bit": cell_bit},
        verilog="\n".join(_text(side, cell_bit)) + "\n",
        top="jacobi",
        clock="clock",
        payload_bit=float(cell_bit),
        cycles_per_task=1.0 / side**2,
        latency_cycles=columns + 1,
        tasks_in_flight=float(side**2),
        read_byte=(side + _HALO) / side * cell_bit / 8.0,
        written_byte=cell_bit / 8.0,
    )


def _text(side: int, width: int) -> Iterator[str]:
    edge = side + _HALO
    yield "// The mean of a cell and its eight neighbours, with weights 1 2 1, 2 4 2, 1 2 1."
    yield "module stencil ("
    names = [f"cell_{row}_{column}" for row in range(3) for column in range(3)]
    yield f"  input [{width - 1}:0] {', '.join(names)},"
    yield f"  output [{width - 1}:0] mean"
    yield ");"
    yield f"  wire [{width + 3}:0] sum ="
    terms = [
        f"{{{4 - shift}'d0, cell_{row}_{column}" + (f", {shift}'d0}}" if shift else "}")
        for row in range(3)
        for column in range(3)
        for shift in [WEIGHTS[row][column].bit_length() - 1]
    ]
    yield "    " + "\n    + ".join(terms) + ";"
    yield f"  assign mean = sum[{width + 3}:4];"
    yield "endmodule"
    yield f"\n// {side} * {side} stencils; {side} columns of {edge} cells enter in each cycle."
    yield "// Ports: row by row, the first cell in the lowest bits."
    yield "module jacobi ("
    yield f"  input clock, input [{edge * side * width - 1}:0] entering,"
    yield f"  output reg [{side * side * width - 1}:0] answer"
    yield ");"
    for row in range(edge):
        cells = ", ".join(f"cell_{row}_{column}" for column in range(edge))
        yield f"  reg [{width - 1}:0] {cells};"
    yield "  always @(posedge clock) begin"
    for row, column in product(range(edge), repeat=2):
        yield f"    cell_{row}_{column} <= {_source(row, column, side, width)};"
    yield "  end"
    for row, column in product(range(side), repeat=2):
        near = [f"cell_{row + down}_{right + column}" for down in range(3) for right in range(3)]
        yield f"  wire [{width - 1}:0] mean_{row}_{column};"
        yield f"  stencil stencil_{row}_{column} ({', '.join(near)}, mean_{row}_{column});"
    means = [f"mean_{row}_{column}" for row in range(side) for column in range(side)]
    yield f"  always @(posedge clock) answer <= {concatenation(means[::-1])};"
    yield "endmodule"


def _source(row: int, column: int, side: int, width: int) -> str:
    """Return the next value of a cell of the array: the cell n columns further, or an input."""
    if column < _HALO:
        return f"cell_{row}_{column + side}"
    return cut("entering", row * side + column - _HALO, width)
