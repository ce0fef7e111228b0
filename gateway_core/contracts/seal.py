"""Carrying one vendor's proof through another format's client and back.

A vendor that thinks wants its signed or encrypted thinking back, unchanged,
with the next request of the same tool loop. A client of another format has no
slot for it. So the gateway writes it into a value that every client returns
as it got it: a signature slot of the client's own dialect, or the id of the
tool call that followed. Nothing is remembered, so it survives restarts and
works with any number of processes. Nothing secret is added: the values are
the vendor's own, and the vendor checks them itself.
"""

import base64
import zlib
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from .conversation import NOTHING, Reasoning

MARK = "_gwS1_"
"""Six ASCII characters, so that their base64 is a fixed prefix too."""
MARKS = (MARK.encode(), base64.b64encode(MARK.encode()))
"""What a body holds when any value in it was sealed here."""
_BEGIN = MARKS[1][:1]

_QUOTED = b'"' + MARKS[1]
"""That one is only found where a value begins: nothing stands before it in its slot."""
_SIGNS, _QUOTED_SIGNS = b"_S", b'"X'
"""Bytes of each mark that are rare in a long body: one in a file's base64, one in prose."""

_LONG = 512
_LONG_BODY = 16 * 1024
_FEW, _SELDOM = 32, 16 * 1024
"""A byte that stands there a few times, and once in so many more, is quickly seen each time."""


class _Sealed(msgspec.Struct, array_like=True, frozen=True):
    origin: str
    signature: str | None
    reasoning: tuple[Reasoning, ...]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Sealed).decode


def is_marked(body: bytes) -> bool:
    """Whether a request body holds a sealed value and so cannot be passed through."""
    if len(body) < _LONG_BODY:
        if body.rfind(MARKS[0]) >= 0:
            return True
        # Few bodies hold the letter that the other one begins with, which is quickly missed.
        return body.find(_BEGIN) >= 0 and body.rfind(_QUOTED) >= 0
    return _holds(body, MARKS[0], _SIGNS) or _holds(body, _QUOTED, _QUOTED_SIGNS)


def _holds(body: bytes, mark: bytes, signs: bytes) -> bool:
    """Whether a long body holds a mark.

    A single byte is looked for many times as fast as several, unless it is found too often.
    """
    begin = 0
    for sign in signs:
        behind = mark.index(sign)
        for _ in range(_FEW + len(body) // _SELDOM):
            begin = body.find(sign, begin + behind) - behind
            if begin < 0:
                return False
            if body.startswith(mark, begin):
                return True
            begin += 1
    # From its end, because that way a long body is looked through several times as fast.
    return body.rfind(mark, begin) >= 0


def seal(origin: str, value: str) -> str:
    """A vendor's signature with the name of the one who can read it."""
    return f"{MARK}{origin}:{value}"


def unseal(text: str) -> tuple[str, str] | None:
    """The origin and the signature, or ``None`` for a value that was not sealed here."""
    if not text.startswith(MARK):
        return None
    origin, colon, value = text[len(MARK) :].partition(":")
    return (origin, value) if colon else None


def seal_base64(origin: str, value: str) -> str:
    """As :func:`seal`, for a slot whose clients insist on base64."""
    return base64.b64encode(seal(origin, value).encode()).decode()


def unseal_base64(text: str) -> tuple[str, str] | None:
    if not text.startswith(MARKS[1].decode()):
        return None
    try:
        return unseal(base64.b64decode(text, validate=True).decode())
    except ValueError:
        return None


def seal_id(
    call_id: str, origin: str, signature: str | None, reasoning: Sequence[Reasoning]
) -> str:
    """A tool call's id that also carries its signature and the thinking before it.

    Only letters, digits, ``-`` and ``_`` are added. An id with nothing to carry stays as it is.
    """
    if signature is None and not reasoning:
        return call_id
    plain = (replace(part, extra=NOTHING) for part in reasoning)  # raw JSON cannot be packed
    packed = _encode(_Sealed(origin, signature, tuple(plain)))
    packed = b"z" + zlib.compress(packed, 1) if len(packed) > _LONG else b"r" + packed
    return f"{call_id}{MARK}{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def unseal_id(text: str) -> tuple[str, str, str | None, tuple[Reasoning, ...]]:
    """The plain id, the origin, the signature and the thinking; empty when none was sealed."""
    call_id, mark, packed = text.partition(MARK)
    if not mark:
        return text, "", None, ()
    try:
        raw = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        opened = _decode(_inflated(raw[1:]) if raw[:1] == b"z" else raw[1:])
    except (zlib.error, msgspec.MsgspecError, ValueError):
        return call_id, "", None, ()  # damaged on the way: the id itself is still good
    return call_id, opened.origin, opened.signature, opened.reasoning


def _inflated(data: bytes, limit: int = 1 << 22) -> bytes:
    inflater = zlib.decompressobj()
    plain = inflater.decompress(data, limit)
    if inflater.unconsumed_tail:
        raise ValueError("a sealed value inflates beyond its limit")
    return plain


def readable_by(origin: str, provider: str, dialect: str) -> bool:
    """Whether a signature of this origin means anything to this provider and dialect."""
    return origin == provider or origin == f"~{dialect}"
