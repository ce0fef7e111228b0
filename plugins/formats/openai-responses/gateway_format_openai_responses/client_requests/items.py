"""The items of ``input`` to instructions and turns.

A message of a user or a developer is a turn of its own. What the model wrote,
its messages, thinking and calls, is one turn as long as nothing comes between,
and so are the results of tools. An item that only this dialect understands is
kept whole as a foreign part, where it stood.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    BadRequest,
    Foreign,
    Media,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    unseal_id,
)
from gateway_formats.instructions import put_on_texts

from .._dialect import DIALECT, MESSAGE, ON_MESSAGE
from .._namespaces import flat_name
from .._summary import open_summary
from .content import read_content
from .members import ARRAY, TEXT, Members, decode_member, mistyped, opening, rows, unsupported
from .reasoning import read_reasoning

ROLES = ("assistant", "system", "developer", "user")
_COMPLETED = Raw(b'"completed"')


class History:
    """Gathers items into turns, in the order they come."""

    def __init__(self, namespaces: frozenset[str] = frozenset(), *, keeps_ids: bool = False):
        self.instructions: list[Text] = []
        self.turns: list[Turn] = []
        self.compacts = False
        """True when the last item asks for the conversation to be compacted."""
        self._namespaces = namespaces
        self._keeps_ids = keeps_ids
        self._role: Literal["user", "assistant"] = "user"
        self._parts: list[AnyPart] = []

    def read(self, raw: Raw, item: Members) -> None:
        # type is optional for messages and for item references:
        # https://platform.openai.com/docs/api-reference/responses/create#responses-create-input
        kind = item.text("type") or ("message" if "role" in item else "item_reference")
        self.compacts = kind == "compaction_trigger"
        if not self.compacts:
            _READERS.get(kind, History._add_foreign)(self, raw, item, kind)

    def close(self) -> None:
        """End the turn that is open."""
        if self._parts:
            self.turns.append(Turn(self._role, tuple(self._parts)))
            self._parts = []

    def _add(self, role: Literal["user", "assistant"], parts: Iterable[AnyPart]) -> None:
        if role != self._role:
            self.close()
            self._role = role
        self._parts += parts

    def message(self, raw: Raw, item: Members, kind: str) -> None:
        role = item.needed("role")
        # https://platform.openai.com/docs/api-reference/responses/create#responses-create-input
        if role not in ROLES:
            raise unsupported(item.place("role"), role, ROLES)
        parts = read_content(item, "content")
        if role == "assistant":
            extra = self._read_extra(item)
            on_message = {n if n in ON_MESSAGE else MESSAGE + n: raw for n, raw in extra.items()}
            if parts and on_message:
                first = parts[0]
                parts = (replace(first, extra={**first.extra, **on_message}), *parts[1:])
            self._add("assistant", parts)
        elif role == "user":
            self._add_turn(Turn("user", parts, extra=_read_rest(item)))
        else:
            texts = [part for part in parts if isinstance(part, Text)]
            # Instructions after the first turn keep their place in the conversation.
            if self.turns or self._parts or len(texts) < len(parts):
                self._add_turn(Turn("system", parts, extra=_read_rest(item)))
            else:
                self.instructions += put_on_texts(texts, _read_rest(item))

    def _add_turn(self, turn: Turn) -> None:
        self.close()
        self.turns.append(turn)

    def call(self, raw: Raw, item: Members, kind: str) -> None:
        custom = kind == "custom_tool_call"
        # call_id is the only member that every client returns, so it carries the signatures.
        call_id, origin, signature, thinking = unseal_id(item.needed("call_id"))
        name, arguments = item.needed("name"), item.text("input" if custom else "arguments")
        extra = self._read_extra(item)
        if (namespace := item.text("namespace")) in self._namespaces and namespace is not None:
            name = flat_name(namespace, name)
            del extra["namespace"]
        call = ToolCall(
            id=call_id,
            name=name,
            arguments=arguments or "",
            custom=custom,
            signature=signature,
            origin=origin,
            extra=extra,
        )
        self._add("assistant", (*thinking, call))

    def result(self, raw: Raw, item: Members, kind: str) -> None:
        call_id, *_ = unseal_id(item.needed("call_id"))
        pieces = read_content(item, "output")
        content = tuple(piece for piece in pieces if isinstance(piece, Text | Media))
        if len(content) < len(pieces):
            place = item.place("output")
            raise BadRequest(f"'{place}' may hold only texts, images and files.", param=place)
        result = ToolResult(
            call_id=call_id,
            name=item.text("name"),
            content=content,
            custom=kind == "custom_tool_call_output",
            extra=self._read_extra(item),
        )
        self._add("user", (result,))

    def reasoning(self, raw: Raw, item: Members, kind: str) -> None:
        self._add("assistant", read_reasoning(item))

    def compaction(self, raw: Raw, item: Members, kind: str) -> None:
        summary = open_summary(item.text("encrypted_content") or "")
        if summary is None:
            self._add_foreign(raw, item, kind)
        else:
            self._add_turn(Turn("user", (summary,)))

    def image(self, raw: Raw, item: Members, kind: str) -> None:
        """An image the model drew; ``extra`` is what the vendor knows it by."""
        data = item.text("result")
        if not data:
            self._add_foreign(raw, item, kind)
            return
        form = item.text("output_format") or "png"
        media = Media(kind="image", data=data, media_type=f"image/{form}", extra=item.rest())
        self._add("assistant", (media,))

    def _add_foreign(self, raw: Raw, item: Members, kind: str) -> None:
        # Outputs of the client's side belong to the user, everything else to the model.
        # A reference to thinking stands where the model thought.
        is_reference = kind == "item_reference" and not (item.text("id") or "").startswith("rs_")
        mine = kind.endswith(("_output", "_response")) or is_reference
        self._add("user" if mine else "assistant", (Foreign(dialect=DIALECT, type=kind, raw=raw),))

    def _read_extra(self, item: Members) -> dict[str, Raw]:
        """The item's other members. Its id means something only to a vendor that stores items."""
        extra = item.rest()
        # Every item of a finished answer has this status; it tells nothing.
        if extra.get("status") == _COMPLETED:
            del extra["status"]
        if not self._keeps_ids:
            extra.pop("id", None)
        return extra


