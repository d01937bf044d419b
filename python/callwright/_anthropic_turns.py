"""The turns of a client of Messages: what is asked, and what comes out of the answers.

In go a request and the answers to it, whole or in events; out come the next request, and what the caller gets. Nothing
here speaks to a server.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Generator
from typing import Any, Literal

from anthropic.types import (
    Message,
    RawContentBlockDeltaEvent,
    RawContentBlockStartEvent,
    RawContentBlockStopEvent,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
)

from callwright import _sources
from callwright._callwright import Call, Outcome, ReasoningDelta, TextDelta, ToolSet, is_cut, parse
from callwright._followup import NOT_RUN, confirmation, error_of, is_wrong, unreadable_arguments
from callwright._refused import Refused
from callwright._response_model import ResponseModel
from callwright._scanner import Event, Scanner

__all__ = ["StructuredStream", "ToolStream", "request_for", "structured", "whole", "with_tools"]


def whole(request: dict[str, Any], tools: _Tools, left: int) -> Generator[dict[str, Any], Any, Any]:
    """Yields the requests of one turn, takes their messages, and returns the one for the caller."""
    while True:
        message = yield request
        if not isinstance(message, Message):
            return message
        said = _Said.of(message)
        native = [
            {"id": str(place), "name": said.blocks[place]["name"], "arguments": text}
            for place, text in said.inputs.items()
            if tools.reads(said.blocks[place])
        ]
        outcome = parse(said.text, tools.tool_set, native=native, finish_reason=message.stop_reason)
        if not is_wrong(outcome):
            _repair(message, tools, said, outcome)
            return message
        request = _followup(said, outcome, request, left)
        left -= 1


class ToolStream:
    """The events of one turn with tools: text goes out as it is certain, calls where an answer is right."""

    def __init__(self, request: dict[str, Any], tools: _Tools, left: int) -> None:
        self.request = request
        self.tools = tools
        self.left = left
        self.is_first = True
        self.text_sent = ""
        # Blocks that went out, and what the last one holds where it is open and of ours.
        self.n_blocks = 0
        self.open: Literal["text", "thinking"] | None = None
        self.begin()

    def begin(self) -> None:
        self.said = _Said()
        self.scanner = Scanner(self.tools.tool_set, native_mode=True)
        self.has_ended = False
        # Behind what was said, an answer that makes the calls again says nothing new: its text waits for its end.
        self.holds_text = not self.is_first and bool(self.text_sent)
        self.text_held = ""
        # Where other blocks went, by the index that the server gave.
        self.indices: dict[int, int] = {}
        self.is_wrong = False

    def feed(self, event: Any) -> list[Any]:
        self.said.take(event)
        match event.type:
            case "message_start":
                return [event] if self.is_first else []
            case "content_block_start":
                return self._start(event)
            case "content_block_delta":
                if event.delta.type == "text_delta":
                    return self._written(self.scanner.feed(event.delta.text))
                index = self.indices.get(event.index)
                if event.delta.type == "citations_delta" and self.open == "text":
                    index = self.n_blocks - 1
                return [] if index is None else [event.model_copy(update={"index": index})]
            case "content_block_stop":
                index = self.indices.pop(event.index, None)
                return [] if index is None else [event.model_copy(update={"index": index})]
            case "message_delta":
                return self._close(event)
            case "message_stop":
                return [] if self.is_wrong else [event]
            case _:
                return [event]

    def end(self) -> tuple[list[Any], dict[str, Any] | None]:
        # A stream without an end was cut.
        rest = [] if self.has_ended else self._close(None)
        if not self.is_wrong:
            return rest, None
        self.request = _followup(self.said, self.scanner.outcome, self.request, self.left)
        self.left -= 1
        self.is_first = False
        self.begin()
        return rest, self.request

    def _start(self, event: Any) -> list[Any]:
        block = event.content_block
        # Text opens its block where some of it is certain; calls wait for the end.
        if block.type == "text":
            return self._written(self.scanner.feed(block.text)) if block.text else []
        if block.type == "tool_use":
            return []
        closed = self._close_block()
        self.indices[event.index] = self.n_blocks
        self.n_blocks += 1
        return [*closed, event.model_copy(update={"index": self.indices[event.index]})]

    def _close(self, event: Any) -> list[Any]:
        """Ends the answer: what is left goes out in front of its last event, unless the model is to be asked again."""
        self.has_ended = True
        for place, text in self.said.inputs.items():
            block = self.said.blocks[place]
            if self.tools.reads(block):
                self.scanner.feed_call(place, id=str(place), name=block["name"], arguments=text or "{}")
        out = self._written(self.scanner.finish(self.said.stop_reason or "max_tokens"))
        outcome = self.scanner.outcome
        if is_wrong(outcome):
            self.is_wrong = True
            return out
        native, in_text = _by_place(outcome)
        if not outcome.calls and self.text_held.strip() not in ("", self.text_sent.strip()):
            out += self._text(("\n\n" if self.text_sent else "") + self.text_held)
        out += self._close_block()
        for place, text in self.said.inputs.items():
            block = self.said.blocks[place]
            if block["type"] == "tool_use" and not self.tools.reads(block):
                out += self._call(block, text)
            for number, call in enumerate(native.get(place, ())):
                id = _new_id() if number else block["id"]
                out += self._call({**block, "id": id, "name": call.name}, call.arguments_json)
        for call in in_text:
            out += self._call({"type": "tool_use", "id": _new_id(), "name": call.name}, call.arguments_json)
        if event is not None:
            if in_text and event.delta.stop_reason == "end_turn":
                event.delta.stop_reason = "tool_use"
            out.append(event)
        return out

    def _written(self, certain: list[Event]) -> list[Any]:
        out: list[Any] = []
        for event in certain:
            match event:
                case TextDelta() if self.holds_text:
                    self.text_held += event.text
                case TextDelta():
                    out += self._text(event.text)
                case ReasoningDelta():
                    out += self._in_block("thinking", event.text)
                case _:
                    # Calls and refusals are in the outcome.
                    pass
        return out

    def _text(self, text: str) -> list[Any]:
        self.text_sent += text
        return self._in_block("text", text)

    def _in_block(self, kind: Literal["text", "thinking"], text: str) -> list[Any]:
        out: list[Any] = []
        if self.open != kind:
            out += self._close_block()
            signature = {"signature": ""} if kind == "thinking" else {}
            out.append(_started(self.n_blocks, {"type": kind, kind: "", **signature}))
            self.open = kind
            self.n_blocks += 1
        return [*out, _delta(self.n_blocks - 1, {"type": f"{kind}_delta", kind: text})]

    def _close_block(self) -> list[Any]:
        was_open, self.open = self.open is not None, None
        return [_stopped(self.n_blocks - 1)] if was_open else []

    def _call(self, block: dict[str, Any], arguments: str) -> list[Any]:
        index = self.n_blocks
        self.n_blocks += 1
        started = _started(index, {**block, "input": {}})
        return [started, _delta(index, {"type": "input_json_delta", "partial_json": arguments}), _stopped(index)]


def structured(
    request: dict[str, Any], wanted: ResponseModel, left: int
) -> Generator[dict[str, Any], Any, tuple[Any, Message]]:
    """Yields the requests, takes their messages, and returns the instance and the message it was read from."""
    while True:
        message = yield request
        if not isinstance(message, Message):
            raise TypeError(f"response_model needs a message, not an object of type `{type(message).__name__}`")
        said = _Said.of(message)
        try:
            return _instance(said, wanted), message
        except Refused as refused:
            if left == 0 or said.stop_reason == "refusal":
                raise
            request = _told(said, wanted, request, refused)
        left -= 1


class StructuredStream:
    """The values of one turn: the value so far behind each piece, and the instance where the answer is right."""

    def __init__(self, request: dict[str, Any], wanted: ResponseModel, left: int) -> None:
        self.request = request
        self.wanted = wanted
        self.left = left
        self.begin()

    def begin(self) -> None:
        self.said = _Said()
        self.value: Any = None

    def feed(self, event: Any) -> list[Any]:
        self.said.take(event)
        if event.type != "content_block_delta":
            return []
        before, self.value = self.value, self.wanted.so_far(_written(self.said, self.wanted)[0])
        return [] if self.value is None or self.value == before else [self.value]

    def end(self) -> tuple[list[Any], dict[str, Any] | None]:
        self.said.stop_reason = self.said.stop_reason or "max_tokens"
        try:
            return [_instance(self.said, self.wanted)], None
        except Refused as refused:
            if self.left == 0 or self.said.stop_reason == "refusal":
                raise
            self.request = _told(self.said, self.wanted, self.request, refused)
        self.left -= 1
        self.begin()
        return [], self.request


def with_tools(request: dict[str, Any]) -> tuple[_Tools | None, dict[str, Any]]:
    """The tools, with the request in which each is JSON; `None` where none is ours to read."""
    if not request.get("tools"):
        return None, request
    declared = _sources.definition(request["tools"], tool=True)
    declared = [_definition(tool) for tool in (declared if isinstance(declared, list) else [declared])]
    request = {**request, "tools": declared}
    tools = _Tools(declared)
    choice = request.get("tool_choice")
    if not len(tools.tool_set) or isinstance(choice, dict) and choice.get("type") == "none":
        return None, request
    return tools, {**request, "messages": list(request.get("messages", ()))}


def request_for(
    response_model: Any, request: dict[str, Any], streams: bool = True
) -> tuple[ResponseModel, dict[str, Any]]:
    if request.get("tools"):
        raise TypeError("response_model and tools are two requests: an answer is either a value or calls")
    if request.get("stream") and not streams:
        raise ValueError("create_with_message does not stream")
    wanted = ResponseModel(response_model)
    tool = {"name": wanted.name, "description": "Takes the answer.", "input_schema": wanted.sent}
    request = {**request, "messages": list(request.get("messages", ())), "tools": [tool]}
    if not request.get("tool_choice"):
        request["tool_choice"] = {"type": "tool", "name": wanted.name}
    return wanted, request


class _Said:
    """What the model said in one answer, whole or streamed: its blocks, and the input of each call as text."""

    def __init__(self) -> None:
        self.blocks: list[dict[str, Any]] = []
        # By the place of the block.
        self.inputs: dict[int, str] = {}
        self.stop_reason: str | None = None

    @staticmethod
    def of(message: Message) -> _Said:
        said = _Said()
        said.stop_reason = message.stop_reason
        for place, block in enumerate(message.content):
            said.blocks.append(block.model_dump(exclude_unset=True, exclude_none=True, mode="json"))
            if block.type == "tool_use":
                written: Any = block.input
                text = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)
                # Who cut it closed it too: the last bracket is nobody's.
                is_last = place + 1 == len(message.content)
                said.inputs[place] = text[:-1] if is_last and is_cut(message.stop_reason) else text
        return said

    def take(self, event: Any) -> None:
        if event.type == "content_block_start":
            block = event.content_block.model_dump(exclude_unset=True, exclude_none=True, mode="json")
            self.blocks.append(block)
            if block["type"] == "tool_use":
                self.inputs[len(self.blocks) - 1] = ""
        elif event.type == "content_block_delta" and self.blocks:
            # One block is written after the other.
            block, delta = self.blocks[-1], event.delta
            if delta.type == "input_json_delta":
                place = len(self.blocks) - 1
                self.inputs[place] = self.inputs.get(place, "") + delta.partial_json
            elif delta.type == "citations_delta":
                block["citations"] = [*(block.get("citations") or ()), delta.citation.model_dump(mode="json")]
            else:
                member = delta.type.removesuffix("_delta")
                block[member] = block.get(member, "") + (getattr(delta, member, None) or "")
        elif event.type == "message_delta":
            self.stop_reason = event.delta.stop_reason or self.stop_reason

    @property
    def text(self) -> str:
        return "".join(block["text"] for block in self.blocks if block["type"] == "text")

    def echoed(self) -> dict[str, Any]:
        """The message as the next request has it."""
        content: list[dict[str, Any]] = []
        for place, block in enumerate(self.blocks):
            if place in self.inputs:
                block = {**block, "input": json.loads(unreadable_arguments(self.inputs[place] or "{}"))}
            # An empty text is an error to the server.
            if block["type"] != "text" or block["text"].strip():
                content.append(block)
        return {"role": "assistant", "content": content or [{"type": "text", "text": "(nothing)"}]}

    def followup(self, request: dict[str, Any], told: dict[int, str], words: list[str]) -> dict[str, Any]:
        """The request with what each call, by its place, and the whole answer are told."""
        content: list[dict[str, Any]] = []
        for place, block in enumerate(self.blocks):
            # What the server ran itself has its result.
            if block["type"] == "tool_use":
                result = {"type": "tool_result", "tool_use_id": block["id"], "is_error": True}
                content.append({**result, "content": told.get(place, NOT_RUN)})
        if words:
            content.append({"type": "text", "text": "\n\n".join(words)})
        return {**request, "messages": [*request["messages"], self.echoed(), {"role": "user", "content": content}]}


class _Tools:
    """The tools of a request: those that are ours to read, and the names of those that are not."""

    def __init__(self, declared: list[Any]) -> None:
        self.tool_set = ToolSet(declared)
        names = {tool.get("name") for tool in declared if isinstance(tool, dict)}
        self.others = names - set(self.tool_set.names)

    def reads(self, block: dict[str, Any]) -> bool:
        # A member of a toolset is declared by the server.
        return block["type"] == "tool_use" and block["name"] not in self.others and not block.get("toolset_name")


def _followup(said: _Said, outcome: Outcome, request: dict[str, Any], left: int) -> dict[str, Any]:
    """The request with what is wrong; raises `Refused` where nothing is left."""
    if left == 0:
        raise error_of(outcome)
    # Ids of calls are their places; those in the text have none.
    told = {int(refusal.id): refusal.feedback for refusal in outcome.refusals if refusal.id is not None}
    words = [refusal.feedback for refusal in outcome.refusals if refusal.id is None]
    asked = confirmation(outcome)
    return said.followup(request, told, words if asked is None else [*words, asked])


def _repair(message: Message, tools: _Tools, said: _Said, outcome: Outcome) -> None:
    native, in_text = _by_place(outcome)
    content: list[Any] = []
    text_is_due = bool(in_text)
    for place, block in enumerate(message.content):
        if isinstance(block, ToolUseBlock) and tools.reads(said.blocks[place]):
            for number, call in enumerate(native.get(place, ())):
                update: dict[str, Any] = {"name": call.name, "input": call.arguments}
                content.append(block.model_copy(update={**update, "id": _new_id()} if number else update))
        elif isinstance(block, TextBlock) and in_text:
            # What is left of all texts stands where the first was.
            if text_is_due and outcome.reasoning:
                content.append(ThinkingBlock(type="thinking", thinking=outcome.reasoning, signature=""))
            if text_is_due and outcome.text:
                content.append(block.model_copy(update={"text": outcome.text}))
            text_is_due = False
        else:
            content.append(block)
    for call in in_text:
        content.append(ToolUseBlock(id=_new_id(), name=call.name, input=call.arguments, type="tool_use"))
    message.content = content
    if in_text and message.stop_reason == "end_turn":
        message.stop_reason = "tool_use"


def _by_place(outcome: Outcome) -> tuple[dict[int, list[Call]], list[Call]]:
    native: dict[int, list[Call]] = {}
    in_text: list[Call] = []
    for call in outcome.calls:
        (in_text if call.id is None else native.setdefault(int(call.id), [])).append(call)
    return native, in_text


def _instance(said: _Said, wanted: ResponseModel) -> Any:
    if said.stop_reason == "refusal":
        feedback = json.dumps({"error": "the answer was declined"})
        raise Refused("the model declines: the answer ends with `refusal`", "unreadable", feedback)
    return wanted.read(_written(said, wanted)[0], said.stop_reason)


def _told(said: _Said, wanted: ResponseModel, request: dict[str, Any], refused: Refused) -> dict[str, Any]:
    place = _written(said, wanted)[1]
    told, words = ({}, [refused.feedback]) if place is None else ({place: refused.feedback}, [])
    return said.followup(request, told, words)


def _written(said: _Said, wanted: ResponseModel) -> tuple[str, int | None]:
    """The text that is to be the value, and the place of the call that holds it; a model may write it in words too."""
    for place, text in said.inputs.items():
        if said.blocks[place].get("name") == wanted.name:
            return text, place
    return said.text, None


def _definition(tool: Any) -> Any:
    """A tool as this API has it."""
    if not isinstance(tool, dict) or not isinstance(tool.get("function"), dict):
        return tool
    function = tool["function"]
    members = {"name": function["name"], "description": function.get("description")}
    known = {key: member for key, member in members.items() if member is not None}
    return {**known, "input_schema": function.get("parameters") or {"type": "object", "properties": {}}}


def _started(index: int, block: dict[str, Any]) -> RawContentBlockStartEvent:
    return RawContentBlockStartEvent.model_validate(
        {"type": "content_block_start", "index": index, "content_block": block}
    )


def _delta(index: int, delta: dict[str, Any]) -> RawContentBlockDeltaEvent:
    return RawContentBlockDeltaEvent.model_validate({"type": "content_block_delta", "index": index, "delta": delta})


def _stopped(index: int) -> RawContentBlockStopEvent:
    return RawContentBlockStopEvent(type="content_block_stop", index=index)


def _new_id() -> str:
    return f"toolu_{uuid.uuid4().hex[:24]}"
