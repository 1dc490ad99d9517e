"""Runs in progress: their events, for a plain loop and for an event loop."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Callable, Generic, Optional, TypeVar, Union

from . import _native
from ._answer import Answer, Event, answer_of
from ._errors import Interrupted
from ._schema import Schema
from ._view import Line, View

# Imported where it is used: whoever needs no event loop does not wait for it.
if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
W = TypeVar("W")


def _event(told: str) -> Event:
    fields = json.loads(told)
    head = {name: fields.pop(name) for name in ("type", "seq", "frame", "at_ms")}
    return Event(**head, fields=fields)


class Run(Generic[T]):
    """A run in progress. A loop over it sees every event; ``answer()`` waits for the end.

    Ctrl-C while waiting stops the run cleanly and raises ``Interrupted``.
    """

    def __init__(
        self, native: _native.Running, schema: Optional[Schema], view: Callable[[str], View], has_progress: bool
    ) -> None:
        self._native = native
        self._schema = schema
        self._view = view
        self._has_progress = has_progress
        self._answer: Optional[Answer[T]] = None

    @property
    def id(self) -> str:
        """The id of the run."""
        return self._native.run

    def __iter__(self) -> Iterator[Event]:
        while (told := self._waiting(self._native.next)) is not None:
            yield _event(told)

    def answer(self) -> Answer[T]:
        """Waits for the run to end, and returns its answer."""
        if self._answer is None:
            if self._has_progress:
                with Line() as line:
                    while (status := self._waiting(self._native.go_on)) is not None:
                        line.draw(status)
            self._answer = answer_of(self._waiting(self._native.answer), self._schema, self._view)
        return self._answer

    def view(self) -> View:
        """The viewer's page of the run, with what it has done so far."""
        return self._view(self.id)

    def cancel(self) -> None:
        """Stops the run cleanly, from any thread. ``resume`` continues it."""
        self._native.cancel()

    def _waiting(self, wait: Callable[[], W]) -> W:
        try:
            return wait()
        except KeyboardInterrupt:
            self._native.cancel()
            try:
                self._native.answer()
            finally:  # Whatever else happens: an interruption stays one.
                raise Interrupted(self.id) from None


class AsyncRun(Generic[T]):
    """A run for ``async for``. ``await run.answer()`` waits for the end. A thread of its own waits for the engine."""

    def __init__(self, begin: Callable[[], Run[T]]) -> None:
        self._begin = begin
        self._run: Optional[Run[T]] = None
        self._is_cancelled = False
        self._events: Optional[asyncio.Queue[Optional[Event]]] = None
        self._done: Optional[asyncio.Future[Answer[T]]] = None

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._each()

    async def _each(self) -> AsyncIterator[Event]:
        import asyncio

        done = self._started(is_watched=True)
        assert self._events is not None
        try:
            while (event := await self._events.get()) is not None:
                yield event
            await asyncio.shield(done)
        finally:
            # A loop that is left early stops its run.
            self.cancel()

    async def answer(self) -> Answer[T]:
        """Waits for the run to end, and returns its answer. Cancelling the task stops the run."""
        import asyncio

        try:
            return await asyncio.shield(self._started(is_watched=False))
        except asyncio.CancelledError:
            self.cancel()
            raise

    def cancel(self) -> None:
        """Stops the run cleanly. ``resume`` continues it."""
        self._is_cancelled = True
        if self._run is not None:
            self._run.cancel()

    def _started(self, is_watched: bool) -> asyncio.Future[Answer[T]]:
        import asyncio

        if self._done is None:
            loop = asyncio.get_running_loop()
            self._events, self._done = asyncio.Queue(), loop.create_future()
            threading.Thread(target=self._drive, args=(loop, is_watched), name="spelunk-run", daemon=True).start()
        return self._done

    def _drive(self, loop: asyncio.AbstractEventLoop, is_watched: bool) -> None:
        """In its own thread: hands every event to the loop if somebody looks, and the answer at the end."""
        try:
            self._run = self._begin()
            if self._is_cancelled:
                self._run.cancel()
            for event in self._run if is_watched else ():
                if not self._post(loop, event):
                    self._run.cancel()
            self._post(loop, self._run.answer())
        except BaseException as error:  # noqa: BLE001 - It is raised again where the answer is awaited.
            self._post(loop, error)

    def _post(self, loop: asyncio.AbstractEventLoop, news: Union[Event, Answer[T], BaseException]) -> bool:
        try:
            loop.call_soon_threadsafe(self._take, news)
            return True
        except RuntimeError:  # The loop is closed: nobody waits any more.
            return False

    def _take(self, news: Any) -> None:
        assert self._events is not None and self._done is not None
        if isinstance(news, Event):
            self._events.put_nowait(news)
            return
        if isinstance(news, BaseException):
            self._done.set_exception(news)
            # Who only loops over the events does not look at it.
            self._done.exception()
        else:
            self._done.set_result(news)
        self._events.put_nowait(None)
