"""The conformance suite, for authors of custom parts.

Each check tests a part against the rules for its kind, and raises an AssertionError that names the part, the rule and
the finding. `without` skips rules by name. The suite needs only NumPy: call it from any test runner, or from none.

Examples:
    >>> import equipoise as eq
    >>> eq.testing.check_offset(eq.Tracked())
    >>> eq.testing.check_reduction(eq.Direct())
    >>> eq.testing.check_policy(eq.BOSE())
    Traceback (most recent call last):
    AssertionError: BOSE(delta=0.05) breaks `ignores_the_unit`: The same belief in another unit, ... Found: ...
    >>> eq.testing.check_policy(eq.BOSE(), without=["ignores_the_unit"])  # meant for noise of scale one
"""

from equipoise.testing.bias_rules import check_bias
from equipoise.testing.forecaster_rules import check_forecaster
from equipoise.testing.function_rules import check_function
from equipoise.testing.kernel_rules import check_kernel
from equipoise.testing.likelihood_rules import check_likelihood
from equipoise.testing.offset_rules import check_offset
from equipoise.testing.policy_rules import check_policy
from equipoise.testing.reduction_rules import check_reduction
from equipoise.testing.space_rules import check_space

__all__ = [
    "check_bias",
    "check_forecaster",
    "check_function",
    "check_kernel",
    "check_likelihood",
    "check_offset",
    "check_policy",
    "check_reduction",
    "check_space",
]
