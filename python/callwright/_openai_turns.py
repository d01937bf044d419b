"""The turns of a client of chat completions: what is asked, and what comes out of the answers.

In go a request and the answers to it, whole or in chunks; out come the next request, and what the caller gets. Nothing
here speaks to a server.
"""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessage

from callwright import _sources
from callwright._callwright import Call, Outcome, ReasoningDelta, Refusal, TextDelta, ToolSet, parse
from callwright._followup import NOT_RUN, confirmation, error_of, is_wrong, unreadable_arguments
from callwright._refused import Refused
from callwright._response_model import ResponseModel
from callwright._scanner import Event, Scanner

if TYPE_CHECKING:
    from openai.types.chat.chat_completion import Choice
    from openai.types.chat.chat_completion_chunk import Choice as ChunkChoice

__all__ = ["StructuredStream", "ToolStream", "request_for", "structured", "whole", "with_tools"]


def whole(
    request: dict[str, Any], tools: ToolSet, max_corrections: int
) -> Generator[dict[str, Any], Any, Any]:
    """Yields the requests of one turn, takes their completions, and returns the one for the caller."""
    completion = yield request
    if not isinstance(completion, ChatCompletion):
        return completion
    is_alone = len(completion.choices or ()) == 1
    for place, choice in enumerate(completion.choices or ()):
        attempt = request
        left = max_corrections
        while is_wrong((answer := _read(choice, tools)).outcome):
            attempt = answer.followup(attempt, left)
            left -= 1
            again = yield attempt if is_alone else {**attempt, "n": 1}
            if not isinstance(again, ChatCompletion) or not again.choices:
                return again
            choice = again.choices[0]
            if is_alone:
                completion = again
            else:
                choice.index = place
                completion.choices[place] = choice
        _repair(choice, answer.outcome)
    return completion


class ToolStream:
    """The chunks of one turn with tools: text goes out as it is certain, calls where an answer is right."""

    def __init__(self, request: dict[str, Any], tools: ToolSet, max_corrections: int) -> None:
        self.request = request
        self.tools = tools
        self.max_corrections = max_corrections
        # By the index that the server gives.
        self.choices: dict[int, _StreamedChoice] = {}
        self.wrong: list[_StreamedChoice] = []
        self.last: ChatCompletionChunk | None = None

    def feed(self, chunk: Any) -> list[Any]:
        if not isinstance(chunk, ChatCompletionChunk) or not chunk.choices:
            return [chunk]
        self.last = chunk
        ends: list[ChunkChoice] = []
        for choice in chunk.choices:
            if choice.index not in self.choices:
                self.choices[choice.index] = _StreamedChoice(self, choice.index, self.request, self.max_corrections)
            ends += self.choices[choice.index].take(choice)
        if not ends:
            return [chunk]
        last = chunk.model_copy(update={"choices": ends})
        # A server that counts in each chunk is counted once.
        chunk.usage = None
        return [chunk, last]

    def end(self) -> tuple[list[Any], dict[str, Any] | None]:
        """What is left to send, and the request where the model is asked again."""
        rest: list[Any] = []
        for choice in self.choices.values():
            if not choice.has_ended and self.last is not None:
                cut = self.last.choices[0].model_copy(update={"index": choice.index, "finish_reason": None})
                cut.delta = type(cut.delta)()
                ends = choice.close(cut, None)
                rest += [self.last.model_copy(update={"choices": some}) for some in ([cut], ends) if some]
        self.choices = {}
        if not self.wrong:
            return rest, None
        choice = self.wrong.pop(0)
        choice.ask_again()
        self.choices = {0: choice}
        several = {"n": 1} if "n" in choice.request else {}
        return rest, {**choice.request, **several}


def structured(
    request: dict[str, Any], wanted: ResponseModel, left: int
) -> Generator[dict[str, Any], Any, tuple[Any, ChatCompletion]]:
    """Yields the requests, takes their completions, and returns the instance and the completion it was read from."""
    while True:
        completion = yield request
        if not isinstance(completion, ChatCompletion) or not completion.choices:
            raise TypeError(f"response_model needs a completion, not an object of type `{type(completion).__name__}`")
        choice = completion.choices[0]
        _raise_declined(choice.message.refusal)
        try:
            return wanted.read(choice.message.content or "", choice.finish_reason), completion
        except Refused as refused:
            if left == 0:
                raise
            request = _told(request, _echoed(choice.message), refused)
        left -= 1


