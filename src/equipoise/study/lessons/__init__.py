"""The lessons of a study: what its answers teach, the fits made on the way, and the belief they lead to.

The belief is computed on demand. All lessons up to the last known fit are learned at once under that fit; later lessons
are learned one by one. A live study does the same: after every fit it learns all lessons again at once. The log keeps
the fits. So a study that is resumed equals the original to the last bit and fits nothing again; if you only look at its
trials, nothing is computed.

A fit that is due may be deferred: the lesson is learned under the earlier fit, and the new fit is used later, as if it
had been made after its own lesson. The log has both.

Readings and duels teach comparisons. A judgement is learned with the readings that were known when it was given.
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
