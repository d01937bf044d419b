"""For Anthropic's client: calls in answers are repaired, and the model is asked again about those that cannot be.

    from anthropic import Anthropic
    import callwright.anthropic

    client = callwright.anthropic.wrap(Anthropic())
    message = client.messages.create(model="…", max_tokens=1024, messages=[…], tools=[get_weather])
    city = client.messages.create(model="…", max_tokens=1024, messages=[…], response_model=City)

`messages.create` and `.stream` are wrapped, of synchronous and asynchronous clients. All else of the client is as it
was: `messages.parse`, `output_format`, `beta`, raw responses, and requests without tools and without
`response_model`.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from anthropic import NOT_GIVEN, Anthropic, AsyncAnthropic, AsyncStream, Stream
from anthropic.lib.streaming import AsyncMessageStreamManager, MessageStreamManager
from anthropic.resources.messages import AsyncMessages as _TheirAsyncMessages
from anthropic.resources.messages import Messages as _TheirMessages
from anthropic.types import Message

from callwright._anthropic_turns import StructuredStream, ToolStream, request_for, structured, whole, with_tools
from callwright._client import async_driven, async_events, copied, driven, events, unread

if TYPE_CHECKING:
    from anthropic.types import RawMessageStreamEvent
    from pydantic import TypeAdapter

__all__ = ["AsyncMessages", "Messages", "wrap"]

T = TypeVar("T")


@overload
def wrap(client: Anthropic, *, max_corrections: int = 2) -> _Client: ...
@overload
def wrap(client: AsyncAnthropic, *, max_corrections: int = 2) -> _AsyncClient: ...
def wrap(client: Any, *, max_corrections: int = 2) -> Any:
    """Returns a client like `client`, of the same class and over the same connections, that repairs what it receives.

    A call with one reading goes out repaired, with arguments of the types that its tool declares; one that the model
    wrote as text becomes a block. About a call without one, and one that may be made as well as shown, the model is
    asked again, at most `max_corrections` times for one answer. `tools` may hold functions, classes of pydantic and
    tools of other packages.

    With `response_model`, `create` returns an instance of that type, which the model gives as the input of a tool.
    With `stream=True` too, it gives the value so far as JSON with each piece, and the instance last.
    `create_with_message` returns the instance and the message.

    Requests raise `callwright.Refused` where the model does not get right, with the code `unsure` for a call that may
    be shown. Raises `TypeError` for any other client, and `ValueError` for a `max_corrections` that is not a count.
    """
    if not isinstance(client, Anthropic | AsyncAnthropic):
        raise TypeError(f"a client is an Anthropic or AsyncAnthropic, not an object of type `{type(client).__name__}`")
    wrapped = copied(client, lambda other: wrap(other, max_corrections=max_corrections), max_corrections)
    messages = Messages(wrapped) if isinstance(client, Anthropic) else AsyncMessages(wrapped)
    messages._max_corrections = max_corrections
    # A property that keeps what it makes in the instance.
    vars(wrapped)["messages"] = messages
    return wrapped


class Messages(_TheirMessages):
    """What `client.messages` of a wrapped client is."""

    _max_corrections: int = 2

    @overload  # type: ignore[override]
    def create(
        self, *, response_model: type[T] | TypeAdapter[T], stream: Literal[True], **request: Any
    ) -> Iterator[Any]: ...
    @overload
    def create(
        self, *, response_model: type[T] | TypeAdapter[T], stream: Literal[False] | None = None, **request: Any
    ) -> T: ...
    @overload
    def create(
        self, *, stream: Literal[True], response_model: None = None, **request: Any
    ) -> Stream[RawMessageStreamEvent]: ...
    @overload
    def create(
        self, *, stream: Literal[False] | None = None, response_model: None = None, **request: Any
    ) -> Message: ...
    @overload
    def create(
        self, *, stream: bool, response_model: None = None, **request: Any
    ) -> Message | Stream[RawMessageStreamEvent]: ...
    def create(self, *, response_model: Any = None, **request: Any) -> Any:
        if response_model is not None:
            wanted, request = request_for(response_model, request)
            if not request.get("stream"):
                return driven(structured(request, wanted, self._max_corrections), super().create)[0]
            return self._streamed(StructuredStream(request, wanted, self._max_corrections))
        tools, request = with_tools(request)
        if tools is None:
            return super().create(**request)
        if not request.get("stream"):
            return driven(whole(request, tools, self._max_corrections), super().create)
        return self._streamed(ToolStream(request, tools, self._max_corrections))

    def create_with_message(
        self, *, response_model: type[T] | TypeAdapter[T], **request: Any
    ) -> tuple[T, Message]:
        """Returns the instance, and the message that it was read from."""
        wanted, request = request_for(response_model, request, streams=False)
        found: tuple[T, Message] = driven(structured(request, wanted, self._max_corrections), super().create)
        return found

    def stream(self, **request: Any) -> Any:
        """Returns what streams an answer, as `stream` of a client that is not wrapped."""
        if not request.get("tools") or request.get("output_format"):
            return super().stream(**request)
        return _manager(MessageStreamManager, lambda: self.create(stream=True, **request))

    def _streamed(self, turn: Any) -> Any:
        ask = super().create
        stream = ask(**turn.request)
        return _Stream(stream, turn, ask) if isinstance(stream, Stream) else unread(stream, turn, StructuredStream)


class AsyncMessages(_TheirAsyncMessages):
    """What `client.messages` of a wrapped asynchronous client is."""

    _max_corrections: int = 2

    @overload  # type: ignore[override]
    async def create(
        self, *, response_model: type[T] | TypeAdapter[T], stream: Literal[True], **request: Any
    ) -> AsyncIterator[Any]: ...
    @overload
    async def create(
        self, *, response_model: type[T] | TypeAdapter[T], stream: Literal[False] | None = None, **request: Any
    ) -> T: ...
    @overload
    async def create(
        self, *, stream: Literal[True], response_model: None = None, **request: Any
    ) -> AsyncStream[RawMessageStreamEvent]: ...
    @overload
    async def create(
        self, *, stream: Literal[False] | None = None, response_model: None = None, **request: Any
    ) -> Message: ...
    @overload
    async def create(
        self, *, stream: bool, response_model: None = None, **request: Any
    ) -> Message | AsyncStream[RawMessageStreamEvent]: ...
    async def create(self, *, response_model: Any = None, **request: Any) -> Any:
        if response_model is not None:
            wanted, request = request_for(response_model, request)
            if not request.get("stream"):
                return (await async_driven(structured(request, wanted, self._max_corrections), super().create))[0]
            return await self._streamed(StructuredStream(request, wanted, self._max_corrections))
        tools, request = with_tools(request)
        if tools is None:
            return await super().create(**request)
        if not request.get("stream"):
            return await async_driven(whole(request, tools, self._max_corrections), super().create)
        return await self._streamed(ToolStream(request, tools, self._max_corrections))

    async def create_with_message(
        self, *, response_model: type[T] | TypeAdapter[T], **request: Any
    ) -> tuple[T, Message]:
        """Returns the instance, and the message that it was read from."""
        wanted, request = request_for(response_model, request, streams=False)
        steps = structured(request, wanted, self._max_corrections)
        found: tuple[T, Message] = await async_driven(steps, super().create)
        return found

    def stream(self, **request: Any) -> Any:
        """Returns what streams an answer, as `stream` of a client that is not wrapped."""
        if not request.get("tools") or request.get("output_format"):
            return super().stream(**request)
        return _manager(AsyncMessageStreamManager, self.create(stream=True, **request))

    async def _streamed(self, turn: Any) -> Any:
        ask = super().create
        stream = await ask(**turn.request)
        return _AsyncStream(stream, turn, ask) if isinstance(stream, AsyncStream) else unread(stream, turn, StructuredStream)


if TYPE_CHECKING:

    class _Client(Anthropic):
        messages: Messages

    class _AsyncClient(AsyncAnthropic):
        messages: AsyncMessages


class _Stream(Stream[Any]):
    """A stream that goes on with the next answer where the model is asked again."""

    def __init__(self, stream: Stream[Any], turn: Any, ask: Callable[..., Any]) -> None:
        self.response = stream.response
        self._ours = events(self, stream, turn, ask)

    # Theirs reports each event to an observer, which the inner stream has done.
    def __next__(self) -> Any:
        return next(self._ours)

    def __iter__(self) -> Iterator[Any]:
        return self._ours


class _AsyncStream(AsyncStream[Any]):
    def __init__(self, stream: AsyncStream[Any], turn: Any, ask: Callable[..., Awaitable[Any]]) -> None:
        self.response = stream.response
        self._ours = async_events(self, stream, turn, ask)

    async def __anext__(self) -> Any:
        return await self._ours.__anext__()

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._ours


def _manager(kind: Any, ask: Any) -> Any:
    # Versions of the package differ in whether it is told the format.
    told = {"output_format": NOT_GIVEN} if "output_format" in inspect.signature(kind).parameters else {}
    return kind(ask, **told)
