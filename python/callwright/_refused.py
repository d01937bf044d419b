"""The exception for a text that is not read, because there is not exactly one way to."""

from callwright._callwright import Partial, Position, Violation


class Refused(ValueError):
    """A text was not healed: it has no reading, or more than one.

    `code` is for programs: `unreadable`, `truncated`, `ambiguous`, `invalid`, or `number` where Python has no such number.
    `message` is for people, and `feedback` is what to tell the model. `position` is the suspect place, `hints` what to do
    about it, `fix` the text repaired where there is a way, and `fix_is_certain` whether it is the only one. `readings` are
    those of an ambiguous text as strict JSON, `violations` what does not fit the schema. `partial` is what was certain of
    the text while it was written, where that is a text that was read.

    >>> import callwright
    >>> try:
    ...     callwright.loads('{"days": "many"}', {"properties": {"days": {"type": "integer"}}})
    ... except callwright.Refused as refused:
    ...     print(refused.code, refused.violations[0].pointer, refused.message)
    invalid /days days must be an integer
    """

    partial: Partial | None = None

    def __init__(
        self,
        message: str,
        code: str,
        feedback: str,
        position: Position | None = None,
        hints: tuple[str, ...] = (),
        fix: str | None = None,
        fix_is_certain: bool = False,
        readings: tuple[str, ...] = (),
        violations: tuple[Violation, ...] = (),
    ) -> None:
        # All of them are `args`, with which an exception goes to another process.
        super().__init__(message, code, feedback, position, hints, fix, fix_is_certain, readings, violations)
        self.message = message
        self.code = code
        self.feedback = feedback
        self.position = position
        self.hints = hints
        self.fix = fix
        self.fix_is_certain = fix_is_certain
        self.readings = readings
        self.violations = violations

    def __str__(self) -> str:
        at = self.position
        if at is None:
            return self.message
        return f"{self.message}: line {at.line} column {at.column} (char {at.offset})"


# Where its users import it from, which a traceback says.
Refused.__module__ = "callwright"
