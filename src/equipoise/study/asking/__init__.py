"""The next question: a proposal, the gate that checks it, and the pairs that people judge."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.study.asking.gate import Checkpoint as Checkpoint
    from equipoise.study.asking.gate import handed as handed
    from equipoise.study.asking.matching import ask_pair as ask_pair
    from equipoise.study.asking.matching import awaiting as awaiting
    from equipoise.study.asking.matching import paired as paired
    from equipoise.study.asking.permitted import attainable as attainable
    from equipoise.study.asking.proposing import Proposer as Proposer
    from equipoise.study.asking.proposing import asked as asked
else:
    __getattr__ = lazily(__name__)
