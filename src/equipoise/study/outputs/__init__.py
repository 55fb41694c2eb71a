"""Several numbers for each trial: objectives, limits, the belief about each, and the settings that may be proposed."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.study.outputs.choosing import TOLERANCE as TOLERANCE
    from equipoise.study.outputs.choosing import compromised as compromised
    from equipoise.study.outputs.choosing import front as front
    from equipoise.study.outputs.choosing import wanted as wanted
    from equipoise.study.outputs.company import mirrored as mirrored
    from equipoise.study.outputs.company import teaching as teaching
    from equipoise.study.outputs.company import two_rivals as two_rivals
    from equipoise.study.outputs.grammar import RESERVED as RESERVED
    from equipoise.study.outputs.grammar import Limit as Limit
    from equipoise.study.outputs.grammar import Objective as Objective
    from equipoise.study.outputs.grammar import Outputs as Outputs
    from equipoise.study.outputs.grammar import limited as limited
    from equipoise.study.outputs.grammar import must_be_learned as must_be_learned
    from equipoise.study.outputs.grammar import objectives as objectives
    from equipoise.study.outputs.grammar import outputs_of as outputs_of
    from equipoise.study.outputs.holding import Named as Named
    from equipoise.study.outputs.holding import Slack as Slack
    from equipoise.study.outputs.holding import believed as believed
    from equipoise.study.outputs.holding import named_in as named_in
    from equipoise.study.outputs.steering import likely as likely
    from equipoise.study.outputs.steering import proposed as proposed
    from equipoise.study.outputs.steering import within_limits as within_limits
    from equipoise.study.outputs.taught import OutputLessons as OutputLessons
    from equipoise.study.outputs.taught import Taught as Taught
    from equipoise.study.outputs.taught import of_output as of_output
else:
    __getattr__ = lazily(__name__)
