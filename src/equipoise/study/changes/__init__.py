"""The changes of a state by each kind of event: a change is prepared first, then made.

All errors occur while it is prepared.
"""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.study.changes.edits import last_answered as last_answered
    from equipoise.study.changes.edits import undoing as undoing
    from equipoise.study.changes.plausibility import absurd as absurd
    from equipoise.study.changes.trials import Change as Change
    from equipoise.study.changes.trials import Preparation as Preparation
    from equipoise.study.changes.trials import prepared as prepared
else:
    __getattr__ = lazily(__name__)
