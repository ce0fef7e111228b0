"""Calls a filter of a plugin so that it cannot break an answer by itself.

It has a time limit and its results are checked. Where it fails, the answer goes on without it, or
ends with an error if the filter is required.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from gateway_core import (
    AnswerCheck,
    AnswerFilter,
    Call,
    GatewayError,
    PartGrew,
    Reply,
    StopAnswer,
    StreamEvent,
    Target,
)
from gateway_core.plugins.stopping import is_told_to_stop
from gateway_core.plugins.struct_check import check_of, misfits

T = TypeVar("T")

LONGEST_CHECK = 60.0
"""Seconds that a filter may look at a piece of an answer, whatever it declares."""
LONGEST_LOOK = 16384
"""Characters of a text that a filter may hold back, whatever it declares."""

log = logging.getLogger(__name__)


class GuardedFilter:
    """One filter, and how often it has failed in a row."""

    def __init__(
        self, plugin: str, each: AnswerFilter, on_failure: "Callable[[GuardedFilter], None]"
    ) -> None:
        self.plugin, self._filter, self._on_failure = plugin, each, on_failure
        self.name = type(each).__name__
        self.is_required = each.required
        self.look_ahead = min(max(each.look_ahead, 0), LONGEST_LOOK)
        self._timeout = min(each.timeout, LONGEST_CHECK)
        self.failures = 0

    @property
    def is_idle(self) -> bool:
        """It wants to see no answer now."""
        return says_idle(self._filter)

    def open(self, call: Call, target: Target) -> "GuardedCheck | None":
        """``None`` where it lets the answer pass. Raises the GatewayError it refuses with."""
        try:
            check = self._filter.open(call, target)
        except GatewayError:
            raise
        except BaseException as error:
            if is_told_to_stop(error):
                raise
            return self._fail("open failed", None, is_raised=True)
        if check is not None and not check_of(AnswerCheck)(check):
            return self._fail(f"open gave {type(check).__name__} and no AnswerCheck", None)
        return None if check is None else GuardedCheck(self, check)

    async def run(
        self, work: Callable[[], Awaitable[T]], find_fault: Callable[[T], str], usual: T
    ) -> tuple[T, bool]:
        """What a check gives, and whether it did; ``usual`` where it failed.

        Raises what the check ends the answer with, and GatewayError where it is required and
        failed.
        """
        try:
            async with asyncio.timeout(self._timeout):
                result = await work()
            fault = find_fault(result)
        except (GatewayError, StopAnswer):
            self.failures = 0
            raise
        except BaseException as error:
            if is_told_to_stop(error):
                raise
            return self._fail("it failed", usual, is_raised=True), False
        if fault:
            return self._fail(fault, usual), False
        self.failures = 0
        return result, True

    def _fail(self, fault: str, usual: T, *, is_raised: bool = False) -> T:
        self.failures += 1
        log.error("plugin %s: filter %s: %s", self.plugin, self.name, fault, exc_info=is_raised)
        self._on_failure(self)
        if self.is_required:
            raise GatewayError("A required check could not be made") from None
        return usual


class GuardedCheck:
    """A filter's look at one answer. After a failure it sees no more of it."""

    def __init__(self, guard: GuardedFilter, check: AnswerCheck) -> None:
        self.plugin, self.look_ahead = guard.plugin, guard.look_ahead
        self._guard, self._check = guard, check
        self.is_active = True

    async def reply(self, reply: Reply) -> Reply:
        """The reply to go on with."""
        result, _ = await self._guard.run(lambda: self._check.reply(reply), reply_fault, reply)
        return result

    async def events(
        self, events: Sequence[StreamEvent], *, is_last: bool
    ) -> Sequence[StreamEvent]:
        """The events to go on with."""
        result, self.is_active = await self._guard.run(
            lambda: self._check.events(tuple(events), is_last=is_last),
            lambda changed: events_fault(events, changed),
            events,
        )
        return result


def says_idle(of_plugin: object) -> bool:
    """Whether an interceptor or filter wants to see nothing now. One that fails to say so sees
    all."""
    try:
        return getattr(of_plugin, "is_idle", False) is True
    except Exception:
        return False


def reply_fault(reply: object) -> str:
    """What is wrong with the result of ``reply``; empty when nothing is."""
    if type(reply) is not Reply:
        return f"reply gave {type(reply).__name__} and no Reply"
    return "; ".join(f"reply gave a Reply whose {fault}" for fault in misfits(reply, Reply))


def events_fault(events: Sequence[StreamEvent], changed: object) -> str:
    """What is wrong with the result of ``events``; empty when nothing is."""
    if not isinstance(changed, list | tuple) or len(changed) != len(events):
        return "events has to give as many events as it got"
    for event, other in zip(events, changed, strict=True):
        if other is event or (type(other) is PartGrew and _is_growth(event, other)):
            continue
        if type(other) is not type(event) or other != event:
            return "events may change the text of a PartGrew only"
    return ""


def _is_growth(event: StreamEvent, other: PartGrew) -> bool:
    same = type(event) is PartGrew and (event.index, event.choice) == (other.index, other.choice)
    return same and isinstance(other.text, str)
