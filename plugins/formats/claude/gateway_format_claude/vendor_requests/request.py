"""The hub's conversation to a vendor's request."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypedDict

from gateway_core import (
    AnyPart,
    BadRequest,
    Conversation,
    Foreign,
    Losses,
    Output,
    Reasoning,
    Target,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)

from .._dialect import DIALECT, PRESERVE, Extra, Role, encode, members_of
from .blocks import BlockWriter
from .breakpoints import limit_breakpoints
from .models import Traits, traits_of
from .prefill import with_ending
from .schemas import fitted_schema
from .settings import Plan, choose_tool, limit_of, plan_thinking, says_more, write_sampling
from .tools import write_tools
from .turn_order import Message, arranged, is_thinking, of_type, text_block, thinking_first

_TIERS = {"auto": "auto", "default": "standard_only", "standard_only": "standard_only"}
_MERGED = ("thinking", "output_config", "tool_choice", "metadata")
"""Members whose neutral part is written from the hub and whose rest stands in ``extra``."""

_TYPED = ("thinking", "tool_choice")
"""Of these, a rest without its type means nothing once the neutral part is gone."""

_AS_JSON = "Answer with a single valid JSON object and nothing else."
_AS_SCHEMA = "Answer with a single JSON value and nothing else. It must match this JSON schema:\n"


class PlainMessage(TypedDict):
    """A message of one text."""

    role: Role
    content: str


def write_request(conversation: Conversation, target: Target, losses: Losses) -> bytes:
    """Raises BadRequest when nothing of the conversation can be said on this wire."""
    if is_plain(conversation):
        plain = plain_body(conversation, target, losses)
        if plain is not None:
            return encode(plain)
    traits = traits_of(target.model.id, target.provider.options)
    native = conversation.dialect == DIALECT
    writer = BlockWriter(
        target.provider.id, native=native, unsigned=traits.unsigned_thinking, losses=losses
    )
    messages = _messages(conversation, writer, traits, losses)
    body = _body(conversation, target, traits, messages, losses)
    system = writer.texts(conversation.instructions)
    if conversation.output is not None:
        system += _form(conversation.output, traits, native, body, losses)
    if system:
        body["system"] = _short(system)
    extra = _own_members(conversation, body, native, losses)
    tools = body.get("tools")
    if writer.may_mark or isinstance(tools, list):
        limit_breakpoints(
            (tools if isinstance(tools, list) else (), system, *(m.blocks for m in messages)),
            1 if "cache_control" in extra else 0,
            losses,
        )
    body["messages"] = [message.members() for message in messages]
    return encode(body)


def _messages(
    conversation: Conversation, writer: BlockWriter, traits: Traits, losses: Losses
) -> list[Message]:
    plain = plain_messages(conversation.turns)
    if plain is not None:
        messages = [Message(each["role"], [text_block(each["content"])]) for each in plain]
        return messages if PRESERVE in conversation.extra else with_ending(messages)
    turns = [m for turn in conversation.turns for m in _written(turn, writer, traits, losses)]
    if not any(message.blocks for message in turns) and (
        conversation.turns or not conversation.instructions
    ):
        raise BadRequest("messages: nothing in the conversation can be sent to this model")
    messages = arranged(turns, losses)
    return messages if PRESERVE in conversation.extra else with_ending(messages)


def is_plain(conversation: Conversation) -> bool:
    """Whether nothing is asked for but words."""
    asked = conversation
    if asked.thinking is not None or asked.output is not None or asked.tool_choice is not None:
        return False
    return not (asked.tools or asked.extra)


def plain_body(
    conversation: Conversation, target: Target, losses: Losses
) -> dict[str, object] | None:
    """The request of a plain conversation of plain texts; ``None`` for any other."""
    system = plain_system(conversation.instructions)
    messages = plain_messages(conversation.turns)
    if system is None or messages is None or messages[-1]["role"] == "assistant":
        return None
    model, sampling = target.model, conversation.sampling
    body: dict[str, object] = {
        "model": model.id,
        "max_tokens": limit_of(sampling.max_tokens, model.max_output, losses),
    }
    if says_more(sampling):
        traits = traits_of(model.id, target.provider.options)
        body.update(write_sampling(sampling, None, traits, losses))
    if conversation.stream:
        body["stream"] = True
    labels = _labels(conversation, losses)
    if labels:
        body.update(labels)
    if system:
        body["system"] = system
    body["messages"] = messages
    return body


def plain_system(instructions: Sequence[Text]) -> str | list[dict[str, object]] | None:
    """Instructions of words, empty for none of them; ``None`` for any others."""
    if len(instructions) == 1:
        only = instructions[0]
        return only.text if is_words(only) else None
    if not all(map(is_words, instructions)):
        return None
    return [text_block(part.text) for part in instructions]


def plain_messages(turns: Sequence[Turn]) -> list[PlainMessage] | None:
    """What is said where user and assistant take turns with one plain text each.

    Most conversations are like that, and long. ``None`` for any other.
    """
    messages: list[PlainMessage] = []
    role: Role = "user"
    for turn in turns:
        if turn.role != role or turn.name is not None or turn.extra or len(turn.parts) != 1:
            return None
        part = turn.parts[0]
        if type(part) is not Text or not is_words(part):
            return None
        messages.append({"role": role, "content": part.text})
        role = "assistant" if role == "user" else "user"
    return messages or None


def is_words(part: Text) -> bool:
    """Whether a text is no more than its words, and not only white space."""
    if part.extra or part.citations or part.origin:
        return False
    if part.cache is not None or part.signature is not None:
        return False
    return bool(part.text) and not part.text.isspace()


def _written(turn: Turn, writer: BlockWriter, traits: Traits, losses: Losses) -> Iterator[Message]:
    if turn.name is not None:
        losses.add("name")
    extra = writer.own(turn.extra)
    for role, parts in groupby(turn.parts, lambda part: _place(part, turn.role)):
        placed: Role = role
        if role == "system" and not traits.system_turns:
            losses.add("system_turn")
            placed = "user"
        blocks = writer.write(parts, placed)
        yield Message(placed, blocks if writer.native else thinking_first(blocks), extra)


def _place(part: AnyPart, role: Role) -> Role:
    """Whose turn a part belongs in on this wire."""
    if isinstance(part, ToolResult):
        return "user"
    if isinstance(part, ToolCall | Reasoning):
        return "assistant"
    if role == "system" and not isinstance(part, Text | Foreign):
        return "user"
    return role


def _body(
    conversation: Conversation,
    target: Target,
    traits: Traits,
    messages: list[Message],
    losses: Losses,
) -> dict[str, object]:
    native = conversation.dialect == DIALECT
    sampling = conversation.sampling
    plan = plan_thinking(
        conversation.thinking,
        traits,
        losses,
        asked=sampling.max_tokens,
        longest=target.model.max_output,
        native=native,
    )
    if plan.thinking is not None:
        _check_loop(plan, messages, traits, losses)
    body: dict[str, object] = {"model": target.model.id}
    body |= _tools(conversation, traits, plan, losses)
    body["max_tokens"] = plan.max_tokens
    body |= write_sampling(sampling, plan, traits, losses)
    if plan.thinking is not None:
        body["thinking"] = plan.thinking
    if plan.effort is not None:
        body["output_config"] = {"effort": plan.effort}
    if conversation.stream:
        body["stream"] = True
    return body | _labels(conversation, losses)


def _check_loop(plan: Plan, messages: list[Message], traits: Traits, losses: Losses) -> None:
    """With a thinking budget, a turn whose calls are being answered must begin with its thinking.

    Where that was lost on the way, the vendor would refuse the request, so it
    goes without thinking instead.
    """
    if not plan.has_budget or traits.unsigned_thinking:
        return
    spoken = [message for message in messages if message.role != "system"][-2:]
    if len(spoken) < 2 or not of_type(spoken[1].blocks, "tool_result"):
        return
    if not is_thinking(spoken[0].blocks[0]):
        losses.add("thinking")
        plan.thinking = None if traits.off in ("omit", "never") else {"type": traits.off}


def _tools(
    conversation: Conversation,
    traits: Traits,
    plan: Plan,
    losses: Losses,
) -> dict[str, object]:
    native, choice = conversation.dialect == DIALECT, conversation.tool_choice
    if not conversation.tools and choice is None:
        return {}
    tools = write_tools(conversation.tools, choice, traits, native, losses)
    chosen = choose_tool(
        choice,
        conversation.parallel_tools,
        conversation.tools if tools else (),
        plan,
        traits,
        losses,
    )
    if not tools:
        return {}
    return {"tools": tools} if chosen is None else {"tools": tools, "tool_choice": chosen}


def _labels(conversation: Conversation, losses: Losses) -> dict[str, object]:
    labels: dict[str, object] = {}
    if conversation.user is not None:
        labels["metadata"] = {"user_id": conversation.user}
    if conversation.service_tier is not None:
        tier = _TIERS.get(conversation.service_tier)
        if tier is None:
            losses.add("service_tier")
        else:
            labels["service_tier"] = tier
    if conversation.cache_key is not None:
        losses.add("cache_key")
    return labels


def _form(
    output: Output, traits: Traits, native: bool, body: dict[str, object], losses: Losses
) -> list[dict[str, object]]:
    """Ask for the answer's form: by a member, or with the words that are given back."""
    if output.schema is None:
        losses.add("output_json")
        return [text_block(_AS_JSON)]
    if not (native or traits.structured):
        losses.add("output_schema")
        return [text_block(_AS_SCHEMA + bytes(output.schema).decode("utf-8", "replace"))]
    schema, whole = (output.schema, True) if native else fitted_schema(output.schema)
    if not whole:
        losses.add("output_schema")
    config = body.setdefault("output_config", {})
    if isinstance(config, dict):
        config["format"] = {"type": "json_schema", "schema": schema}
    return []


def _own_members(
    conversation: Conversation, body: dict[str, object], native: bool, losses: Losses
) -> Extra:
    """Put the members that have no neutral name back, or record that they are lost."""
    if not conversation.extra:
        return {}
    extra = {name: value for name, value in conversation.extra.items() if name != PRESERVE}
    if not native:
        losses.add_extra(extra)
        return {}
    for name, value in extra.items():
        mine = body.get(name)
        if name in _MERGED and isinstance(mine, dict):
            body[name] = {**mine, **members_of(value)}
        elif name not in _TYPED or "type" in members_of(value):
            body.setdefault(name, value)
    return extra


def _short(blocks: list[dict[str, object]]) -> object:
    """One plain text goes as a string, which every vendor of this wire takes."""
    only = blocks[0]
    return only["text"] if len(blocks) == 1 and len(only) == 2 else blocks
