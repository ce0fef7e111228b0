"""Puts requests before the rules."""

from collections.abc import Callable
from functools import partial

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import BadRequest, Call, Conversation, Text

from .guards import CODE
from .rule_in_force import RuleInForce
from .stage import Blocked, Finding, Work
from .texts import Change, from_list, in_conversation, in_members, texts_of


async def guarded(call: Call, rules: tuple[RuleInForce, ...]) -> Call:
    """The call with what the rules leave of it. Raises BadRequest."""
    try:
        return await _guarded(call, rules)
    except Blocked as blocked:
        raise BadRequest(blocked.message, code=CODE) from None


async def _guarded(call: Call, rules: tuple[RuleInForce, ...]) -> Call:
    """The call with what the rules leave of it. Raises Blocked, BadRequest."""
    conversation, work = call.read_conversation(), Work(call, "request")
    changed: Callable[[Change], Conversation | dict[str, Raw]]
    if conversation is None:
        changed = partial(in_members, call.members)
    else:
        changed = partial(in_conversation, conversation)
    before = texts = texts_of(changed)
    for each in rules:
        if each.opinion is None:
            texts = [await Finding(each, work).feed(text, is_last=True) for text in texts]
        else:
            await work.ask(each, _shown(changed(from_list(texts)), each))
    if texts == before:
        return call
    left = changed(from_list(texts))
    if isinstance(left, Conversation):
        return replace(call, conversation=left)
    return replace(call, members=left, body=call.body if call.form else msgspec.json.encode(left))


def _shown(value: Conversation | dict[str, Raw], each: RuleInForce) -> str:
    """What a rule is shown that has an opinion of the whole: what is said, without tools."""
    if not isinstance(value, Conversation):
        said = texts_of(partial(in_members, value))
    elif each.rule.kind == "language":
        parts = (part for turn in value.turns if turn.role == "user" for part in turn.parts)
        said = [part.text for part in parts if isinstance(part, Text)]
    else:
        said = texts_of(partial(in_conversation, replace(value, tools=(), extra={}, user=None)))
    return "\n\n".join(filter(None, said))
