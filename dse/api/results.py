"""What public functions return where they add to what the packages below give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dse.answers.answer import Recommendation

if TYPE_CHECKING:
    from dse.uncertainty.certainty import Certainty


@dataclass(frozen=True, repr=False, kw_only=True)
class Answer(Recommendation):
    """The answer of a study; as text it is what `dse answer` prints.

    Attributes
    ----------
    certainty
        How sure it is, when samples were drawn.
    """

    certainty: Certainty | None = None
