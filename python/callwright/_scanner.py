"""The scanner of one answer, over a stream too."""

from __future__ import annotations

from callwright._callwright import ArgumentsDelta, Call, CallStarted, ReasoningDelta, Refusal, TextDelta
from callwright._callwright import Scanner as _Scanner

# `typing` and `collections` take longer to import than all of this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator

Event = TextDelta | ReasoningDelta | CallStarted | ArgumentsDelta | Call | Refusal
"""What became certain of an answer."""


class Scanner(_Scanner):
    __doc__ = _Scanner.__doc__

    async def events(self, pieces: AsyncIterable[str]) -> AsyncIterator[Event]:
        """Feeds all `pieces` of text and gives the events as they become certain, the last ones included.

        >>> import asyncio
        >>> from callwright import Scanner
        >>> async def pieces():
        ...     for piece in ["Well. <tool_", "call>{'name': 'ping'}</tool_call>"]:
        ...         yield piece
        >>> async def main():
        ...     async for event in Scanner([{"name": "ping"}]).events(pieces()):
        ...         print(event)
        >>> asyncio.run(main())
        TextDelta(text='Well.')
        Call(name='ping', arguments={}, repair_class='R1')
        """
        async for piece in pieces:
            for event in self.feed(piece):
                yield event
        for event in self.finish():
            yield event