class StructuredStream:
    """The values of one turn: the value so far behind each piece, and the instance where the answer is right."""

    def __init__(self, request: dict[str, Any], wanted: ResponseModel, left: int) -> None:
        self.request = request
        self.wanted = wanted
        self.left = left
        self.begin()

    def begin(self) -> None:
        self.content = ""
        self.declined = ""
        self.finish_reason: str | None = None
        self.value: Any = None

    def feed(self, chunk: Any) -> list[Any]:
        if not isinstance(chunk, ChatCompletionChunk) or not chunk.choices:
            return []
        (choice, *_) = chunk.choices
        self.finish_reason = choice.finish_reason or self.finish_reason
        self.declined += choice.delta.refusal or ""
        if not choice.delta.content:
            return []
        self.content += choice.delta.content
        before, self.value = self.value, self.wanted.so_far(self.content)
        return [] if self.value is None or self.value == before else [self.value]

    def end(self) -> tuple[list[Any], dict[str, Any] | None]:
        _raise_declined(self.declined)
        try:
            return [self.wanted.read(self.content, self.finish_reason or "length")], None
        except Refused as refused:
            if self.left == 0:
                raise
            self.request = _told(self.request, {"role": "assistant", "content": self.content}, refused)
        self.left -= 1
        self.begin()
        return [], self.request


def with_tools(request: dict[str, Any]) -> tuple[ToolSet | None, dict[str, Any]]:
    """The tools that are ours to read, with the request in which each is JSON; `None` where there are none."""
    tools = request.get("tools")
    if not tools:
        return None, request
    declared = _sources.definition(tools, tool=True)
    declared = declared if isinstance(declared, list) else [declared]
    request = {**request, "tools": declared}
    tool_set = ToolSet(declared)
    if not len(tool_set) or request.get("tool_choice") == "none":
        return None, request
    return tool_set, {**request, "messages": list(request.get("messages", ()))}


def request_for(
    response_model: Any, request: dict[str, Any], streams: bool = True
) -> tuple[ResponseModel, dict[str, Any]]:
    if request.get("tools"):
        raise TypeError("response_model and tools are two requests: an answer is either a value or calls")
    if request.get("n") not in (None, 1) and request["n"]:
        raise ValueError("response_model reads one choice: leave `n` out")
    if request.get("stream") and not streams:
        raise ValueError("create_with_completion does not stream")
    wanted = ResponseModel(response_model)
    request = {**request, "messages": list(request.get("messages", ()))}
    if not request.get("response_format"):
        schema = {"name": wanted.name, "schema": wanted.sent, "strict": wanted.is_strict}
        request["response_format"] = {"type": "json_schema", "json_schema": schema}
    return wanted, request


class _Answer:
    """One message of the model, and what it came to."""

    def __init__(self, message: dict[str, Any], outcome: Outcome) -> None:
        self.message = message
        self.outcome = outcome

    def followup(self, request: dict[str, Any], left: int) -> dict[str, Any]:
        """The request with what is wrong; raises `Refused` where nothing is left."""
        if left == 0:
            raise error_of(self.outcome)
        message = copy.deepcopy(self.message)
        refused = {verdict.id: verdict for verdict in self.outcome.verdicts if isinstance(verdict, Refusal)}
        told: list[dict[str, Any]] = []
        # Each id wants an answer; a call beside a refused one is not run yet.
        for number, call in enumerate(message.get("tool_calls", ())):
            call["id"] = call.get("id") or _new_id()
            if "function" in call:
                call["function"]["arguments"] = unreadable_arguments(call["function"].get("arguments") or "{}")
            verdict = refused.pop(str(number), None)
            content = NOT_RUN if verdict is None else verdict.feedback
            told.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        words = [refusal.feedback for refusal in self.outcome.refusals if refusal.id in refused]
        asked = confirmation(self.outcome)
        if asked is not None:
            words.append(asked)
        if words:
            told.append({"role": "user", "content": "\n\n".join(words)})
        return {**request, "messages": [*request["messages"], message, *told]}


