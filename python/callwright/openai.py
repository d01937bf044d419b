"""For OpenAI's client: calls in answers are repaired, and the model is asked again about those that cannot be.

    from openai import OpenAI
    import callwright.openai

    client = callwright.openai.wrap(OpenAI())
    completion = client.chat.completions.create(model="…", messages=[…], tools=[get_weather])
    city = client.chat.completions.create(model="…", messages=[…], response_model=City)

`chat.completions.create` and `.stream` are wrapped, of synchronous and asynchronous clients. All else of the client
is as it was: `responses`, `chat.completions.parse`, raw responses, and requests without tools and without
`response_model`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from openai import AsyncOpenAI, AsyncStream, OpenAI, Stream
from openai.resources.chat.completions import AsyncCompletions as _TheirAsyncCompletions
from openai.resources.chat.completions import Completions as _TheirCompletions
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from callwright._client import async_driven, async_events, copied, driven, events, unread
from callwright._openai_turns import StructuredStream, ToolStream, request_for, structured, whole, with_tools

if TYPE_CHECKING:
    from openai.resources.chat import AsyncChat, Chat
    from pydantic import TypeAdapter

__all__ = ["AsyncCompletions", "Completions", "wrap"]

T = TypeVar("T")


@overload
def wrap(client: OpenAI, *, max_corrections: int = 2) -> _Client: ...
@overload
def wrap(client: AsyncOpenAI, *, max_corrections: int = 2) -> _AsyncClient: ...
def wrap(client: Any, *, max_corrections: int = 2) -> Any:
    """Returns a client like `client`, of the same class and over the same connections, that repairs what it receives.

    A call with one reading goes out repaired, with arguments of the types that its tool declares; also one that the
    model wrote as text. About a call without one, and one that may be made as well as shown, the model is asked
    again, at most `max_corrections` times for one answer. `tools` may hold functions, classes of pydantic and tools
    of other packages.

    With `response_model`, `create` returns an instance of that type: of a class of pydantic, a dataclass, a
    `TypedDict`, a `TypeAdapter`, `list[Model]`. With `stream=True` too, it gives the value so far as JSON with each
    piece, and the instance last. `create_with_completion` returns the instance and the completion.

    Requests raise `callwright.Refused` where the model does not get right, with the code `unsure` for a call that may
    be shown. Raises `TypeError` for any other client, and `ValueError` for a `max_corrections` that is not a count.
    """
    if not isinstance(client, OpenAI | AsyncOpenAI):
        raise TypeError(f"a client is an OpenAI or AsyncOpenAI, not an object of type `{type(client).__name__}`")
    wrapped = copied(client, lambda other: wrap(other, max_corrections=max_corrections), max_corrections)
    completions = Completions(wrapped) if isinstance(client, OpenAI) else AsyncCompletions(wrapped)
    completions._max_corrections = max_corrections
    chat = type(client.chat)(wrapped)
    # Both are properties that keep what they make in the instance.
    vars(chat)["completions"] = completions
    vars(wrapped)["chat"] = chat
    return wrapped


class Completions(_TheirCompletions):
    """What `client.chat.completions` of a wrapped client is."""

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
    ) -> Stream[ChatCompletionChunk]: ...
    @overload
    def create(
        self, *, stream: Literal[False] | None = None, response_model: None = None, **request: Any
    ) -> ChatCompletion: ...
    @overload
    def create(
        self, *, stream: bool, response_model: None = None, **request: Any
    ) -> ChatCompletion | Stream[ChatCompletionChunk]: ...
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

    def create_with_completion(
        self, *, response_model: type[T] | TypeAdapter[T], **request: Any
    ) -> tuple[T, ChatCompletion]:
        """Returns the instance, and the completion that it was read from."""
        wanted, request = request_for(response_model, request, streams=False)
        found: tuple[T, ChatCompletion] = driven(structured(request, wanted, self._max_corrections), super().create)
        return found

    def _streamed(self, turn: Any) -> Any:
        ask = super().create
        stream = ask(**turn.request)
        return _Stream(stream, turn, ask) if isinstance(stream, Stream) else unread(stream, turn, StructuredStream)


class AsyncCompletions(_TheirAsyncCompletions):
    """What `client.chat.completions` of a wrapped asynchronous client is."""

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
    ) -> AsyncStream[ChatCompletionChunk]: ...
    @overload
    async def create(
        self, *, stream: Literal[False] | None = None, response_model: None = None, **request: Any
    ) -> ChatCompletion: ...
    @overload
    async def create(
        self, *, stream: bool, response_model: None = None, **request: Any
    ) -> ChatCompletion | AsyncStream[ChatCompletionChunk]: ...
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

    async def create_with_completion(
        self, *, response_model: type[T] | TypeAdapter[T], **request: Any
    ) -> tuple[T, ChatCompletion]:
        """Returns the instance, and the completion that it was read from."""
        wanted, request = request_for(response_model, request, streams=False)
        steps = structured(request, wanted, self._max_corrections)
        found: tuple[T, ChatCompletion] = await async_driven(steps, super().create)
        return found

    async def _streamed(self, turn: Any) -> Any:
        ask = super().create
        stream = await ask(**turn.request)
        return _AsyncStream(stream, turn, ask) if isinstance(stream, AsyncStream) else unread(stream, turn, StructuredStream)


if TYPE_CHECKING:

    class _Chat(Chat):
        completions: Completions

    class _Client(OpenAI):
        chat: _Chat

    class _AsyncChat(AsyncChat):
        completions: AsyncCompletions

    class _AsyncClient(AsyncOpenAI):
        chat: _AsyncChat


class _Stream(Stream[Any]):
    """A stream that goes on with the next answer where the model is asked again."""

    def __init__(self, stream: Stream[Any], turn: Any, ask: Callable[..., Any]) -> None:
        self.response = stream.response
        self._iterator = events(self, stream, turn, ask)


class _AsyncStream(AsyncStream[Any]):
    def __init__(self, stream: AsyncStream[Any], turn: Any, ask: Callable[..., Awaitable[Any]]) -> None:
        self.response = stream.response
        self._iterator = async_events(self, stream, turn, ask)
