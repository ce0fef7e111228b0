"""Names that every module of this format shares."""

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import Raw

DIALECT = "claude"

Extra = Mapping[str, Raw]
Role = Literal["user", "assistant", "system"]

OutputBlock = dict[str, object] | Raw
"""A content block to be written; Raw for one that is passed along as it came."""

NULL = Raw(b"null")
"""Of a member that may be missing: Raw takes no union with None."""

encode = msgspec.json.Encoder().encode
decode_members = msgspec.json.Decoder(dict[str, Raw]).decode

Unreadable = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding invalid input may raise."""

PRESERVE = "x-gateway-assistant-prefill"
"""A request header of the gateway's own: ``preserve`` keeps the client's assistant prefill."""

SEARCH_RESULT = "search_result"
"""A block of this type is a text document in the hub; ``extra`` keeps the block under this name."""

USUAL_LIFETIME = "5m"
"""The lifetime of a cache breakpoint that names none.
https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching"""


def encode_raw(value: object) -> Raw:
    return Raw(encode(value))


def is_null(value: Raw) -> bool:
    return memoryview(value)[:5].tobytes() == b"null"  # without copying a long value


def drop_nulls(members: Mapping[str, Raw]) -> Extra:
    """The members that are not null."""
    return {name: value for name, value in members.items() if not is_null(value)}
