"""Runs interceptors. With none installed nothing here is called.

A broken interceptor breaks no call: it works on a copy, within a time limit, its result is
checked, and one that fails again and again is removed until the next start. One that is
``required`` is never removed: its failures refuse calls.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import Any

from msgspec.structs import asdict

from ..contracts.conversation import Conversation
from ..contracts.errors import GatewayError
from ..contracts.interceptor import Interceptor
from ..contracts.kinds import Kind
from ..contracts.provider import Call
from ..contracts.wire import Answered, WireFormat
from ..plugins.stopping import is_told_to_stop
from ..plugins.struct_check import misfits
from ..storage.stores.usage import UsageRecord
from .translation import Translation

READ = ("body", "members", "headers", "path", "model")
LIMIT = 5.0
"""Seconds one interceptor may take that declares no other limit."""
MOST = 60.0
MOST_FAILURES = 5
"""Failures in a row after which an interceptor that is not required is left out."""

OnRemoved = Callable[[str, str], None]
"""Takes a plugin's name and what happened to it."""

log = logging.getLogger(__name__)


class Interceptors:
    """The active interceptors, in their order."""

    def __init__(
        self, installed: Sequence[tuple[str, Interceptor]] = (), on_removed: OnRemoved | None = None
    ) -> None:
        """``installed`` holds each with the name of its plugin; ``on_removed`` is called when one
        is removed."""
        self._on_removed = on_removed
        self.active = tuple(GuardedInterceptor(plugin, each) for plugin, each in installed)

    async def before(self, call: Call) -> Call:
        """The call that all of them agree to. Raises GatewayError when one refuses it."""
        for each in self.active:
            try:
                call = await each.before(call)
            except GatewayError:
                each.failures = 0
                raise
            except Failed:
                self._note(each)
                if each.interceptor.required:
                    raise GatewayError("A required check could not be made") from None
        return call

    async def after(self, record: UsageRecord) -> None:
        """Show a finished call to all of them. Its client has the answer already."""
        for each in self.active:
            try:
                await each.after(asdict(record))
            except Failed:
                self._note(each)

    def _note(self, failed: "GuardedInterceptor") -> None:
        if failed.failures < MOST_FAILURES or failed.interceptor.required:
            return
        if failed not in self.active:
            return  # It was removed while it had this call.
        self.active = tuple(each for each in self.active if each is not failed)
        message = f"interceptor {failed.name} failed {MOST_FAILURES} times in a row and is left out"
        log.error("plugin %s: %s until the next start", failed.plugin, message)
        if self._on_removed is not None:
            self._on_removed(failed.plugin, message)


class Failed(Exception):
    """An interceptor failed, and that is logged."""


class GuardedInterceptor:
    """One interceptor, and how often it has failed in a row."""

    def __init__(self, plugin: str, interceptor: Interceptor) -> None:
        self.plugin = plugin
        self.interceptor = interceptor
        self.name = type(interceptor).__name__
        self.failures = 0
        own = getattr(interceptor, "timeout", None)
        self._timeout = min(own, MOST) if isinstance(own, int | float) and own > 0 else LIMIT

    async def before(self, call: Call) -> Call:
        """The call it gives. Raises Failed, and the GatewayError it refuses with."""
        argument = copy(call)
        argument.headers, argument.members = dict(call.headers), dict(call.members)
        result = await self._run(self.interceptor.before, argument)
        fault = find_fault(result, call)
        if fault:
            self.failures += 1
            log.error("plugin %s: interceptor %s: %s", self.plugin, self.name, fault)
            raise Failed
        self.failures = 0
        checked: Call = copy(result)
        # Copies, because the interceptor may keep a reference and change its result later.
        checked.headers = MappingProxyType(dict(result.headers))
        checked.members = dict(result.members)
        checked.key_id, checked.reader, checked.noter = call.key_id, call.reader, call.noter
        return checked

    async def after(self, record: Mapping[str, Any]) -> None:
        """Raises Failed."""
        try:
            await self._run(self.interceptor.after, record)
        except GatewayError:
            log.warning("plugin %s: it is too late to refuse a finished call", self.plugin)
        self.failures = 0

    async def _run(self, method: Callable[[Any], Awaitable[Any]], argument: object) -> Any:
        try:
            async with asyncio.timeout(self._timeout):
                return await method(argument)
        except GatewayError:
            raise
        except BaseException as error:
            if is_told_to_stop(error):
                raise
            self.failures += 1
            log.exception("plugin %s: interceptor %s failed", self.plugin, self.name)
            raise Failed from None


def find_fault(result: object, call: Call) -> str:
    """What is wrong with the result of ``before``; empty when nothing is."""
    if type(result) is not Call:
        return f"before gave {type(result).__name__} and no Call"
    faults = list(misfits(result, Call))
    if faults:
        return f"before gave a Call whose {'; '.join(faults)}"
    if (result.kind, result.format, result.stream) != (call.kind, call.format, call.stream):
        return "before may not change kind, format or stream"
    changed = result.conversation
    if changed is not None and changed is call.conversation:
        if (result.body, dict(result.members)) != (call.body, dict(call.members)):
            return "before changed the body of a call whose conversation is sent in its place"
    elif changed is not None and (call.kind != Kind.LLM or changed.stream != call.stream):
        return "before may set the conversation of chat only, and may not change its stream"
    return ""


class ConversationReader:
    """Reads calls as conversations, again only when something of the call has changed."""

    def __init__(self, formats: Mapping[str, WireFormat]) -> None:
        self._formats = formats
        self._last: Translation | None = None

    def __call__(self, call: Call) -> Conversation | None:
        """``None`` where it is no chat. Raises BadRequest."""
        if call.kind != Kind.LLM:
            return None
        last = self._last or Translation(call, self._formats)
        if any(getattr(last.call, name) != getattr(call, name) for name in READ):
            last = Translation(call, self._formats)
        self._last = last
        try:
            return last.conversation()
        except Answered:  # It asks a model nothing.
            return Conversation(model=call.model, stream=call.stream, dialect=last.client.dialect)
