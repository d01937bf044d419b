"""The parts for vLLM and SGLang, against their interfaces: neither can be imported where there is no GPU."""

import importlib.metadata
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel


class Function(BaseModel):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class Tool(BaseModel):
    type: str = "function"
    function: Function


WRITE = Tool(function=Function(name="write", parameters={"type": "object", "properties": {"n": {"type": "integer"}}}))
PING = Tool(function=Function(name="ping"))
TOOLS = [PING, WRITE]
TEXT = "I write. <tool_call>{'name': 'write', 'arguments': {'n': '1'}}</tool_call>"
TWO = TEXT + "\n<tool_call>{'name': 'ping', 'arguments': {}}"
BROKEN = 'Well. <tool_call>{"name": "write", "arguments": {"n": "many"}}</tool_call>'


@pytest.fixture(autouse=True, scope="module")
def _interfaces() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.syspath_prepend(str(Path(__file__).parent / "hosts"))
        yield


def loaded(group: str) -> None:
    """Calls what the package registers, as the server does when it starts."""
    (entry,) = [e for e in importlib.metadata.entry_points(group=group) if e.name == "callwright"]
    entry.load()()


class Vllm:
    def __init__(self, choice: str = "auto") -> None:
        from vllm.tool_parsers.abstract_tool_parser import ToolParserManager

        loaded("vllm.general_plugins")
        self.request = SimpleNamespace(tools=TOOLS, tool_choice=choice, skip_special_tokens=True)
        self.parser: Any = ToolParserManager.tool_parsers["callwright"](object(), TOOLS)

    def whole(self, text: str) -> tuple[str, list[tuple[str, str]]]:
        found = self.parser.extract_tool_calls(text, self.request)
        assert found.tools_called == bool(found.tool_calls)
        return found.content or "", [(call.function.name, call.function.arguments) for call in found.tool_calls]

    def streamed(self, text: str, size: int) -> tuple[str, list[tuple[str, str]]]:
        deltas = []
        for at in range(0, len(text), size):
            piece, end = text[at : at + size], at + size
            deltas.append(
                self.parser.extract_tool_calls_streaming(text[:at], text[:end], piece, [], [], [], self.request)
            )
        deltas.append(self.parser.finish_streaming())
        said = [delta for delta in deltas if delta is not None]
        calls = [call for delta in said for call in delta.tool_calls]
        assert [call.index for call in calls] == list(range(len(calls)))
        assert [call["arguments"] for call in self.parser.prev_tool_call_arr] == self.parser.streamed_args_for_tool
        return "".join(d.content or "" for d in said), [(c.function.name, c.function.arguments) for c in calls]


class Sglang:
    def __init__(self) -> None:
        from sglang.srt.function_call.function_call_parser import FunctionCallParser

        loaded("sglang.srt.plugins")
        self.detector: Any = FunctionCallParser.ToolCallParserEnum["callwright"]()

    def whole(self, text: str) -> tuple[str, list[tuple[str, str]]]:
        assert self.detector.has_tool_call(text)
        found = self.detector.detect_and_parse(text, TOOLS)
        assert all(TOOLS[call.tool_index].function.name == call.name for call in found.calls)
        return found.normal_text, [(call.name, call.parameters) for call in found.calls]

    def streamed(self, text: str, size: int) -> tuple[str, list[tuple[str, str]]]:
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        found = [self.detector.parse_streaming_increment(piece, TOOLS) for piece in pieces]
        found.append(self.detector.finish(TOOLS))
        calls = [call for result in found for call in result.calls]
        assert [call.tool_index for call in calls] == list(range(len(calls)))
        sent = [json.loads(arguments) for arguments in self.detector.streamed_args_for_tool]
        assert [call["arguments"] for call in self.detector.prev_tool_call_arr] == sent
        return "".join(result.normal_text for result in found), [(c.name, c.parameters) for c in calls]


@pytest.mark.parametrize("server", [Vllm, Sglang])
@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        (TEXT, "I write.", [("write", '{"n": 1}')]),
        # The last call ends with the answer.
        (TWO, "I write.", [("write", '{"n": 1}'), ("ping", "{}")]),
        ("Nothing to do.", "Nothing to do.", []),
        (BROKEN, "Well.\n\n[A tool call of `write` was refused: n must be an integer.]", []),
    ],
)
def test_calls_are_read_whole_and_as_they_come(server: type[Any], text: str, content: str, calls: Any) -> None:
    assert server().whole(text) == (content, calls)
    for size in (1, 7, 1000):
        assert server().streamed(text, size) == (content, calls)


def test_vllm_is_told_what_it_must_know() -> None:
    vllm = Vllm()
    assert vllm.parser.adjust_request(vllm.request).skip_special_tokens is False
    none = Vllm("none")
    assert none.parser.adjust_request(none.request).skip_special_tokens is True
    assert (vllm.parser.supports_required_and_named, vllm.parser.engine_based_streaming) == (False, True)


def test_sglang_is_told_what_it_must_know() -> None:
    detector = Sglang().detector
    assert detector.supports_structural_tag() is False
    with pytest.raises(NotImplementedError, match="asks for none"):
        detector.structure_info()