def _read(choice: Choice, tools: ToolSet) -> _Answer:
    message = choice.message
    native = [
        {"id": str(number), "name": call.function.name, "arguments": call.function.arguments or "{}"}
        for number, call in enumerate(message.tool_calls or ())
        # Calls of custom tools hold text, which is not ours to read.
        if call.type != "custom"
    ]
    outcome = parse(message.content or "", tools, native=native, finish_reason=choice.finish_reason)
    return _Answer(_echoed(message), outcome)


def _repair(choice: Choice, outcome: Outcome) -> None:
    message: Any = choice.message
    native: dict[str, list[Call]] = {}
    in_text: list[Call] = []
    for call in outcome.calls:
        # Their ids are their places; those in the text have none.
        (in_text if call.id is None else native.setdefault(call.id, [])).append(call)
    made: list[Any] = []
    for number, theirs in enumerate(message.tool_calls or ()):
        for place, call in enumerate(native.get(str(number), ())):
            function = theirs.function.model_copy(update={"name": call.name, "arguments": call.arguments_json})
            update: dict[str, Any] = {"function": function}
            if place or not theirs.id:
                update["id"] = _new_id()
            made.append(theirs.model_copy(update=update))
        if getattr(theirs, "function", None) is None:
            made.append(theirs)
    if in_text:
        written = ChatCompletionMessage.model_validate(
            {"role": "assistant", "tool_calls": [_call(call, _new_id()) for call in in_text]}
        )
        made += written.tool_calls or []
        message.content = outcome.text or None
        if outcome.reasoning and not getattr(message, "reasoning_content", None):
            message.reasoning_content = outcome.reasoning
    if message.tool_calls or made:
        message.tool_calls = made or None
    if in_text and choice.finish_reason == "stop":
        choice.finish_reason = "tool_calls"


