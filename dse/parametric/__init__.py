"""The exact answer as a function of a number: where it changes, how far it holds, what it takes.

One primitive, `breakpoints`, and what is made of it:

* along one number: `scale` has its values, `perturbed` designs at many of them, `rivals` which
  designs may win between two, `question` what the answer is, `breakpoints` how far it holds.
* questions to a feasible study: `flip_search` (`flips` says it), `sweep_search` over a range
  (`crossovers`), `decision_map` over two, `ranges` of good values; `plots` draws them.
* of an infeasible one: `repair` has the least change of a number, which `attempt` tries and says;
  `remedies` other changes too, `infeasible` the text and what bounds would have to be, `required`
  the error.

May import `dse.runs` and lower floors.
"""
