"""The lessons and the belief of each output besides the first objective, from the same questions.

Each output has its own noise, offset and model. The readings of a trial belong to the same pair, so that all
outputs teach the same differences. The first objective, or a reading without a name, is learned as in any study.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from equipoise.belief import Milestone
from equipoise.offsets import LAST_READING
from equipoise.study.lessons import Comparisons

if TYPE_CHECKING:
    from equipoise.belief import StudyBelief
    from equipoise.data import Comparison, Reading

Fits = Mapping[str, Milestone]
"""The last fit of the belief about each output that had one."""


def of_output(reading: Reading | None, name: str) -> Reading | None:
    """Return the reading of one output of a trial; `None` if there is none.

    Example:
        >>> import equipoise as eq
        >>> of_output(eq.data.Reading(3.1, values={"flux": 3.1, "loss": 0.4}), "loss").value
        0.4
    """
    if reading is None or name not in reading.values:
        return None
    beside = {
        key: value for key, value in reading.circumstances.covariates.items() if key != LAST_READING
    }  # the first one's
    told = replace(reading.circumstances, covariates=beside)
    return replace(reading, value=reading.values[name], error=0.0, answers=None, values={}, circumstances=told)


@dataclass(frozen=True, eq=False)
class Taught:
    """The lessons of an event about the further outputs, prepared but not added yet.

    Attributes:
        lessons: By output.
        beliefs: The belief about each output after its lessons; `None` if it is computed on demand.
        fits: The fits made by it.
    """

    lessons: Mapping[str, Sequence[Comparison]]
    beliefs: Mapping[str, StudyBelief | None]
    fits: Fits


class OutputLessons:
    """The lessons of each further output.

    Args:
        priors: The belief about each output before any lesson, by name.
    """

    def __init__(self, priors: Mapping[str, StudyBelief]) -> None:
        self._courses = {name: Comparisons(prior) for name, prior in priors.items()}

    @property
    def beliefs(self) -> dict[str, StudyBelief]:
        """The belief about each output, computed on demand."""
        return {name: course.belief for name, course in self._courses.items()}

    def after(self, lessons: Mapping[str, Sequence[Comparison]], fits: Fits, later: bool) -> Taught:
        """Return the results of more lessons without changing anything.

        Args:
            lessons: By output.
            fits: The fits that were made with them, if they are known; impossible fits are refused.
            later: Whether to learn the lessons on demand.
        """
        if unknown := sorted(set(fits) - set(self._courses)):
            raise ValueError(f"its fit must be of the outputs {', '.join(self._courses)}, got {', '.join(unknown)}")
        found = {name: self._courses[name].after(some, fits.get(name), later) for name, some in lessons.items()}
        made = {name: fit for name, (_, fit) in found.items() if fit is not None}
        return Taught(lessons, {name: belief for name, (belief, _) in found.items()}, made)

    def add(self, taught: Taught) -> None:
        """Add the results of `after`."""
        for name, lessons in taught.lessons.items():
            self._courses[name].add(lessons, taught.fits.get(name), taught.beliefs[name])

    def fitted(self, fits: Fits, later: bool) -> Fits:
        """Return the last fit of each belief, made now unless `later`; known ones are reused."""
        found = {}
        for name, course in self._courses.items():
            if name in fits:
                course.must_have_led_to(fits[name])
                course.recall(fits[name])
            elif not later:
                _ = course.belief
            if (fit := fits.get(name, None if later else course.last_known)) is not None:
                found[name] = fit
        return found

    def copied(self) -> Self:
        """Return an independent copy."""
        new = copy.copy(self)
        new._courses = {name: course.copied() for name, course in self._courses.items()}
        return new
