"""What is done to the box while it runs, and when."""

import re
from dataclasses import dataclass

from refused import WRONG_REQUEST, Refused


def pattern(text: str) -> re.Pattern:
    """What is looked for in a line."""
    try:
        return re.compile(text)
    except re.error as error:
        raise Refused(f"pattern {text}: must be a regular expression ({error})", WRONG_REQUEST) from error


@dataclass(frozen=True)
class When:
    """A moment: seconds since the start, seconds since the step before, or a line of the log."""

    at: float | None = None
    after: float | None = None
    pattern: re.Pattern | None = None

    @classmethod
    def read(cls, text: str) -> "When":
        if re.fullmatch(r"\+\d+(\.\d+)?", text):
            return cls(after=float(text))
        if re.fullmatch(r"\d+(\.\d+)?", text):
            return cls(at=float(text))
        return cls(pattern=pattern(text))

    def due(self, since_last: float) -> float | None:
        """Seconds since the start; none for a line of the log."""
        return since_last + self.after if self.after is not None else self.at


@dataclass(frozen=True)
class Step:
    """One act."""

    act: str
    when: When
    words: list[str]


class Script:
    """The steps that are still to be done, the first of them first."""

    def __init__(self, steps: list[Step]):
        self.steps = list(steps)
        self.last = 0.0

    def over(self) -> bool:
        return not self.steps

    def due(self) -> float | None:
        """When the next step is to be done by the clock; none if a line or nothing is waited for."""
        return self.steps[0].when.due(self.last) if self.steps else None

    def by_time(self, now: float) -> Step | None:
        due = self.due()
        return self.take(now) if due is not None and due <= now else None

    def by_line(self, now: float, line: str) -> Step | None:
        pattern = self.steps[0].when.pattern if self.steps else None
        return self.take(now) if pattern and pattern.search(line) else None

    def take(self, now: float) -> Step:
        self.last = now
        return self.steps.pop(0)