class _StreamedChoice:
    """One choice of a stream, over all of its answers."""

    def __init__(self, turn: ToolStream, index: int, request: dict[str, Any], left: int) -> None:
        self.turn = turn
        self.index = index
        self.request = request
        self.left = left
        self.text_sent = ""
        self.is_first = True
        self.begin()

    def begin(self) -> None:
        self.scanner = Scanner(self.turn.tools, native_mode=True)
        self.has_ended = False
        self.content = ""
        # Members that the package does not know, such as a server's reasoning: some servers want them back.
        self.others: dict[str, Any] = {}
        # As the message would have them, in the order in which they began.
        self.tool_calls: list[dict[str, Any]] = []
        self.places: dict[Any, int] = {}
        # Behind what was said, an answer that makes the calls again says nothing new: its text waits for its end.
        self.holds_text = not self.is_first and bool(self.text_sent)
        self.text_held = ""

    def ask_again(self) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": self.content, **self.others}
        if self.tool_calls:
            message["tool_calls"] = self.tool_calls
        self.request = _Answer(message, self.scanner.outcome).followup(self.request, self.left)
        self.left -= 1
        self.is_first = False
        self.begin()

    def take(self, choice: ChunkChoice) -> list[ChunkChoice]:
        """Leaves in the choice what may go out, and returns what goes out behind it."""
        delta: Any = choice.delta
        choice.index = self.index
        for key, member in (delta.model_extra or {}).items():
            before = self.others.get(key)
            grows = type(before) is type(member) and isinstance(member, str | list)
            self.others[key] = before + member if grows else member
        if delta.content:
            self.content += delta.content
            certain = self.scanner.feed(delta.content)
            delta.content = None
            self._write(certain, delta)
        for piece in delta.tool_calls or ():
            self._keep(piece.to_dict())
        if delta.tool_calls:
            delta.tool_calls = None
        if not self.is_first and delta.role is not None:
            # Clients put pieces together, and this one has been said.
            delta.role = None
        return [] if choice.finish_reason is None else self.close(choice, choice.finish_reason)

    def close(self, choice: ChunkChoice, finish_reason: str | None) -> list[ChunkChoice]:
        """Ends the answer: calls and the end go out behind the choice, unless the model is to be asked again."""
        self.has_ended = True
        delta: Any = choice.delta
        for number, call in enumerate(self.tool_calls):
            if "function" in call:
                function = call["function"]
                name, arguments = function.get("name"), function.get("arguments") or "{}"
                self._write(self.scanner.feed_call(number, id=str(number), name=name, arguments=arguments), delta)
        # A stream without an end was cut.
        self._write(self.scanner.finish(finish_reason or "length"), delta)
        choice.finish_reason = None
        if is_wrong(self.scanner.outcome):
            self.turn.wrong.append(self)
            return []
        calls = self._calls()
        if not calls and self.text_held.strip() not in ("", self.text_sent.strip()):
            self._say(("\n\n" if self.text_sent else "") + self.text_held, delta)
        ends: list[ChunkChoice] = []
        # What else stands in the choice goes out with the choice itself.
        bare = choice.model_copy(update={"logprobs": None})
        if calls:
            # Not validated: pieces of calls of custom tools have a type of their own.
            ends.append(bare.model_copy(update={"delta": type(delta).construct(tool_calls=calls)}))
            finish_reason = "tool_calls" if finish_reason == "stop" else finish_reason
        ends.append(bare.model_copy(update={"delta": type(delta)(), "finish_reason": finish_reason}))
        return ends

    def _calls(self) -> list[dict[str, Any]]:
        native: dict[str, list[Call]] = {}
        in_text: list[Call] = []
        for call in self.scanner.outcome.calls:
            (in_text if call.id is None else native.setdefault(call.id, [])).append(call)
        made: list[dict[str, Any]] = []
        for number, theirs in enumerate(self.tool_calls):
            if "function" not in theirs:
                made.append({**theirs, "id": theirs.get("id") or _new_id()})
            for place, call in enumerate(native.get(str(number), ())):
                id = _new_id() if place or not theirs.get("id") else theirs["id"]
                function = {**theirs["function"], **_call(call, id)["function"]}
                made.append({**theirs, "id": id, "type": "function", "function": function})
        made += [_call(call, _new_id()) for call in in_text]
        return [{**call, "index": index} for index, call in enumerate(made)]

    def _keep(self, piece: dict[str, Any]) -> None:
        """Puts a piece of a native call to its call."""
        index = piece.pop("index", None)
        id = piece.get("id") or None
        place = self.places.get(index)
        is_named = any(isinstance(member, dict) and member.get("name") for member in piece.values())
        # Some servers give all calls one index, and each its id; others give each piece of one call another id.
        if place is None or id is not None and is_named and self.tool_calls[place].get("id") not in (None, id):
            place = self.places[index] = len(self.tool_calls)
            self.tool_calls.append({})
        call = self.tool_calls[place]
        for key, member in piece.items():
            if isinstance(member, dict):
                inner = call.setdefault(key, {})
                for name, part in member.items():
                    grows = name in ("arguments", "input") and isinstance(part, str)
                    if grows:
                        inner[name] = (inner.get(name) or "") + part
                    elif part is not None:
                        inner[name] = part
            elif member is not None and not (key == "id" and call.get("id")):
                call[key] = member

    def _write(self, certain: list[Event], delta: Any) -> None:
        for event in certain:
            match event:
                case TextDelta() if self.holds_text:
                    self.text_held += event.text
                case TextDelta():
                    self._say(event.text, delta)
                case ReasoningDelta():
                    delta.reasoning_content = (getattr(delta, "reasoning_content", None) or "") + event.text
                case _:
                    # Calls and refusals are in the outcome.
                    pass

    def _say(self, text: str, delta: Any) -> None:
        delta.content = (delta.content or "") + text
        self.text_sent += text


def _told(request: dict[str, Any], message: dict[str, Any], refused: Refused) -> dict[str, Any]:
    told = {"role": "user", "content": refused.feedback}
    return {**request, "messages": [*request["messages"], message, told]}


def _raise_declined(words: str | None) -> None:
    if words:
        raise Refused(f"the model declines: {words}", "unreadable", json.dumps({"error": words}, ensure_ascii=False))


def _echoed(message: ChatCompletionMessage) -> dict[str, Any]:
    echoed: dict[str, Any] = message.model_dump(exclude_unset=True, exclude_none=True, mode="json")
    if not echoed.get("tool_calls"):
        echoed.pop("tool_calls", None)
        echoed.setdefault("content", "")
    return {"role": "assistant", **echoed}


def _call(call: Call, id: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_json}}


def _new_id() -> str:
    return f"call_{uuid.uuid4().hex[:24]}"
