"""The messages of a request, read into instructions and turns."""

from collections.abc import Sequence
from typing import Literal, cast

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    unseal_id,
)
from gateway_formats.instructions import put_on_texts

from .._contents import OWN, image_at, read_content, take_cache
from .._history import take_history, take_signature, without_repeats
from .._members import (
    UNREADABLE,
    Members,
    invalid,
    is_list,
    is_text,
    items_of,
    object_of,
    rest,
    take,
    take_items,
    take_object,
    take_text,
    text_of,
)

Read = tuple[tuple[Text, ...], tuple[Turn, ...]]

ROLES = "system, developer, user, assistant, tool, function"


def take_messages(members: Members) -> Read:
    """``messages``, or ``input`` where a client sent that instead. Raises BadRequest."""
    raw = members.get("messages")
    plain = None if raw is None else read_plain_messages(raw)
    if plain is not None:
        del members["messages"]
        return plain
    raw, name = take(members, "messages"), "messages"
    if raw is None:
        raw, name = take(members, "input"), "input"
    if raw is None:
        raise invalid("messages", "is missing")
    if name == "input" and is_text(raw):
        return (), (Turn("user", (Text(text=text_of(raw, name)),)),)
    if not is_list(raw):
        raise invalid(name, "must be an array")
    return read_messages(items_of(raw, name), name)


class _PlainText(Struct, forbid_unknown_fields=True, gc=False, tag_field="type", tag="text"):
    text: str


class _PlainAddress(Struct, forbid_unknown_fields=True, gc=False):
    url: str
    detail: Literal["auto", "low", "high"] | None = None


class _PlainImage(Struct, forbid_unknown_fields=True, gc=False, tag_field="type", tag="image_url"):
    image_url: _PlainAddress


class _PlainMessage(Struct, forbid_unknown_fields=True, gc=False):
    """A message of nothing but text and images, as most are.

    It is read at once: member by member, an image is gone through once more for each object that
    it is in.
    """

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[_PlainText | _PlainImage]


_plain = msgspec.json.Decoder(list[_PlainMessage])


def read_plain_messages(raw: Raw) -> Read | None:
    """What :func:`read_messages` gives, where every message is plain; ``None`` elsewhere.

    Saves 13 % of the instructions of a translated plain answer (benchmarks/short-cuts-openai.md).
    """
    try:
        messages = _plain.decode(raw)
    except UNREADABLE:
        return None
    instructions: tuple[Text, ...] = ()
    turns: list[Turn] = []
    for message in messages:
        role, content = message.role, message.content
        if isinstance(content, str):
            parts: tuple[AnyPart, ...] = (Text(text=content),) if content else ()
        elif role != "user":
            return None
        elif any(isinstance(part, _PlainImage) and not part.image_url.url for part in content):
            return None  # an image without an address is refused, by the reading that names it
        else:
            parts = tuple(
                Text(text=part.text)
                if isinstance(part, _PlainText)
                else image_at(part.image_url.url, part.image_url.detail)
                for part in content
            )
        if role == "user" or role == "assistant":
            turns.append(Turn(role, parts))
        elif turns:
            turns.append(Turn("system", parts))
        else:
            instructions += cast(tuple[Text, ...], parts)
    return (instructions, tuple(turns)) if messages else None


def read_messages(items: Sequence[Raw], name: str = "messages") -> Read:
    if not items:
        raise invalid(name, "must not be empty")
    reader = _Reader()
    for index, raw in enumerate(items):
        where = f"{name}[{index}]"
        reader.take(object_of(raw, where), where, index)
    return tuple(reader.instructions), tuple(reader.turns)


class _Reader:
    """Takes one message after another, and pairs results that name no call with their calls."""

    def __init__(self) -> None:
        self.instructions: list[Text] = []
        self.turns: list[Turn] = []
        self._waiting: list[ToolCall] = []
        self._in_results = False

    def take(self, members: Members, where: str, index: int) -> None:
        role = take_text(members, "role", f"{where}.")
        if role is None:
            raise invalid(f"{where}.role", "is missing")
        members.pop("type", None)  # some clients mark each message as being one
        if role in ("tool", "function"):
            self._take_result(members, where)
            return
        self._in_results = False
        if role in ("system", "developer", "user"):
            parts = read_content(take(members, "content"), f"{where}.content")
            texts = [part for part in parts if isinstance(part, Text)]
            if role != "user" and not self.turns and len(texts) == len(parts):
                cache = take_cache(members)
                self.instructions += put_on_texts(texts, rest(members), cache=cache)
                return
            name = take_text(members, "name", f"{where}.")
            turn = Turn("user" if role == "user" else "system", parts, name, rest(members))
            self.turns.append(turn)
        elif role == "assistant":
            turn = _read_assistant_turn(members, where, index)
            self._waiting = [part for part in turn.parts if isinstance(part, ToolCall)]
            self.turns.append(turn)
        else:
            raise invalid(f"{where}.role", f"must be one of {ROLES}, not {role!r}")

    def _take_result(self, members: Members, where: str) -> None:
        parts = read_content(take(members, "content"), f"{where}.content")
        name = take_text(members, "name", f"{where}.")
        sealed_id = take_text(members, "tool_call_id", f"{where}.")
        call_id = unseal_id(sealed_id)[0] if sealed_id else ""
        # A result without an id belongs to the first waiting call of its name, or to the first.
        fitting = (
            call
            for call in self._waiting
            if (call.id == call_id if call_id else name is None or call.name == name)
        )
        call = next(fitting, None)
        if call is not None:
            self._waiting.remove(call)
        if not sealed_id and call is None:
            raise invalid(f"{where}.tool_call_id", "is missing")
        content: list[Text | Media] = []
        for part in parts:
            if not isinstance(part, Text | Media):
                # A result holds only text and media; anything else becomes its text or its JSON.
                text = getattr(part, "text", None)
                part = Text(text=text or bytes(getattr(part, "raw", b"")).decode(errors="replace"))
            content.append(part)
        result = ToolResult(
            call_id=call.id if call is not None else call_id,
            name=name,
            content=tuple(content),
            custom=call is not None and call.custom,
            extra=rest(members),
        )
        if self._in_results:  # results that follow one another are one turn
            last = self.turns[-1]
            self.turns[-1] = replace(last, parts=(*last.parts, result))
        else:
            self.turns.append(Turn("user", (result,)))
        self._in_results = True


