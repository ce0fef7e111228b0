"""Answers questions with what was answered before (``gateway_filters.sources.AnswerSource``).

```text
question ── wish, scope ──▶ name ──▶ kept? ──▶ under way? ──▶ similar? ──▶ vendor ──▶ kept
```
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway_core import Call, GatewayError
from gateway_filters.plugin_gateway import PluginGateway, glob, names_of_target
from gateway_filters.shelf import Shelf
from gateway_filters.sources import Question, SourcedAnswer

from .answers import BYPASSED, Followed, Hit
from .flights import Flight, Flights
from .kept import Kept, read_kept
from .naming import name_of, name_of_similar, without_last_text
from .settings import Settings
from .similar import Compared, compare
from .wish import Wish, read_wish


class NotKept(GatewayError):
    """The client wants an answer that is kept, and there is none (RFC 9111, section 5.2.1.7)."""

    status, code = 504, "answer_not_kept"


class AnswerCache:
    """The cache. As an interceptor it lets every call pass: it answers later, once policy and
    limits have let a call in."""

    order, required = 1000, False
    _gateway: PluginGateway
    _shelf: Shelf
    _settings = Settings()

    def __init__(self) -> None:
        self._flights = Flights()
        self._is_connected = False

    def connect(self, gateway: PluginGateway) -> None:
        self._gateway, self._shelf = gateway, gateway.shelf(_discard)
        self._is_connected = True
        gateway.answer_with(self)

    @property
    def is_idle(self) -> bool:
        return not self._is_connected or not self._in_force().enabled

    async def before(self, call: Call) -> Call:
        return call

    async def after(self, record: Mapping[str, Any]) -> None: ...

    async def answer(self, question: Question) -> SourcedAnswer | None:
        """Raises NotKept, BadRequest."""
        settings, wish = self._in_force(), read_wish(question.call.headers)
        if not _is_named(settings.models, question):
            return None
        if not (wish.reads or wish.keeps) or not _can_be_kept(question, settings):
            if wish.only:
                raise NotKept("No answer to this request is kept")
            return BYPASSED
        scope = await self._scope(question.call, settings)
        name = name_of(question, scope)
        kept = await self._find(name, settings, wish) if wish.reads else None
        if kept is not None:
            return self._hit(question.call, kept)
        if wish.only:
            raise NotKept("No answer to this request is kept")
        if not wish.reads:
            return Followed(question, name, settings, self._shelf, self._gateway.now)
        flight = await self._flights.join(name)
        if isinstance(flight, bytes):
            return self._hit(question.call, Kept(flight.decode(), self._gateway.now()))
        try:
            return await self._lead(question, scope, name, settings, wish, flight)
        except BaseException:
            if flight is not None:
                flight.land(None)
            raise

    async def _lead(
        self,
        question: Question,
        scope: str,
        name: str,
        settings: Settings,
        wish: Wish,
        flight: Flight | None,
    ) -> SourcedAnswer:
        """Answer by a kept answer after all, or have the vendor answer for all who wait."""
        # Another request's may have been kept since this one looked.
        kept = None if flight is None else await self._find(name, settings, wish)
        compared = None if kept is not None else await self._compare(question, scope, settings)
        if compared is not None:
            similar, nearness = compared.best()
            if nearness >= settings.similar_threshold:
                kept = await self._find(similar, settings, wish)
            if kept is not None:
                question.call.note(f"cache: similar by {nearness:.3f}")
        if kept is None:
            now = self._gateway.now
            return Followed(question, name, settings, self._shelf, now, compared, flight)
        if flight is not None:
            flight.land(kept.body.encode())
            flight.leave()
        return self._hit(question.call, kept)

    def _hit(self, call: Call, kept: Kept) -> Hit:
        call.note("cache")
        if kept.input_tokens or kept.output_tokens:
            call.note(f"cache: saved {kept.input_tokens} input, {kept.output_tokens} output tokens")
        return Hit(kept.body.encode(), max(0.0, self._gateway.now() - kept.at))

    async def _find(self, name: str, settings: Settings, wish: Wish) -> Kept | None:
        text = await self._shelf.find(name)
        kept = None if text is None else read_kept(text)
        if kept is None:
            return None
        oldest = settings.ttl_seconds if wish.max_age is None else wish.max_age
        age = self._gateway.now() - kept.at
        return kept if age < min(oldest, settings.ttl_seconds) else None

    async def _compare(self, question: Question, scope: str, settings: Settings) -> Compared | None:
        if not settings.embedding_model or not _is_named(settings.similar_for, question):
            return None
        text, rest = without_last_text(question.conversation)
        if not text:
            return None
        group = name_of_similar(question, scope, rest)
        return await compare(self._gateway, self._shelf, settings, group, text)

    async def _scope(self, call: Call, settings: Settings) -> str:
        """Names those who share answers."""
        if settings.scope == "all":
            return "all"
        if settings.scope == "group":
            labels = await self._gateway.labels_of_key(call)
            if labels:
                return f"groups {sorted(labels)}"
        return "no key" if call.key_id is None else f"key {call.key_id}"

    def _in_force(self) -> Settings:
        settings = self._gateway.settings
        return settings if isinstance(settings, Settings) else self._settings


def _discard(database: Path) -> None:
    """Remove a database with its log."""
    for path in database.parent.glob(f"{database.name}*"):
        path.unlink()


def _is_named(names: tuple[str, ...], question: Question) -> bool:
    if "*" in names:
        return True
    known = names_of_target(question.call, question.target)
    return any(glob(pattern)(name) for pattern in names for name in known)


def _can_be_kept(question: Question, settings: Settings) -> bool:
    """Whether the same request may be answered with the same answer."""
    conversation = question.conversation
    # What a vendor stores may change, and its own tools do more than answer.
    if conversation.elsewhere or any(tool.hosted for tool in conversation.tools):
        return False
    return (conversation.sampling.temperature or 0) <= settings.max_temperature
