"""The parts of measuring that other packages use, found by text."""

from dse.measure.evaluate import measured_quantities, measuring_lines, with_axes
from dse.measure.measuring import let_measure
from dse.measure.run_store import carry, kept_run, rows_in, stored_run
from dse.study.measuring import Measuring

WING = Measuring(
    quantities=measured_quantities,
    pool_axes=with_axes,
    lines=measuring_lines,
    measures=let_measure,
    keeps=kept_run,
    carry=carry,
    rows=rows_in,
    stored=stored_run,
)