def _read_assistant_turn(members: Members, where: str, index: int) -> Turn:
    name = take_text(members, "name", f"{where}.")
    history = take_history(members, where)
    signature = take_signature(members)
    content = read_content(take(members, "content"), f"{where}.content")
    calls, sealed = _take_calls(members, where, index)
    shown = without_repeats((*history, *content), [part for group in sealed for part in group])
    parts: list[AnyPart] = [*sealed[0], *shown] if sealed else shown
    if refusal := take_text(members, "refusal", f"{where}."):
        parts.append(Refusal(text=refusal))
    if audio := take_object(members, "audio", f"{where}."):
        # A spoken answer goes back by the id under which its vendor keeps it:
        # https://platform.openai.com/docs/guides/audio
        file_id = take_text(audio, "id", f"{where}.audio.")
        if file_id is None:
            raise invalid(f"{where}.audio.id", "is missing")
        parts.append(Media(kind="audio", file_id=file_id, origin=OWN, extra=rest(audio)))
    for number, call in enumerate(calls):
        parts += sealed[number] if number else ()
        parts.append(call)
    for member in ("annotations", "images"):  # clients echo the empty lists of earlier answers
        raw = members.get(member)
        if raw is not None and is_list(raw) and not items_of(raw, member):
            del members[member]
    if signature is not None:
        # A signature of the whole message belongs to its text, or else to its first unsigned call.
        unsigned = (
            position
            for kind in (Text, ToolCall)
            for position, part in enumerate(parts)
            if isinstance(part, kind) and part.signature is None
        )
        position = next(unsigned, None)
        if position is not None:
            parts[position] = replace(parts[position], signature=signature, origin=OWN)
    return Turn("assistant", tuple(parts), name, rest(members))


def _take_calls(
    members: Members, where: str, index: int
) -> tuple[list[ToolCall], list[tuple[Reasoning, ...]]]:
    """The calls of a message, and the sealed thinking that each one's id carries."""
    calls: list[ToolCall] = []
    sealed: list[tuple[Reasoning, ...]] = []
    for number, raw in enumerate(take_items(members, "tool_calls", f"{where}.") or ()):
        path = f"{where}.tool_calls[{number}]"
        item, default_id = object_of(raw, path), f"call_{index}_{number}"
        sealed_id = take_text(item, "id", f"{path}.") or default_id
        call_id, origin, signature, thinking = unseal_id(sealed_id)
        own = take_signature(item)
        if signature is None and own is not None:
            signature, origin = own, OWN
        kind = take_text(item, "type", f"{path}.")
        item.pop("index", None)  # echoed from a stream; the list's order says the same
        custom = take_object(item, "custom", f"{path}.")
        if custom is not None or kind == "custom":
            name = take_text(custom or {}, "name", f"{path}.custom.")
            arguments = take_text(custom or {}, "input", f"{path}.custom.") or ""
        else:
            function = take_object(item, "function", f"{path}.")
            if function is None:
                raise invalid(f"{path}.function", "is missing")
            name, arguments = _take_function(function, f"{path}.function")
        if not name:
            raise invalid(f"{path}.custom.name", "is missing")
        calls.append(
            ToolCall(
                id=call_id or default_id,
                name=name,
                arguments=arguments,
                custom=custom is not None,
                signature=signature,
                origin=origin if signature is not None else "",
                extra=rest(item),
            )
        )
        sealed.append(thinking)
    if function := take_object(members, "function_call", f"{where}."):
        name, arguments = _take_function(function, f"{where}.function_call")
        calls.append(ToolCall(id=f"call_{index}_{len(calls)}", name=name, arguments=arguments))
        sealed.append(())
    return calls, sealed


def _take_function(function: Members, where: str) -> tuple[str, str]:
    """A name, and arguments as JSON text; some clients send the arguments as an object."""
    name = take_text(function, "name", f"{where}.")
    if not name:
        raise invalid(f"{where}.name", "is missing")
    raw = take(function, "arguments")
    if raw is None:
        return name, ""
    return name, text_of(raw, where) if is_text(raw) else bytes(raw).decode(errors="replace")
