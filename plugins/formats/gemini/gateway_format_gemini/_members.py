"""Takes the members of JSON objects one by one, in whichever spelling the client chose.

The API is protocol buffers as JSON: every name may be written in camel case or in snake case, null
means absent, and numbers may come as strings. What is not taken is kept as ``extra``.
https://protobuf.dev/programming-guides/json/
"""

import re
from collections.abc import Mapping

import msgspec
from msgspec import Raw

from gateway_core import BadRequest

Members = dict[str, Raw]

BIGGEST = 1_000_000_000

_object = msgspec.json.Decoder(dict[str, Raw])
_array = msgspec.json.Decoder(list[Raw])
_text = msgspec.json.Decoder(str)
_texts = msgspec.json.Decoder(list[str])
_flag = msgspec.json.Decoder(bool)
_number = msgspec.json.Decoder(int | float | str)
_NULL = Raw(b"null")
_UNDERSCORE = re.compile(r"(?<=[a-z0-9])_([a-z0-9])")
_TAKEN = (
    *("thoughtSignature", "inlineData", "fileData", "mimeType", "fileUri", "displayName"),
    *("functionCall", "functionResponse", "systemInstruction", "functionDeclarations"),
    *("parametersJsonSchema", "toolConfig", "functionCallingConfig", "allowedFunctionNames"),
    *("generationConfig", "maxOutputTokens", "topP", "topK", "stopSequences", "candidateCount"),
    *("presencePenalty", "frequencyPenalty", "responseLogprobs", "responseModalities"),
    *("responseMimeType", "responseSchema", "responseJsonSchema", "thinkingConfig"),
    *("thinkingBudget", "thinkingLevel", "includeThoughts", "serviceTier"),
    "generateContentRequest",
)
_SNAKE = {re.sub(r"(?=[A-Z])", "_", name).lower(): name for name in _TAKEN}
"""Names with a place in the hub. Every other name is kept as the client spelled it."""


def to_camel(name: str) -> str:
    """``inline_data`` as ``inlineData``."""
    return _UNDERSCORE.sub(lambda match: match[1].upper(), name) if "_" in name else name


def read_members(raw: Raw | bytes, where: str) -> Members:
    """An object's members without nulls, names that are known in camel case. Raises BadRequest."""
    try:
        members = _object.decode(raw)
    except msgspec.ValidationError:
        raise BadRequest(f"{where} must be an object") from None
    return {_SNAKE.get(name, name): value for name, value in members.items() if value != _NULL}


def read_list(raw: Raw | None, where: str) -> list[Raw]:
    """A list's items; a lone object counts as a list of one, as the API has it."""
    if raw is None:
        return []
    try:
        return _array.decode(raw)
    except msgspec.ValidationError:
        if bytes(memoryview(raw)[:1]) == b"{":
            return [raw]
        raise BadRequest(f"{where} must be a list") from None


def take_members(members: Members, name: str, where: str) -> Members:
    """The members of an object; none when it is absent."""
    raw = members.pop(name, None)
    return read_members(raw, f"{where}{name}") if raw is not None else {}


def take_text(members: Members, name: str, where: str = "") -> str | None:
    raw = members.pop(name, None)
    if raw is None:
        return None
    try:
        return _text.decode(raw)
    except msgspec.ValidationError:
        raise BadRequest(f"{where}{name} must be a string") from None


def take_texts(members: Members, name: str, where: str = "") -> tuple[str, ...]:
    raw = members.pop(name, None)
    if raw is None:
        return ()
    try:
        return tuple(_texts.decode(raw))
    except msgspec.ValidationError:
        raise BadRequest(f"{where}{name} must be a list of strings") from None


def take_flag(members: Members, name: str, where: str = "") -> bool | None:
    raw = members.pop(name, None)
    if raw is None:
        return None
    try:
        return _flag.decode(raw)
    except msgspec.ValidationError:
        raise BadRequest(f"{where}{name} must be true or false") from None


def take_number(members: Members, name: str, where: str = "") -> float | None:
    raw = members.pop(name, None)
    if raw is None:
        return None
    try:
        value = _number.decode(raw)
        return float(value) if isinstance(value, str) else value
    except ValueError:
        raise BadRequest(f"{where}{name} must be a number") from None


def take_integer(members: Members, name: str, where: str = "") -> int | None:
    value = take_number(members, name, where)
    if value is None or isinstance(value, int):
        return value
    if not value.is_integer():
        raise BadRequest(f"{where}{name} must be a whole number")
    return int(value)


def take_enum(
    members: Members, name: str, numbers: Mapping[int, str], where: str = ""
) -> str | None:
    """An enum value in upper case, as the API spells it."""
    raw = members.pop(name, None)
    if raw is None:
        return None
    try:
        value = _number.decode(raw)
    except msgspec.ValidationError:
        raise BadRequest(f"{where}{name} must be a word") from None
    # Protocol buffers allow an enum value's number in place of its name.
    return value.upper() if isinstance(value, str) else numbers.get(int(value), str(value))


def read_text(raw: Raw) -> str | None:
    """A JSON string's text, or ``None`` for any other JSON."""
    try:
        return _text.decode(raw)
    except msgspec.ValidationError:
        return None


def read_count(value: object) -> int:
    """A vendor's count of tokens; an invalid one counts as not reported."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= BIGGEST:
        return value
    return 0


def take_prefix(name: str, extra: Mapping[str, Raw]) -> Members:
    """Members kept under a dotted name, such as ``generationConfig.speechConfig``."""
    start = f"{name}."
    return {key[len(start) :]: value for key, value in extra.items() if key.startswith(start)}


def add_prefix(name: str, members: Members) -> Members:
    """The opposite of :func:`take_prefix`."""
    return {f"{name}.{key}": value for key, value in members.items()}


def compact(raw: Raw | bytes) -> bytes:
    """The same JSON without white space between its tokens."""
    return msgspec.json.format(bytes(raw), indent=-1)
