"""Reading bodies that may or may not be JSON."""

import msgspec
from msgspec import Raw

from gateway_core import BadRequest
from gateway_core.pipeline.json_body import members_of


def decode_members(body: bytes) -> dict[str, Raw]:
    """The members of a JSON object; none for any other body."""
    try:
        return dict(members_of(body))
    except BadRequest:
        return {}


def is_json(body: bytes) -> bool:
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
