"""Reads a client's request as a conversation.

https://docs.anthropic.com/en/api/messages
"""

from msgspec import Raw

from gateway_core import (
    BadRequest,
    Call,
    Conversation,
    Output,
    Sampling,
    Text,
    Thinking,
    Turn,
)
from gateway_formats.instructions import put_on_texts

from .._dialect import DIALECT, Extra, Role, encode_raw
from .blocks import read_content, read_system
from .members import Members, body_members, read_members, take_breakpoint
from .stored_inputs import find_stored_inputs
from .tools import read_choice, read_tools

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_TIERS = {"standard_only": "default"}


def read_request(call: Call) -> Conversation:
    """Raises BadRequest, naming the member that is wrong."""
    body = body_members(call.members)
    model = body.text("model") or call.model
    early, turns = _read_turns(body)
    config = body.members("output_config")
    output = _read_output(body, config)
    thinking, thinking_rest = _read_thinking(body.members("thinking"), config)
    choice, parallel, choice_rest = read_choice(body.members("tool_choice"))
    metadata = body.members("metadata")
    user = None if metadata is None else metadata.text("user_id")
    system = body.take("system")
    instructions = () if system is None else read_system(system, "system")
    tools = read_tools(body.items("tools"))
    longest = body.integer("max_tokens")
    if longest is not None and longest < 0:
        raise BadRequest("max_tokens: must be greater than or equal to 0")
    sampling = Sampling(
        max_tokens=longest,
        temperature=body.number("temperature"),
        top_p=body.number("top_p"),
        top_k=body.integer("top_k"),
        stop=body.texts("stop_sequences"),
    )
    tier = body.text("service_tier")
    stream = body.flag("stream") or False
    extra = {
        **body.rest(),
        **_keep_rest("tool_choice", choice_rest),
        **_keep_rest("metadata", {} if metadata is None else metadata.rest()),
        **thinking_rest,
    }
    return Conversation(
        instructions=instructions + early,
        turns=turns,
        tools=tools,
        tool_choice=choice,
        parallel_tools=parallel,
        sampling=sampling,
        thinking=thinking,
        output=output,
        user=user,
        service_tier=None if tier is None else _TIERS.get(tier, tier),
        stream=stream,
        model=model,
        dialect=DIALECT,
        extra=extra,
        elsewhere=find_stored_inputs(turns, call.members),
    )


def _read_turns(body: Members) -> tuple[tuple[Text, ...], tuple[Turn, ...]]:
    """The instructions that stand among the messages, and the turns."""
    items = body.needed("messages", body.items("messages"))
    if not items:
        raise BadRequest("messages: at least one message is required")
    instructions: list[Text] = []
    turns: list[Turn] = []
    for index, item in enumerate(items):
        where = f"messages.{index}"
        message = read_members(item, where)
        role = _ROLES.get(message.needed_text("role"))
        if role is None:
            raise BadRequest(f"{where}.role: must be user, assistant or system")
        content = message.needed("content", message.take("content"))
        parts = read_content(content, role, f"{where}.content")
        is_empty = all(isinstance(part, Text) and not part.text for part in parts)
        # The vendor allows an empty last assistant message: an answer begun with nothing.
        if is_empty and not (index == len(items) - 1 and role == "assistant"):
            raise BadRequest(
                f"{where}: all messages must have non-empty content "
                "except for the optional final assistant message"
            )
        # System messages before the first turn are instructions like any other.
        texts = [part for part in parts if isinstance(part, Text)]
        if role == "system" and not turns and len(texts) == len(parts):
            cache, extra = take_breakpoint(message)
            instructions += put_on_texts(texts, extra, cache=cache)
        else:
            turns.append(Turn(role, parts, extra=message.rest()))
    return tuple(instructions), tuple(turns)


def _read_output(body: Members, config: Members | None) -> Output | None:
    """The form of the answer."""
    # ``output_format`` is the place of the older beta:
    # https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs
    older = body.members("output_format")
    form = None if config is None else config.members("format")
    form = form or older
    if form is None:
        return None
    if form.needed_text("type") != "json_schema":
        raise BadRequest(f"{form.path('type')}: must be json_schema")
    return Output(schema=form.needed("schema", form.take("schema")))


def _read_thinking(member: Members | None, config: Members | None) -> tuple[Thinking | None, Extra]:
    """How much to think, and the members that have no neutral form."""
    effort = None if config is None else config.text("effort")
    thinking: Thinking | None = None if effort is None else Thinking(effort=effort)
    holds_effort, rest = True, dict[str, Raw]()
    if member is not None:
        kind = member.needed_text("type")
        display = member.text("display")
        # Thinking is shown unless ``display`` is ``omitted``; ``summarized`` asks for the summary
        # by name, which some models of this format's own vendor want to hear.
        show, summary = display != "omitted", "auto" if display == "summarized" else None
        holds_effort = effort is None
        match kind:
            case "enabled":
                budget = member.needed("budget_tokens", member.integer("budget_tokens"))
                thinking = Thinking(enabled=True, budget=budget, show=show, summary=summary)
            case "adaptive":
                # Without an effort the model decides, which the hub says as a budget of -1.
                open_budget = -1 if effort is None else None
                thinking = Thinking(
                    enabled=True, effort=effort, budget=open_budget, show=show, summary=summary
                )
                holds_effort = True
            case "disabled":
                thinking = Thinking(enabled=False)
            case "between_tools":
                thinking, rest = Thinking(enabled=False), {"type": encode_raw(kind)}
            case _:
                thinking, rest = None, {"type": encode_raw(kind)}
        rest |= member.rest()
    config_rest = {} if config is None else dict(config.rest())
    if effort is not None and not holds_effort:
        config_rest["effort"] = encode_raw(effort)
    return thinking, {**_keep_rest("thinking", rest), **_keep_rest("output_config", config_rest)}


def _keep_rest(name: str, rest: Extra) -> Extra:
    """Members of a member that have no neutral form, under its name."""
    return {name: encode_raw(dict(rest))} if rest else {}