_READERS: Mapping[str, Callable[[History, Raw, Members, str], None]] = {
    "message": History.message,
    "function_call": History.call,
    "custom_tool_call": History.call,
    "function_call_output": History.result,
    "custom_tool_call_output": History.result,
    "reasoning": History.reasoning,
    "compaction": History.compaction,
    "compaction_summary": History.compaction,
    "context_compaction": History.compaction,
    "image_generation_call": History.image,
}


def read_input(raw: Raw | None, namespaces: frozenset[str]) -> History:
    """Raises BadRequest, which names the member that is wrong."""
    if raw is None:
        return History()
    kind = opening(raw)
    if kind == b'"':
        history = History()
        text = decode_member(raw, TEXT, "input", "a string")
        history.turns.append(Turn("user", (Text(text=text),)))
        return history
    if kind != b"[":
        raise mistyped("input", "a string or an array of objects")
    values = decode_member(raw, ARRAY, "input", "an array")
    items = rows(values, "input")
    # Thinking without its content can be read only by a vendor that stores its items, by its id.
    keeps_ids = any(
        "id" in item
        and "summary" in item
        and "encrypted_content" not in item
        and "content" not in item
        for item in items
    )
    history = History(namespaces, keeps_ids=keeps_ids)
    for value, item in zip(values, items, strict=True):
        history.read(value, item)
    history.close()
    return history


def _read_rest(item: Members) -> dict[str, Raw]:
    """A message's further members; what its vendor called it means nothing any more."""
    extra = item.rest()
    extra.pop("id", None)
    extra.pop("status", None)
    return extra
