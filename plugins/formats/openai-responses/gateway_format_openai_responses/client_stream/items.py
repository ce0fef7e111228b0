"""Output items while the gateway writes them.

An item is added when its first part starts and is done when its parts have
ended and another item has begun, or the answer is over: only then is it known
whether the answer was cut short within it.
"""

from collections.abc import Mapping
from typing import Protocol

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import Citation, Foreign, Losses, Media, Reasoning, ToolCall, seal_id

from .._dialect import NULL
from .._frames import Frames, opening
from .._output_items import kind_of
from .._reasoning import pack
from .custom_tools import unwrap
from .pieces import SUMMARY, THINKING, Piece, PlainPiece, TextPiece, refusal

_encode = msgspec.json.Encoder().encode

COMPLETED = b"completed"
INCOMPLETE = b"incomplete"
IN_PROGRESS = b"in_progress"


class Item(Protocol):
    """An item of ``output``."""

    def is_whole(self) -> bool:
        """Whether every part of it has ended."""
        ...

    def end(self, out: Frames) -> None:
        """End the parts that are still open."""
        ...

    def write(self, status: bytes) -> bytes:
        """The item as JSON."""
        ...


def place(identity: bytes, index: int) -> bytes:
    """The members by which an event names its item."""
    return b'"item_id":%b,"output_index":%d' % (identity, index)


class Message:
    """A message; texts and refusals that follow one another are pieces of one."""

    def __init__(self, identity: str, index: int, extra: Mapping[str, Raw], losses: Losses) -> None:
        self._id = _encode(identity)
        self._place = place(self._id, index)
        self._extra = _write_members(extra, ("phase",))
        self._losses = losses
        self._pieces: list[TextPiece | PlainPiece] = []

    def piece(self, *, refused: bool, out: Frames) -> Piece:
        index = len(self._pieces)
        new: TextPiece | PlainPiece
        if refused:
            new = PlainPiece(refusal(index), self._place)
        else:
            new = TextPiece(self._place, index, self._losses)
        new.begin(out)
        self._pieces.append(new)
        return new

    def is_whole(self) -> bool:
        return all(piece.ended for piece in self._pieces)

    def end(self, out: Frames) -> None:
        for piece in self._pieces:
            if not piece.ended:
                piece.end(out)

    def write(self, status: bytes) -> bytes:
        # An added item is empty; its content follows in events:
        # https://platform.openai.com/docs/api-reference/responses-streaming/response/output_item/added
        content = b"" if status == IN_PROGRESS else b",".join(p.content() for p in self._pieces)
        return (b'{"id":%b,"type":"message","status":"%b","role":"assistant","content":[%b]%b}') % (
            self._id,
            status,
            content,
            self._extra,
        )


class Thought:
    """A reasoning item. Its signature, of any vendor, travels in ``encrypted_content``.

    Thinking that is no summary is written as one with ``is_summary``; in ``encrypted_content`` it
    stays what it is.
    """

    def __init__(self, identity: str, index: int, part: Reasoning, *, is_summary: bool) -> None:
        self._id = _encode(identity)
        self._part = part
        self._is_summary = is_summary
        self.piece = PlainPiece(SUMMARY if is_summary else THINKING, place(self._id, index))

    def seal(self, signature: str | None, sealed: str | None, origin: str) -> None:
        self._part = replace(
            self._part,
            signature=self._part.signature if signature is None else signature,
            sealed=self._part.sealed if sealed is None else sealed,
            origin=origin,
        )

    def is_whole(self) -> bool:
        return self.piece.ended

    def end(self, out: Frames) -> None:
        if not self.piece.ended:
            self.piece.end(out)

    def write(self, status: bytes) -> bytes:
        head = b'{"id":%b,"type":"reasoning","status":"%b"' % (self._id, status)
        if status == IN_PROGRESS:
            return head + b',"summary":[]}'
        part = replace(self._part, text=self.piece.text())
        proof = _encode(pack(part))
        text = self.piece.content() if part.text else b""
        if self._is_summary:
            return b'%b,"summary":[%b],"encrypted_content":%b}' % (head, text, proof)
        return b'%b,"summary":[],"content":[%b],"encrypted_content":%b}' % (head, text, proof)


