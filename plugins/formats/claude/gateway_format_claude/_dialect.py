"""Names that every module of this format shares."""

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import Raw

DIALECT = "claude"

Extra = Mapping[str, Raw]
Role = Literal["user", "assistant", "system"]

Block = dict[str, object] | Raw
"""A content block on its way out; Raw for one that is passed along as it came."""

NULL = Raw(b"null")
"""Of a member that may be missing: Raw takes no union with None."""

encode = msgspec.json.Encoder().encode
members_of = msgspec.json.Decoder(dict[str, Raw]).decode

Unreadable = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding rubbish may raise."""

PRESERVE = "x-gateway-assistant-prefill"
"""A request header, and the private member of ``Conversation.extra`` that stands for it.

The member is written by ``read_request`` when the client asked to keep its
assistant prefill, and never goes out.
"""


def raw(value: object) -> Raw:
    return Raw(encode(value))


def is_null(value: Raw) -> bool:
    return memoryview(value)[:5].tobytes() == b"null"  # without copying a long value


def present(members: Mapping[str, Raw]) -> Extra:
    """The members that are not null."""
    return {name: value for name, value in members.items() if not is_null(value)}
