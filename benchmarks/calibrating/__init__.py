"""Do claims hold? Simulated studies of families of functions, and the calibration of bounds that is fitted to them.

Example:
    >>> from calibrating import FAMILIES, study
    >>> [row["readings"] for row in study("bowl", "none", 3)][:3], len(FAMILIES) >= 12
    ([10, 20, 40], True)
"""

from calibrating.coverage_table import coverage_table as coverage_table
from calibrating.function_families import FAMILIES, Family
from calibrating.quantiles import audits as audits
from calibrating.quantiles import fitted as fitted
from calibrating.trial_studies import OFFSETS, collect, jobs, stored, study

__all__ = ["FAMILIES", "OFFSETS", "Family", "collect", "jobs", "stored", "study"]
