"""Writes a conversation as a request to a vendor of this format.

https://docs.anthropic.com/en/api/messages
"""

from functools import partial
from itertools import groupby

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
)
from gateway_formats.whole_turns import check_turn

from .._dialect import DIALECT, Role, decode_members, encode
from .blocks import BlockWriter
from .breakpoints import limit_breakpoints
from .models import Traits, traits_of
from .prefill import add_ending
from .schemas import fit_schema
from .settings import plan_thinking, write_labels, write_sampling
from .tools import write_choice, write_tools
from .turn_order import (
    Message,
    is_thinking,
    of_type,
    order_messages,
    put_thinking_first,
    text_block,
)
from .words_only import write_words_only

_MERGED = ("thinking", "output_config", "tool_choice", "metadata")
"""Members whose neutral part is written from the hub and whose rest stands in ``extra``."""

_TYPED = ("thinking", "tool_choice")
"""Of these, a rest without its type means nothing once the neutral part is gone."""

_AS_JSON = "Answer with a single valid JSON object and nothing else."
_AS_SCHEMA = "Answer with a single JSON value and nothing else. It must match this JSON schema:\n"


def write_request(conversation: Conversation, target: Target, losses: Losses) -> bytes:
    """Raises BadRequest when nothing of the conversation can be sent on this wire."""
    short = write_words_only(conversation, target, losses)
    if short is not None:
        return encode(short)
    traits = traits_of(target.model.id, target.provider.options)
    native = conversation.dialect == DIALECT
    writer = BlockWriter(
        target.provider.id, native=native, unsigned=traits.unsigned_thinking, losses=losses
    )
    messages = _write_messages(conversation, writer, traits, losses)
    body = _write_settings(conversation, target, traits, messages, losses)
    system = writer.write_system(conversation.instructions)
    if conversation.output is not None:
        system += _write_output(conversation.output, traits, native, body, losses)
    if len(system) == 1 and len(system[0]) == 2:
        # One text alone goes as a string, which every vendor of this wire takes.
        body["system"] = system[0]["text"]
    elif system:
        body["system"] = system
    # Members without a neutral name go back only to a vendor of their own dialect.
    extra = conversation.extra
    if not native:
        losses.add_extra(extra)
        extra = {}
    for name, value in extra.items():
        written = body.get(name)
        if name in _MERGED and isinstance(written, dict):
            body[name] = {**written, **decode_members(value)}
        elif name not in _TYPED or "type" in decode_members(value):
            body.setdefault(name, value)
    tools = body.get("tools")
    if writer.may_mark or isinstance(tools, list):
        limit_breakpoints(
            (tools if isinstance(tools, list) else (), system, *(m.blocks for m in messages)),
            1 if "cache_control" in extra else 0,
            losses,
        )
    body["messages"] = [message.members() for message in messages]
    return encode(body)


def _write_messages(
    conversation: Conversation, writer: BlockWriter, traits: Traits, losses: Losses
) -> list[Message]:
    messages: list[Message] = []
    for turn in conversation.turns:
        if turn.name is not None:
            losses.add("name")
        extra = writer.keep_own(turn.extra)
        is_empty = True
        for role, parts in groupby(turn.parts, partial(_role_of, turn.role)):
            placed: Role = role
            if role == "system" and not traits.system_turns:
                losses.add("system_turn")
                placed = "user"
            blocks = writer.write(parts, placed)
            if not writer.native:
                blocks = put_thinking_first(blocks)
            messages.append(Message(placed, blocks, extra))
            is_empty = is_empty and not blocks
        if is_empty:
            check_turn(turn)
    is_empty = not any(message.blocks for message in messages)
    if is_empty and (conversation.turns or not conversation.instructions):
        raise BadRequest("messages: nothing in the conversation can be sent to this model")
    messages = order_messages(messages, losses)
    ended = messages if conversation.keeps_prefill else add_ending(messages)
    if len(ended) > len(messages):
        losses.add("added_turn")
    return ended


def _role_of(role: Role, part: AnyPart) -> Role:
    """Whose turn a part belongs in on this wire."""
    if isinstance(part, ToolResult):
        return "user"
    if isinstance(part, ToolCall | Reasoning):
        return "assistant"
    if role == "system" and not isinstance(part, Text | Foreign):
        return "user"
    return role


def _write_settings(
    conversation: Conversation,
    target: Target,
    traits: Traits,
    messages: list[Message],
    losses: Losses,
) -> dict[str, object]:
    """Every member but ``system`` and ``messages``."""
    native = conversation.dialect == DIALECT
    sampling, choice = conversation.sampling, conversation.tool_choice
    plan = plan_thinking(
        conversation.thinking,
        traits,
        losses,
        requested=sampling.max_tokens,
        longest=target.model.max_output,
        native=native,
    )
    if plan.has_budget and not traits.unsigned_thinking:
        # With a thinking budget, a turn whose calls are being answered must begin with its
        # thinking. Where that was lost on the way, the vendor would refuse the request.
        recent = [message for message in messages if message.role != "system"][-2:]
        answers_calls = len(recent) == 2 and of_type(recent[1].blocks, "tool_result")
        if answers_calls and not is_thinking(recent[0].blocks[0]):
            losses.add("thinking")
            plan.thinking = None if traits.off in ("omit", "never") else {"type": traits.off}
    body: dict[str, object] = {"model": target.model.id}
    if conversation.tools or choice is not None:
        tools = write_tools(conversation.tools, choice, traits, native, losses)
        chosen = write_choice(
            choice,
            conversation.parallel_tools,
            conversation.tools if tools else (),
            # A thinking budget and a forced call exclude each other.
            can_force=traits.forced_tools and not plan.has_budget,
            losses=losses,
        )
        if tools:
            body["tools"] = tools
            if chosen is not None:
                body["tool_choice"] = chosen
    body["max_tokens"] = plan.max_tokens
    body |= write_sampling(sampling, plan, traits, losses)
    if plan.thinking is not None:
        body["thinking"] = plan.thinking
    if plan.effort is not None:
        body["output_config"] = {"effort": plan.effort}
    if conversation.stream:
        body["stream"] = True
    return body | write_labels(conversation, losses)


def _write_output(
    output: Output, traits: Traits, native: bool, body: dict[str, object], losses: Losses
) -> list[dict[str, object]]:
    """Request the answer's form: by a member, or with the system text that is returned."""
    if output.schema is None:
        losses.add("output_json")
        return [text_block(_AS_JSON)]
    if not (native or traits.structured):
        losses.add("output_schema")
        return [text_block(_AS_SCHEMA + bytes(output.schema).decode("utf-8", "replace"))]
    if output.description is not None:
        losses.add("output_description")
    schema, is_whole = (output.schema, True) if native else fit_schema(output.schema)
    if not is_whole:
        losses.add("output_schema")
    config = body.setdefault("output_config", {})
    if isinstance(config, dict):
        config["format"] = {"type": "json_schema", "schema": schema}
    return []
