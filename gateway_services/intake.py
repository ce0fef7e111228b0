"""Reading what routing needs of a service's request, with the exact words of each refusal."""

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Raw

from gateway_core import BadRequest, Intake
from gateway_formats.intake import read_flag, read_text

Members = Mapping[str, Raw]
Read = Callable[[Mapping[str, str], Mapping[str, str], Members], Intake]
_anything = msgspec.json.Decoder().decode
_EMPTY: tuple[object, ...] = (None, "", [], {})


def requires(*names: str, streams: bool = False, with_model: bool = False) -> Read:
    """A reader that insists on members; ``streams`` where ``stream`` asks for events."""

    def read(path: Mapping[str, str], headers: Mapping[str, str], members: Members) -> Intake:
        model = read_text(members, "model").strip()
        if with_model and not model:
            raise BadRequest("Missing model", param="model")
        for name in names:
            require(members, name)
        return Intake(model, streams and wants_events(headers, members))

    return read


def require(members: Members, name: str) -> None:
    """Raises BadRequest for a member that is missing or empty."""
    raw = members.get(name)
    if raw is None or value_of(raw) in _EMPTY:
        raise BadRequest(f"Missing required field: {name}", param=name)


def wants_events(headers: Mapping[str, str], members: Members) -> bool:
    """Whether the client asks for server-sent events, by ``stream`` or by ``Accept``."""
    return read_flag(members, "stream") or "text/event-stream" in headers.get("accept", "")


def value_of(raw: Raw) -> object:
    """A member's value. Raises BadRequest for text that is no Unicode."""
    try:
        value: object = _anything(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise BadRequest("Invalid JSON body") from None
    return value
