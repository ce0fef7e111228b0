"""What a session with a chat model holds: its configuration and the items of the conversation.

Nothing here waits or writes. A client event is read whole or refused whole.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gateway_core.contracts.errors import INVALID

from .events import new_id

AUDIO = "audio"
MAX_BYTES = 4 * 1024 * 1024
"""Bytes of text that the items of a session have together: more than any model reads."""
_TEXTS = frozenset({"text", "input_text", "output_text"})
Role = Literal["user", "assistant", "system"]


class EventRefused(Exception):
    """A client event that is not obeyed; ``code`` and a sentence for the client."""

    def __init__(self, message: str, code: str = INVALID) -> None:
        super().__init__(message)
        self.message, self.code = message, code


class SessionUpdate(Struct, frozen=True):
    """The members of ``session`` that count; all others are ignored."""

    model: Annotated[str, Meta(min_length=1)] | UnsetType = UNSET
    instructions: str | UnsetType = UNSET
    modalities: list[Literal["text", "audio"]] | UnsetType = UNSET
    temperature: Annotated[float, Meta(ge=0.6, le=1.2)] | UnsetType = UNSET
    max_output_tokens: Annotated[int, Meta(ge=1, le=4096)] | UnsetType = UNSET


class SessionView(Struct, frozen=True, kw_only=True):
    """A session as its client sees it, and what a response is made with."""

    id: str
    model: str
    instructions: str = ""
    modalities: tuple[str, ...] = ("text",)
    temperature: float | None = None
    """``None`` is the vendor's own."""
    max_output_tokens: int | None = None


class Item(Struct, frozen=True):
    """One message of the conversation."""

    id: str
    type: str
    role: Role
    content: Any
    """A text, or parts as the client sent them."""


class _Part(Struct):
    type: str
    text: str


class _NewItem(Struct):
    type: Literal["message"] = "message"
    role: Role = "user"
    content: str | list[_Part] = ""


class Session:
    """One session."""

    def __init__(self, model: str, max_items: int) -> None:
        self.view = SessionView(id=new_id("sess"), model=model)
        self._max_items = max_items
        self._items: dict[str, tuple[Item, str]] = {}
        """By id, in order: the item, and its text."""
        self._size = 0

    @property
    def has_user_turn(self) -> bool:
        return any(item.role == "user" for item, _ in self._items.values())

    def update(self, members: object) -> None:
        """Apply an update whole. Raises EventRefused."""
        self.view = updated(self.view, members)

    def add(self, members: object) -> Item:
        """Add an item that the client sends. Raises EventRefused."""
        try:
            new = msgspec.convert(members, _NewItem)
        except msgspec.ValidationError as error:
            raise EventRefused(f"The item is malformed: {error}") from None
        if isinstance(new.content, str):
            text, content = new.content, new.content
        else:
            foreign = [part.type for part in new.content if part.type not in _TEXTS]
            if foreign:
                raise EventRefused(f"A part of type {foreign[0]} cannot be sent: text only")
            text = "".join(part.text for part in new.content)
            content = msgspec.to_builtins(new.content)
        item = Item(new_id("item"), "message", new.role, content)
        self.keep(item, text)
        return item

    def keep(self, item: Item, text: str) -> None:
        """Append an item, and drop the oldest that are no system messages for it. Raises
        EventRefused if that is not enough."""
        size = len(text.encode())
        spare = [id for id, (each, _) in self._items.items() if each.role != "system"]
        fits = size <= MAX_BYTES
        while len(self._items) >= self._max_items or self._size + size > MAX_BYTES:
            if not spare or not fits:
                message = "The session is full, and its system messages are kept"
                raise EventRefused(message, "session_item_limit")
            _, dropped = self._items.pop(spare.pop(0))
            self._size -= len(dropped.encode())
        self._items[item.id] = item, text
        self._size += size

    def request(self, view: SessionView) -> dict[str, Any]:
        """The chat completion that continues the conversation."""
        messages = [
            {"role": item.role, "content": text} for item, text in self._items.values() if text
        ]
        if view.instructions:
            messages.insert(0, {"role": "system", "content": view.instructions})
        body: dict[str, Any] = {
            "model": view.model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if view.temperature is not None:
            body["temperature"] = view.temperature
        if view.max_output_tokens is not None:
            body["max_tokens"] = view.max_output_tokens
        return body


def updated(view: SessionView, members: object) -> SessionView:
    """A session with some of its members changed. Raises EventRefused."""
    if not isinstance(members, dict):
        raise EventRefused("There is no session object", "invalid_session_update")
    try:
        change = msgspec.convert(members, SessionUpdate)
    except msgspec.ValidationError as error:
        raise EventRefused(
            f"The session is not changed: {error}", "invalid_session_update"
        ) from None
    fields: Mapping[str, Any] = {
        name: value
        for name in SessionUpdate.__struct_fields__
        if (value := getattr(change, name)) is not UNSET
    }
    if "modalities" in fields:
        fields = {**fields, "modalities": tuple(dict.fromkeys(fields["modalities"]))}
    return msgspec.structs.replace(view, **fields)
