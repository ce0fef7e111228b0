"""Reading the two members of a body that routing needs."""

from collections.abc import Mapping

import msgspec
from msgspec import Raw

from gateway_core import BadRequest, Intake

_text = msgspec.json.Decoder(str | None)
_flag = msgspec.json.Decoder(bool | None)


def read_routing(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    """``model`` and ``stream`` as most formats name them. Raises BadRequest."""
    return Intake(read_text(members, "model"), read_flag(members, "stream"))


def read_text(members: Mapping[str, Raw], name: str, default: str = "") -> str:
    """A member that must be a string, when it is there and not null."""
    raw = members.get(name)
    if raw is None:
        return default
    try:
        text = _text.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise BadRequest(f"{name} must be a string", param=name) from None
    return default if text is None else text


def read_flag(members: Mapping[str, Raw], name: str, default: bool = False) -> bool:
    """A member that must be true or false, when it is there and not null."""
    raw = members.get(name)
    if raw is None:
        return default
    try:
        flag = _flag.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise BadRequest(f"{name} must be true or false", param=name) from None
    return default if flag is None else flag
