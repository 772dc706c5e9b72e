"""The exact answer as a function of a number: its breakpoints, ranges, and remedies.

The one idea is `breakpoints`: how far an answer holds along a number, and the answer beyond.

* along one number: `perturbed` evaluates designs at many of its values, `question` picks the
  answer there, `breakpoints` follows an answer to the next value at which it changes.
* of a feasible study: `flips` from the nominal value of each assumption, `decision_map` over the
  ranges of one number or two, `ranges` of good choices.  `plots` draws them.
* of an infeasible study: `infeasible` has the least changes, tried, and the error.

May import `dse.runs` and lower floors.
"""
