"""What a client says to a model whose answer is wrong, and what it raises where the model does not get it right."""

from __future__ import annotations

import json
from collections.abc import Sequence

from callwright._callwright import Outcome, Refusal, Shown
from callwright._refused import Refused

__all__ = ["NOT_RUN", "confirmation", "error_of", "is_wrong", "refused", "unreadable_arguments"]

NOT_RUN = "Not run: another call of the same message is wrong. Make all of them again."


def is_wrong(outcome: Outcome) -> bool:
    """Decides whether the model has to be asked again: a call is refused, or it may be made as well as shown."""
    return bool(outcome.refusals) or bool(_unsure(outcome))


def confirmation(outcome: Outcome) -> str | None:
    """What to ask about calls that may be made as well as shown; `None` where there are none."""
    names = [shown.name for shown in _unsure(outcome) if shown.name is not None]
    if not _unsure(outcome):
        return None
    what = f"a call of the tool {names[0]}" if len(names) == 1 else f"calls ({', '.join(names)})"
    return (
        f"Your answer holds {what} in the middle of prose. Nothing was run. If that is meant, send it alone, with no "
        "words around it. If you only show it, say so, and make no call"
    )


def error_of(outcome: Outcome) -> Refused:
    """The exception for the first thing that is wrong with an answer."""
    if not outcome.refusals:
        asked = confirmation(outcome) or ""
        return Refused("a call stands in the middle of prose: it may be made as well as shown", "unsure", asked)
    return refused(outcome.refusals[0])


def refused(refusal: Refusal) -> Refused:
    """The exception for a call that was refused."""
    return Refused(
        refusal.message,
        refusal.code,
        refusal.feedback,
        refusal.position,
        refusal.hints,
        refusal.fix,
        refusal.fix_is_certain,
        refusal.readings,
        refusal.violations,
    )


def unreadable_arguments(arguments: str) -> str:
    """What stands for broken arguments in a history, since many servers fail where it holds arguments that are not JSON."""
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except ValueError:
        pass
    return json.dumps({"unreadable_arguments": arguments}, ensure_ascii=False)


def _unsure(outcome: Outcome) -> Sequence[Shown]:
    return [shown for shown in outcome.shown if shown.by == "unsure"]
