"""Members of JSON objects, taken one by one, in whichever spelling the client chose.

The API is protocol buffers in JSON dress: every name may be written in camel
case or in snake case, null means absent, and numbers may come as strings.
What nobody has taken is left over, and is kept as ``extra``.
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
_WORD = re.compile(r"(?<=[a-z0-9])_([a-z0-9])")
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


def camel(name: str) -> str:
    """``inline_data`` as ``inlineData``."""
    return _WORD.sub(lambda found: found[1].upper(), name) if "_" in name else name


def members(raw: Raw | bytes, where: str) -> Members:
    """An object's members without nulls, names that are known in camel case. Raises BadRequest."""
    try:
        found = _object.decode(raw)
    except msgspec.ValidationError:
        raise BadRequest(f"{where} must be an object") from None
    return {_SNAKE.get(name, name): value for name, value in found.items() if value != _NULL}


def sequence(raw: Raw | None, where: str) -> list[Raw]:
    """A list's items; a lone object counts as a list of one, as the API has it."""
    if raw is None:
        return []
    try:
        return _array.decode(raw)
    except msgspec.ValidationError:
        if bytes(memoryview(raw)[:1]) == b"{":
            return [raw]
        raise BadRequest(f"{where} must be a list") from None


def take_members(given: Members, name: str, where: str) -> Members:
    """The members of an object; none when it is absent."""
    raw = given.pop(name, None)
    return members(raw, f"{where}{name}") if raw is not None else {}


def take_text(given: Members, name: str, where: str = "") -> str | None:
    raw = given.pop(name, None)
    if raw is None:
        return None
    try:
        return _text.decode(raw)
    except msgspec.ValidationError:
        raise BadRequest(f"{where}{name} must be a string") from None


def take_texts(given: Members, name: str, where: str = "") -> tuple[str, ...]:
    raw = given.pop(name, None)
    if raw is None:
        return ()
    try:
        return tuple(_texts.decode(raw))
    except msgspec.ValidationError:
        raise BadRequest(f"{where}{name} must be a list of strings") from None


def take_flag(given: Members, name: str, where: str = "") -> bool | None:
    raw = given.pop(name, None)
    if raw is None:
        return None
    try:
        return _flag.decode(raw)
    except msgspec.ValidationError:
        raise BadRequest(f"{where}{name} must be true or false") from None


def take_number(given: Members, name: str, where: str = "") -> float | None:
    raw = given.pop(name, None)
    if raw is None:
        return None
    try:
        said = _number.decode(raw)
        return float(said) if isinstance(said, str) else said
    except ValueError:
        raise BadRequest(f"{where}{name} must be a number") from None


def take_integer(given: Members, name: str, where: str = "") -> int | None:
    said = take_number(given, name, where)
    if said is None or isinstance(said, int):
        return said
    if not said.is_integer():
        raise BadRequest(f"{where}{name} must be a whole number")
    return int(said)


def take_word(given: Members, name: str, words: Mapping[int, str], where: str = "") -> str | None:
    """An enum value, which may come as its number; in upper case, as the API spells it."""
    raw = given.pop(name, None)
    if raw is None:
        return None
    try:
        said = _number.decode(raw)
    except msgspec.ValidationError:
        raise BadRequest(f"{where}{name} must be a word") from None
    return said.upper() if isinstance(said, str) else words.get(int(said), str(said))


def text_of(raw: Raw) -> str | None:
    """A JSON string's text, or ``None`` for any other JSON."""
    try:
        return _text.decode(raw)
    except msgspec.ValidationError:
        return None


def count(said: object) -> int:
    """A vendor's count of tokens; nonsense counts as not reported."""
    if isinstance(said, int) and not isinstance(said, bool) and 0 <= said <= BIGGEST:
        return said
    return 0


def within(name: str, extra: Mapping[str, Raw]) -> Members:
    """Members kept under a dotted name, such as ``generationConfig.speechConfig``."""
    start = f"{name}."
    return {key[len(start) :]: value for key, value in extra.items() if key.startswith(start)}


def prefixed(name: str, left: Members) -> Members:
    """The opposite of :func:`within`."""
    return {f"{name}.{key}": value for key, value in left.items()}


def compact(raw: Raw | bytes) -> bytes:
    """The same JSON without white space between its tokens."""
    return msgspec.json.format(bytes(raw), indent=-1)
