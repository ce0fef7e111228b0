"""What an interceptor has done to a call: what it lost, which is a fault, and what it changed.

Both are seen in the neutral form, which holds every member of a body, so that one comparison does
for all formats and for interceptors that change the body or the conversation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import asdict, fields

from gateway_core import Conversation, Media, Text, ToolCall, ToolResult, Turn
from gateway_core.contracts.conversation import AnyPart

from .rich_calls import RULE, Variant

_SHOWN = 60
"""Characters of a text that are shown."""
_COMPARED = ("dialect", "stream", "user", "tool_choice", "output", "thinking", "cache_key")


class Said(Struct, frozen=True):
    """A part with the role of its turn."""

    role: str
    part: AnyPart
    name: str | None
    extra: Mapping[str, Raw]


def find_losses(
    before: Conversation, after: Conversation, variant: Variant, texts: Sequence[str]
) -> Iterator[str]:
    """What of a rich call is gone, moved or no longer the same, in sentences.

    ``texts`` are those of the plugin's settings: it may change what holds one of them.
    """
    for name in _COMPARED:
        old, new = getattr(before, name), getattr(after, name)
        if old is not None and (new is None or (name in ("dialect", "stream") and new != old)):
            yield f"{name} is {new!r} and no longer {old!r}"
    yield from _sampling_losses(before, after)
    yield from _extra_losses("the call", before.extra, after.extra)
    yield from _tool_losses(before, after)
    instructions = "\n".join(each.text for each in after.instructions)
    turns = (said for said in flatten(after.turns) if said.role == "system")
    system = "\n".join(said.part.text for said in turns if isinstance(said.part, Text))
    if before.instructions and _is_lost(RULE, f"{instructions}\n{system}", texts):
        yield "the system text is gone"
    yield from _turn_losses(before, after, variant, texts)


def effect(before: Conversation, after: Conversation) -> frozenset[str]:
    """What was done to the texts, by kinds: the same for like calls in different formats."""
    kinds = set[str]()
    if [each.text for each in before.instructions] != [each.text for each in after.instructions]:
        kinds.add("the system text")
    old = [said.part.text for said in flatten(before.turns) if isinstance(said.part, Text)]
    new = [said.part.text for said in flatten(after.turns) if isinstance(said.part, Text)]
    if len(old) != len(new):
        kinds.add("the number of texts")
    else:
        changed = (n for n, (one, other) in enumerate(zip(old, new, strict=True)) if one != other)
        kinds |= {f"text {number + 1}" for number in changed}
    return frozenset(kinds)


def flatten(turns: Sequence[Turn]) -> list[Said]:
    return [Said(turn.role, part, turn.name, turn.extra) for turn in turns for part in turn.parts]


def _sampling_losses(before: Conversation, after: Conversation) -> Iterator[str]:
    for name, old in asdict(before.sampling).items():
        new = getattr(after.sampling, name)
        if old not in (None, ()) and new in (None, ()):
            yield f"{name} is gone"
    old_shares = [before.sampling.temperature, before.sampling.top_p]
    new_shares = [after.sampling.temperature, after.sampling.top_p]
    if all(each is not None and each.is_integer() for each in new_shares):
        yield f"temperature and top_p are {new_shares} and were {old_shares}"


def _extra_losses(what: str, before: Mapping[str, Raw], after: Mapping[str, Raw]) -> Iterator[str]:
    for name, raw in before.items():
        if name not in after:
            yield f"the member {name} of {what} is gone"
        elif msgspec.json.decode(after[name]) != msgspec.json.decode(raw):
            yield f"the member {name} of {what} is another"


def _tool_losses(before: Conversation, after: Conversation) -> Iterator[str]:
    kept = {tool.name: tool for tool in after.tools}
    for tool in before.tools:
        if tool.name not in kept:
            yield f"the tool {tool.name} is gone"
        elif _decoded(kept[tool.name].schema) != _decoded(tool.schema):
            yield f"the tool {tool.name} has another schema"
    wanted = [tool.name for tool in before.tools]
    if not set(wanted) - set(kept) and [name for name in kept if name in wanted] != wanted:
        yield "the tools are in another order"


def _decoded(raw: Raw | None) -> object:
    return None if raw is None else msgspec.json.decode(raw)


def _turn_losses(
    before: Conversation, after: Conversation, variant: Variant, texts: Sequence[str]
) -> Iterator[str]:
    """Each part has to be there still, once, in the same order and with the same role."""
    left = flatten(after.turns)
    at = 0
    for said in flatten(before.turns):
        places = [n for n, each in enumerate(left) if _is_same(said, each, variant, ())]
        about = f"the {type(said.part).__name__} {_shown(said.part)} of the {said.role}"
        if not places:
            # What a setting stands for may be changed; where it is now cannot be told.
            if not any(_is_same(said, each, variant, texts) for each in left):
                yield f"{about} is gone, or is another"
            continue
        if len(places) > 1:
            yield f"{about} stands there {len(places)} times"
        if places[0] < at:
            yield f"{about} has moved"
        at = max(at, places[0])
        other = left[places[0]]
        if said.name is not None and other.name is None:
            yield f"the name of who says {_shown(said.part)} is gone"
        yield from _extra_losses(about, said.part.extra, other.part.extra)
        yield from _extra_losses(f"the message with {about}", said.extra, other.extra)


def _is_same(one: Said, other: Said, variant: Variant, texts: Sequence[str]) -> bool:
    if one.role != other.role or type(one.part) is not type(other.part):
        return False
    match one.part, other.part:
        case Text() as old, Text() as new:
            return not _is_lost(_core(old.text, variant), new.text, texts)
        case Media() as old, Media() as new:
            return (old.data, old.media_type) == (new.data, new.media_type)
        case ToolCall() as old, ToolCall() as new:
            same = (old.id, old.name) == (new.id, new.name)
            return same and not _is_lost(old.arguments, new.arguments, texts)
        case ToolResult() as old, ToolResult() as new:
            gave = "".join(each.text for each in old.content if isinstance(each, Text))
            gives = "".join(each.text for each in new.content if isinstance(each, Text))
            return old.call_id == new.call_id and not _is_lost(gave, gives, texts)
    return one.part == other.part


def _core(text: str, variant: Variant) -> str:
    """A text without the words that the plugin may act on."""
    return text.removesuffix(variant.words).rstrip(" ") if variant.words else text


def _is_lost(text: str, seen: str, texts: Sequence[str]) -> bool:
    return text not in seen and not any(_occurs(each, text) for each in texts)


def _occurs(setting: str, text: str) -> bool:
    """Whether a text of the settings, as a word or as a pattern, is in this text."""
    if setting.casefold() in text.casefold():
        return True
    try:
        return re.search(setting, text, re.IGNORECASE) is not None
    except re.error:
        return False


def _shown(part: AnyPart) -> str:
    texts = (getattr(part, each.name) for each in fields(part) if each.name in ("text", "name"))
    shown = next((text for text in texts if text), "")
    return repr(str(shown)[:_SHOWN]) if shown else ""
