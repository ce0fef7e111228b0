"""Events that the gateway sends on a realtime socket, as the text of one message each."""

import uuid
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


def new_id(kind: str) -> str:
    """An id of an event, item, response or session: ``evt_<uuid>``."""
    return f"{kind}_{uuid.uuid4()}"


def write_event(type: str, **members: Any) -> str:
    """One event."""
    return _encode({"type": type, "event_id": new_id("evt"), **members}).decode()


def error_event(type: str, code: str | None, message: str) -> str:
    """What went wrong; ``type`` is the family of the error."""
    return write_event("error", error={"type": type, "code": code, "message": message})
