"""Reading what routing needs of a service's request, with the exact words of each refusal."""

import unicodedata
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Raw

from gateway_core import BadRequest, Intake
from gateway_formats.intake import read_flag, read_text

Members = Mapping[str, Raw]
Read = Callable[[Mapping[str, str], Mapping[str, str], Members], Intake]
FORMATS = ("markdown", "html", "text")
LONGEST_QUERY = 4096
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


def read_speech(path: Mapping[str, str], headers: Mapping[str, str], members: Members) -> Intake:
    """``input`` may not be blank; ``stream_format`` asks for events."""
    if not read_text(members, "input").strip():
        raise BadRequest("Missing required field: input", param="input")
    is_stream = read_text(members, "stream_format") == "sse"
    return Intake(read_text(members, "model").strip(), is_stream)


def read_upload(path: Mapping[str, str], headers: Mapping[str, str], members: Members) -> Intake:
    """A form with fields as text; ``stream=true`` asks for events."""
    return Intake(read_text(members, "model").strip(), _text(members, "stream") == "true")


def read_edit(path: Mapping[str, str], headers: Mapping[str, str], members: Members) -> Intake:
    """A form, or JSON of the vendor's own."""
    is_stream = _text(members, "stream") == "true" or members.get("stream") == Raw(b"true")
    return Intake(read_text(members, "model").strip(), is_stream)


def read_model(path: Mapping[str, str], headers: Mapping[str, str], members: Members) -> Intake:
    """The model alone."""
    return Intake(read_text(members, "model").strip(), False)


def read_provider(path: Mapping[str, str], headers: Mapping[str, str], members: Members) -> Intake:
    """A provider that the query names."""
    provider = path.get("provider", "").strip()
    if not provider:
        raise BadRequest("Missing query parameter: provider", param="provider")
    return Intake(provider, False)


def read_search(path: Mapping[str, str], headers: Mapping[str, str], members: Members) -> Intake:
    """The provider is the model. Nothing in a request may say where it is sent."""
    query = unicodedata.normalize("NFKC", read_text(members, "query")).strip()
    if not query:
        raise BadRequest("Missing required field: query", param="query")
    if len(query) > LONGEST_QUERY or any(unicodedata.category(c) == "Cc" for c in query):
        raise BadRequest("Invalid query: it is too long or holds control characters", param="query")
    options = value_of(members["provider_options"]) if "provider_options" in members else None
    if isinstance(options, Mapping) and any("url" in name.lower() for name in options):
        raise BadRequest("provider_options may not name an address", param="provider_options")
    return Intake(_named(members), False)


def read_fetch(path: Mapping[str, str], headers: Mapping[str, str], members: Members) -> Intake:
    """An address, which has to be public, and the format of its content."""
    url = read_text(members, "url").strip()
    if not url:
        raise BadRequest("Missing required field: url", param="url")
    if read_text(members, "format", FORMATS[0]) not in FORMATS:
        raise BadRequest(f"Invalid format: {', '.join(FORMATS)} are possible", param="format")
    return Intake(_named(members), False, (url,))


def read_decision(path: Mapping[str, str], headers: Mapping[str, str], members: Members) -> Intake:
    model = read_text(members, "model").strip()
    if not model:
        raise BadRequest("Missing model", param="model")
    if members.get("state") in (None, Raw(b"null")):
        raise BadRequest("Missing required field: state", param="state")
    questions = value_of(members["questions"]) if "questions" in members else None
    if not isinstance(questions, Mapping):
        raise BadRequest("Missing required field: questions", param="questions")
    return Intake(model, False)


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


def _named(members: Members) -> str:
    """The model, or the provider that stands for it."""
    return (read_text(members, "model") or read_text(members, "provider")).strip()


def _text(members: Members, name: str) -> str:
    """A plain field of a form; empty for anything else."""
    raw = members.get(name)
    value = None if raw is None else value_of(raw)
    return value if isinstance(value, str) else ""
