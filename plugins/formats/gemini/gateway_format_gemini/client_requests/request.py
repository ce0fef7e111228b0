"""From a client's body to the hub.

The API reference: https://ai.google.dev/api/generate-content
"""

import msgspec

from gateway_core import BadRequest, Conversation, Text

from .._members import Members, members, sequence, take_text, text_of
from .._signatures import DIALECT
from .settings import read_settings
from .stored_inputs import elsewhere
from .tools import read_choice, read_tools
from .turns import read_turns

_TIERS = {"standard": "default", "unspecified": "", "service_tier_unspecified": ""}


def read_conversation(body: bytes, model: str, stream: bool) -> Conversation:
    """Raises BadRequest, worded for the client, for any body that makes no sense."""
    try:
        return _read(members(body, "the body"), model, stream)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"the body is not a request: {error}") from error


def counted(body: bytes) -> bytes:
    """The request inside a request to count tokens: it may stand alone or be wrapped."""
    try:
        wrapped = members(body, "the body").get("generateContentRequest")
    except msgspec.MsgspecError as error:
        raise BadRequest(f"the body is not a request: {error}") from error
    return body if wrapped is None else bytes(wrapped)


def _read(given: Members, model: str, stream: bool) -> Conversation:
    given.pop("model", None)  # the path names it
    turns = read_turns(given.pop("contents", None))
    if not turns:
        raise BadRequest("contents must hold at least one part")
    instructions = _instructions(given)
    tools = read_tools(given.pop("tools", None))
    choice, choice_left = read_choice(given)
    settings = read_settings(given)
    tier = _tier(given)
    extra = {**given, **settings.left, **choice_left}
    return Conversation(
        instructions=instructions,
        turns=turns,
        tools=tools,
        tool_choice=choice,
        sampling=settings.sampling,
        thinking=settings.thinking,
        output=settings.output,
        service_tier=tier,
        stream=stream,
        model=model,
        dialect=DIALECT,
        extra=extra,
        elsewhere=elsewhere(turns, tools, extra),
    )


def _instructions(given: Members) -> tuple[Text, ...]:
    raw = given.pop("systemInstruction", None)
    if raw is None:
        return ()
    text = text_of(raw)
    if text is not None:
        return (Text(text=text),) if text else ()
    content = members(raw, "systemInstruction")
    listed = sequence(content.get("parts"), "systemInstruction.parts")
    found = []
    for number, part in enumerate(listed):
        where = f"systemInstruction.parts[{number}]"
        text = take_text(members(part, where), "text", f"{where}.")
        if text is None:
            raise BadRequest(f"{where} must be a text")
        found.append(text)
    return tuple(Text(text=text) for text in found if text)


def _tier(given: Members) -> str | None:
    said = take_text(given, "serviceTier")
    return None if not said else _TIERS.get(said.lower(), said.lower()) or None
