"""What is asked next: a proposal, the gate that lets it pass, and the pairs that people judge."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.study.asking.gate import Checkpoint as Checkpoint
    from equipoise.study.asking.gate import handed as handed
    from equipoise.study.asking.matching import matched as matched
    from equipoise.study.asking.proposing import Proposer as Proposer
else:
    __getattr__ = lazily(__name__)
