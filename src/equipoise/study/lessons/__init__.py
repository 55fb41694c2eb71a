"""The lessons of a study: what its answers teach, the fits made on the way, and the belief they lead to.

The belief is made when it is asked for. Up to the last fit that is known it is made at once, under what was fitted
then; later lessons are learned one by one. Live it is no different: after every fit the belief is what learning all at
once under that fit comes to. So a study that is resumed from a log, which keeps the fits, is the one that was left, to
the last bit, and fits nothing again; if only its trials are looked at, nothing is computed at all.

A fit that is due may be deferred: the lesson is learned under the fit before, and the fit is taken up later, as if it
had been made after its own lesson. The log tells of both.

Readings and duels teach comparisons. A judgement is learned beside the readings that were known when it was given.
"""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.study.lessons.comparisons import Comparisons, calmly, overdue
    from equipoise.study.lessons.judged import Judgements
    from equipoise.study.lessons.of_study import Lessons, Overdue
else:
    __getattr__ = lazily(__name__)

__all__ = ["Comparisons", "Judgements", "Lessons", "Overdue", "calmly", "overdue"]
