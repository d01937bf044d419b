"""What the parts for servers and agents have in common."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import commonprefix
from typing import Any

from callwright._callwright import Outcome, ReasoningDelta, Refusal, TextDelta, ToolSet, parse
from callwright._scanner import Scanner


class StreamedText:
    """The text of an answer that is streamed: what is certainly text goes on, and all from the first call on is held.

    Whether a call that is held is made or only shown is told at the end, when all of the text is there.
    """

    def __init__(self, tools: ToolSet, asked: str | None) -> None:
        self.tools = tools
        self.asked = asked
        self.written = ""
        self.text_sent = ""
        self.is_held = False
        # Without its native mode it takes a call in prose as one, and so holds it.
        self._scanner = Scanner(tools, asked=asked)

    def feed(self, text: str) -> list[TextDelta | ReasoningDelta]:
        """What can be shown now."""
        self.written += text
        return self._shown(self._scanner.feed(text))

    def finish(self, finish_reason: str | None) -> tuple[list[TextDelta | ReasoningDelta], Outcome]:
        """What can be shown before anything is decided, and what the whole text comes to."""
        shown = self._shown(self._scanner.finish(finish_reason))
        outcome = parse(
            self.written,
            self.tools,
            finish_reason=finish_reason,
            native_mode=self.asked is None,
            asked=self.asked,
        )
        return shown, outcome

    def rest(self, text: str) -> str:
        """What of the final `text` was not shown yet."""
        return text[len(commonprefix([text, self.text_sent])) :] if self.is_held else ""

    def _shown(self, events: Sequence[Any]) -> list[TextDelta | ReasoningDelta]:
        shown: list[TextDelta | ReasoningDelta] = []
        for event in events:
            if not isinstance(event, TextDelta | ReasoningDelta):
                self.is_held = True
            elif not self.is_held:
                shown.append(event)
                self.text_sent += event.text if isinstance(event, TextDelta) else ""
        return shown


def tool_set(tools: Sequence[Any] | None) -> ToolSet:
    """The tools of a request, which are dicts or models of pydantic."""
    return ToolSet([tool if isinstance(tool, dict) else tool.model_dump(exclude_none=True) for tool in tools or ()])


def confirmation(outcome: Outcome) -> str | None:
    """The question whether the model means the calls that stand in its prose; `None` where it is not to be asked."""
    if outcome.verdicts:
        return None
    names = [shown.name for shown in outcome.shown if shown.by == "unsure" and shown.name is not None]
    if not names:
        return None
    what = f"a call of the tool {names[0]}" if len(names) == 1 else f"{len(names)} calls ({', '.join(names)})"
    return (
        f"Your answer holds {what} in the middle of prose. Nothing was run. If that is meant, send it alone, "
        "with no words around it. If you only show it, say so, and make no call."
    )


def words(refusal: Refusal) -> str:
    """What a person reads in the place of a call."""
    name = f" of `{refusal.name}`" if refusal.name else ""
    if refusal.code in ("truncated", "open-end"):
        return f"[A tool call{name} was cut off before it was complete.]"
    return f"[A tool call{name} was refused: {refusal.message}.]"
