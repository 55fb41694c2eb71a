"""What a study has learned from judges: what they said, the fits made on the way, and the belief they lead to.

As with readings (`learning.py`), the belief is made when it is asked for, at once up to the last fit that is known, and
live it is no different: after every fit the belief is what the judgements come to under what was kept of it. A
judgement is learned beside the readings that were known when it was given.
"""

from equipoise.belief import JudgedPosterior, Posterior
from equipoise.belief.judgements import Heard
from equipoise.likelihoods import Judge, Judgement
from equipoise.study.learning import Learning, calmly


class Listening:
    """The judgements of a study and the belief that they, beside its readings, lead to.

    Args:
        learning: What was learned from readings.
        prior: The belief before any lesson.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> prior = eq.belief.AnywherePosterior(eq.RBF(0.5))
        >>> listening = Listening(Learning(prior), prior)
        >>> listening.add(Judgement(np.array([1.0]), np.array([0.0]), "first"))
        >>> listening.belief.comparisons
        1
    """

    def __init__(self, learning: Learning, prior: Posterior) -> None:
        self._learning, self._prior = learning, prior
        self._said: list[Judgement] = []
        self._known: list[int] = []  # how many lessons had been learned when each was said
        self._heard: dict[int, Heard] = {}
        self._made: tuple[JudgedPosterior | None, int] = None, 0  # the belief after so many judgements

    @property
    def belief(self) -> Posterior:
        """The belief after all lessons and judgements."""
        judged, base = self._judged, self._learning.belief
        return base if judged is None else judged.resting_on(base)

    @property
    def judges(self) -> tuple[Judge, ...]:
        """What is known of each judge: nothing is computed where no fit is due since the last one that is known."""
        last, lessons = self._last, self._learning.lessons
        if last is not None and last.due > len(self._said) and self._known[last.answers - 1] == lessons:
            return last.judges
        belief = self.belief
        return belief.judges if isinstance(belief, JudgedPosterior) else ()

    def news(self) -> Heard | None:
        """Return the last fit of the belief, where it had to be made now."""
        before = self._last
        _ = self._judged
        return None if self._last is before else self._last

    def after(
        self, said: Judgement, heard: Heard | None = None, later: bool = False
    ) -> tuple[JudgedPosterior | None, Heard | None]:
        """Return the belief once a judgement is learned, and the fit made by it; nothing changes.

        Args:
            said: What was said.
            heard: The fit that was made with it, where that is known: it is refused where it cannot be.
            later: Whether it is to be learned when the belief is asked for: then it is not returned.
        """
        if heard is not None:
            self._must_be_of(heard, [*self._said, said])
        if later or heard is not None:
            return None, heard
        with calmly(self._prior):
            belief, heard = self._next(self._judged, said, self._learning.belief)
            if not self._said:
                _ = belief.exact  # refused now, where the prior cannot learn from judgements
        return belief, heard

    def add(self, said: Judgement, heard: Heard | None = None, belief: JudgedPosterior | None = None) -> None:
        """Take up a judgement.

        Args:
            said: What was said.
            heard: The fit that was made with it, where that is known.
            belief: What it leads to, where that is known.
        """
        self._said.append(said)
        self._known.append(self._learning.lessons)
        self.recall(heard)
        if belief is not None:
            self._made = belief, len(self._said)

    def recall(self, heard: Heard | None) -> None:
        """Take up a fit that was made before."""
        if heard is not None:
            self._heard[heard.answers] = heard

    def refit(self) -> None:
        """Make the belief anew: a fit of the readings was taken up that it did not rest on."""
        self._made = None, 0

    def must_have_led_to(self, heard: Heard) -> None:
        """Refuse a fit that cannot have been made with one of the judgements."""
        if not 1 <= heard.answers <= len(self._said):
            raise ValueError(f"its fit must be after answer 1 to {len(self._said)}, got {heard.answers}")
        self._must_be_of(heard, self._said[: heard.answers])

    def copied(self, learning: Learning) -> "Listening":
        """Return a copy that listens by itself, beside a copy of the learning."""
        new = Listening(learning, self._prior)
        new._said, new._known = list(self._said), list(self._known)
        new._heard, new._made = dict(self._heard), self._made
        return new

    @property
    def _last(self) -> Heard | None:
        return self._heard[max(self._heard)] if self._heard else None

    @property
    def _judged(self) -> JudgedPosterior | None:
        """The belief after all judgements, beside the readings that were known at the last of them."""
        judged, known = self._made
        count = len(self._said)
        if known < count:
            last = max((n for n in self._heard if known < n <= count), default=None)
            begin = known if last is None else last - 1
            with calmly(self._prior):
                bases = self._learning.through(self._known[begin:count])
                for n, base in enumerate(bases, begin + 1):
                    if n == last:
                        judged = self._at(self._heard[n], self._said[:n], base)
                    else:
                        judged, heard = self._next(judged, self._said[n - 1], base)
                        self.recall(heard)
            self._made = judged, count
        return judged

    def _next(
        self, judged: JudgedPosterior | None, said: Judgement, base: Posterior
    ) -> tuple[JudgedPosterior, Heard | None]:
        """Return the belief after one more judgement, and what is kept of it where it was fitted."""
        before = JudgedPosterior.over(base) if judged is None else judged.resting_on(base)
        after = before.judge(said)
        if not after.heard.marks(Heard() if judged is None else judged.heard):
            return after, None
        heard = after.heard.kept()
        return self._at(heard, after.judgements, base), heard

    def _at(self, heard: Heard, said: "list[Judgement] | tuple[Judgement, ...]", base: Posterior) -> JudgedPosterior:
        """Return the belief when a fit was just made."""
        return JudgedPosterior.over(base).recalled(said, heard)

    def _must_be_of(self, heard: Heard, said: list[Judgement]) -> None:
        if heard.answers != len(said):
            raise ValueError(f"its fit must be after answer {len(said)}, as the lines before say, got {heard.answers}")
        heard.must_be_of(said, self._prior.form)
