"""The exact answer as a function of a number: where it changes, how far it holds, what it takes.

One primitive, `breakpoints`, and what is made of it:

* along one number: `question` has designs at many of its values and what answers there,
  `breakpoints` which designs may win between two, and how far an answer holds.
* questions to a feasible study: `flips`, `crossovers` over one range, `decision_map` over two,
  `ranges` of good values; `plots` draws them.
* of an infeasible one: `repairs` has the least changes of a bound or field, tried, `infeasible` the
  error, its text and what bounds would have to be.

May import `dse.runs` and lower floors.
"""
