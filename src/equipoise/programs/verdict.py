"""The verdict: the findings about all arms, the leader, and the open comparisons."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from equipoise.answer import Interval
from equipoise.programs.findings import FAILED, PASSED, UNDECIDED, Finding, finding
from equipoise.programs.forecasting import MoreRounds
from equipoise.programs.question import Pair, Question


@dataclass(frozen=True)
class Verdict:
    """The verdict on all arms; print it for a few sentences.

    Attributes:
        question: The question of the comparison.
        findings: One finding for each pair of rivals.
        floor: The finding about the first arm and its repetition, if it was measured twice.
        rounds: The readings of every round, by arm.
        sessions: The verdict of each session, if this one covers several.

    Example:
        >>> from equipoise.programs import Contest
        >>> contest = Contest(["old", "new"], margin=0.01, rng=0)
        >>> while not contest.verdict().decided:
        ...     turn = contest.ask()
        ...     contest.tell(turn, {"old": 1.00, "new": 0.95}[turn.arm])
        >>> verdict = contest.verdict()
        >>> verdict.leader, verdict.between("new", "old").standing
        ('new', 'worse')
        >>> print(verdict)
        new is faster than old by 5.0 % [5.0, 5.0] (50 ms [50 ms, 50 ms] of 1 s) in this session, after 6 rounds.
    """

    question: Question
    findings: tuple[Finding, ...]
    floor: Finding | None = None
    rounds: tuple[Mapping[str, float], ...] = field(default=(), repr=False)
    sessions: tuple["Verdict", ...] = ()

    @property
    def beaten(self) -> set[str]:
        """Arms that are shown to be worse than another one."""
        worse = {found.second for found in self.findings if found.standing == "worse"}
        return worse | {found.first for found in self.findings if found.standing == "better"}

    @property
    def open(self) -> tuple[Finding, ...]:
        """The open findings that matter: comparisons among losers do not."""
        if self.question.fail_above is not None:
            return tuple(found for found in self.against_first if found.gate == UNDECIDED)
        beaten = self.beaten
        undecided = (found for found in self.findings if found.standing == "open")
        return tuple(found for found in undecided if not beaten & {found.first, found.second})

    @property
    def against_first(self) -> tuple[Finding, ...]:
        """The findings about the first arm and each other arm."""
        return tuple(found for found in self.findings if found.first == self.question.arms[0])

    @property
    def live(self) -> tuple[str, ...]:
        """The arms still in play, in the given order."""
        wanted = {arm for found in self.open for arm in (found.first, found.second)}
        if wanted and self.question.null is not None:
            wanted |= {self.question.arms[0], self.question.null}
        return tuple(arm for arm in self.question.arms if arm in wanted)

    @property
    def decided(self) -> bool:
        """True if no finding is open."""
        return not self.open

    @property
    def more(self) -> MoreRounds | None:
        """The number of further rounds until everything is decided; `None` if it cannot be forecast."""
        each = [found.more for found in self.open if found.more is not None]
        if not each or len(each) < len(self.open):
            return None
        return MoreRounds(*(max(getattr(more, name) for more in each) for name in ("low", "middle", "high")))

    @property
    def leader(self) -> str:
        """The arm that seems best among those that no arm is shown to beat."""
        arms = [arm for arm in self.question.rivals if arm not in self.beaten] or list(self.question.rivals)

        def behind(arm: str) -> float:
            others = (self.between(other, arm).interval.value for other in arms if other != arm)
            return self.question.sign * sum(others)

        return min(arms, key=behind)

    @property
    def gate(self) -> int:
        """`FAILED` if an arm is worse than the first one by more than the limit, `PASSED` if none is."""
        gates = {found.gate for found in self.against_first}
        return next((gate for gate in (FAILED, UNDECIDED) if gate in gates), PASSED)

    def between(self, first: str, second: str) -> Finding:
        """Return the finding about two arms, seen from the first."""
        for found in self.findings:
            if (found.first, found.second) == (first, second):
                return found
            if (found.first, found.second) == (second, first):
                return found.turned()
        raise ValueError(f"`first` and `second` must be two of the arms that compete, got {first!r} and {second!r}")

    def __str__(self) -> str:
        from equipoise.programs.phrases import told

        return told(self)


def judge(question: Question, known: Mapping[Pair, tuple[Interval, int]]) -> Verdict:
    """Return the verdict from the interval and the number of rounds for each pair."""
    findings = {pair: finding(question, pair, *known[pair]) for pair in question.pairs}
    floors = [findings.pop(pair) for pair in question.null_pair]
    return Verdict(question, tuple(findings.values()), floors[0] if floors else None)
