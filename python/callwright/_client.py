"""What wrapped clients have in common: a copy of the client, and the drivers that carry the requests of a turn.

A turn is pure. One for a whole answer is a generator of requests, which takes answers and returns the one for the
caller. One for a stream has `request`, `feed`, which returns what goes out for one event, and `end`, which returns
what is left to go out, and the next request where the model is asked again.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import Any

__all__ = ["async_driven", "async_events", "copied", "driven", "events", "unread"]

_METHODS = ("copy", "with_options", "with_middleware")


def copied(client: Any, wrap: Callable[[Any], Any], max_corrections: int) -> Any:
    """Returns another client over the same connections, whose own copies are wrapped too.

    Raises `ValueError` where `max_corrections` is not a count.
    """
    if not isinstance(max_corrections, int) or max_corrections < 0:
        raise ValueError(f"max_corrections is a count, not {max_corrections!r}")
    wrapped = copy.copy(client)
    for name in _METHODS:
        method = getattr(type(client), name, None)
        if method is not None:
            vars(wrapped)[name] = _rewrapped(method, wrapped, wrap)
    return wrapped


def driven(steps: Generator[dict[str, Any], Any, Any], ask: Callable[..., Any]) -> Any:
    """Returns what a turn comes to, whose requests `ask` carries."""
    request = next(steps)
    while True:
        try:
            request = steps.send(ask(**request))
        except StopIteration as done:
            return done.value


async def async_driven(steps: Generator[dict[str, Any], Any, Any], ask: Callable[..., Awaitable[Any]]) -> Any:
    """The same for an asynchronous client."""
    request = next(steps)
    while True:
        answer = await ask(**request)
        try:
            request = steps.send(answer)
        except StopIteration as done:
            return done.value


def events(owner: Any, stream: Any, turn: Any, ask: Callable[..., Any]) -> Iterator[Any]:
    """What goes out of a turn, over all of its streams; `owner.response` is that of the current one."""
    while True:
        owner.response = stream.response
        with stream:
            for event in stream:
                yield from turn.feed(event)
        rest, request = turn.end()
        yield from rest
        if request is None:
            return
        stream = ask(**request)


async def async_events(
    owner: Any, stream: Any, turn: Any, ask: Callable[..., Awaitable[Any]]
) -> AsyncIterator[Any]:
    """The same for an asynchronous client."""
    while True:
        owner.response = stream.response
        async with stream:
            async for event in stream:
                for piece in turn.feed(event):
                    yield piece
        rest, request = turn.end()
        for piece in rest:
            yield piece
        if request is None:
            return
        stream = await ask(**request)


def unread(stream: Any, turn: Any, structured: type[Any]) -> Any:
    """Returns what the client gives in the place of a stream, such as a raw response; a `structured` turn needs a stream."""
    if isinstance(turn, structured):
        raise TypeError(f"response_model needs a stream, not an object of type `{type(stream).__name__}`")
    return stream


def _rewrapped(method: Callable[..., Any], wrapped: Any, wrap: Callable[[Any], Any]) -> Callable[..., Any]:
    def copy_of(*args: Any, **kwargs: Any) -> Any:
        return wrap(method(wrapped, *args, **kwargs))

    return copy_of
