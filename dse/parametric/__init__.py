"""The exact answer as a function of a number: where it changes, how far it holds, what it takes.

One primitive, a breakpoint along `Assumption.at`, and what is made of it:

* along one number: `scale` has its values, `perturbed` designs at many of them, `rivals` and
  `screen` which designs may win between two, `tracked_answer` and `track` what the
  answer is, `breakpoints` how far it holds.
* questions to a feasible study: `flip_search` (`flips` says it), `sweep_search` over a
  `number_range` (`crossovers`), `decision_map` over two, `ranges` of good values;
  `plots` draws them.
* of an infeasible one: `budgets` tells what bounds would have to be, `loosen` and `repair` the
  least change of a number, `choices` other changes, which `attempt` tries and
  `change` says; `remedies` has all, `infeasible` the text, `required` the error.

May import `dse.runs` and lower floors.
"""