class CallItem:
    """A call of the client's function, or of its custom tool.

    ``wrapped`` is for a custom tool that the vendor called as a function: its
    text is known once its arguments are whole.
    """

    def __init__(
        self,
        identity: str,
        index: int,
        call: ToolCall,
        namespaced: tuple[str, str] | None,
        *,
        wrapped: bool = False,
    ) -> None:
        self._id = _encode(identity)
        self._custom = call.custom
        self._wrapped = wrapped
        kind, member = _WORDS[call.custom]
        self._place = place(self._id, index)
        self._kind, self._member = kind, member
        self._delta = opening(f"{kind}.delta", self._place) + b',"delta":'
        self._texts: list[str] = []
        extra = dict(call.extra)
        name = call.name
        if namespaced is not None:
            extra["namespace"], name = Raw(_encode(namespaced[0])), namespaced[1]
        # Clients return call_id unchanged, so the call's signature travels in it.
        call_id = seal_id(call.id, call.origin, call.signature, ())
        self._call_members = b'"call_id":%b,"name":%b%b' % (
            _encode(call_id),
            _encode(name),
            _write_members(extra, ("namespace", "caller")),
        )
        self.ended = False

    def grow(self, text: str, logprobs: Raw | None, out: Frames) -> None:
        self._texts.append(text)
        if not self._wrapped:
            out.add(self._delta, _encode(text))

    def cite(self, citation: Citation) -> None:
        """Nothing here can be cited."""

    def is_whole(self) -> bool:
        return self.ended

    def end(self, out: Frames) -> None:
        if self.ended:
            return
        if self._wrapped:
            self._wrapped = False
            text = unwrap("".join(self._texts))
            self._texts.clear()
            if text:
                self.grow(text, None, out)
        elif not self._texts and not self._custom:
            self.grow("{}", None, out)  # Clients parse the arguments as JSON.
        self.ended = True
        whole = b',"%b":%b' % (self._member, _encode("".join(self._texts)))
        out.add(opening(f"{self._kind}.done", self._place + whole))

    def write(self, status: bytes) -> bytes:
        kind = b"custom_tool_call" if self._custom else b"function_call"
        text = "" if status == IN_PROGRESS else "".join(self._texts)
        return b'{"id":%b,"type":"%b","status":"%b",%b,"%b":%b}' % (
            self._id,
            kind,
            status,
            self._call_members,
            self._member,
            _encode(text),
        )


_WORDS = {
    False: ("response.function_call_arguments", b"arguments"),
    True: ("response.custom_tool_call_input", b"input"),
}


class Finished:
    """An item that comes whole: an image, or one that only this dialect understands."""

    def __init__(self, written: bytes) -> None:
        self._written = written

    def is_whole(self) -> bool:
        return True

    def end(self, out: Frames) -> None:
        """It never was open."""

    def write(self, status: bytes) -> bytes:
        return self._written


def foreign(part: Foreign) -> Finished:
    return Finished(bytes(part.raw))


def image(identity: str, part: Media) -> Finished:
    """An image the model drew, as the vendor's own tool gives it."""
    members: dict[str, object] = {"id": identity, "type": "image_generation_call"}
    members |= {"status": "completed", "result": part.data}
    form = (part.media_type or "").removeprefix("image/")
    if form:
        members["output_format"] = form
    if "id" in part.extra:
        members |= part.extra
    return Finished(_encode(members))


def _write_members(extra: Mapping[str, Raw], names: tuple[str, ...]) -> bytes:
    """Those members that this dialect knows, each with a comma before it.

    A part does not say whose its members are, so a value must have the shape it has here.
    """
    written = b""
    for name in names:
        raw = extra.get(name, NULL)
        # caller is an object that names who made the call; the other members are strings.
        try:
            has_shape = kind_of(raw) in _CALLERS if name == "caller" else bytes(raw)[:1] == b'"'
        except msgspec.MsgspecError:
            continue
        if has_shape:
            written += b",%b:%b" % (_encode(name), bytes(raw))
    return written


_CALLERS = ("direct", "program")
