"""A client's request to the hub."""

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

from .._dialect import DIALECT, PRESERVE, Extra, Role, raw
from .._members import Members, members, top
from .blocks import read_content, read_texts
from .plain_turns import read_plain
from .stored_inputs import elsewhere
from .tools import read_choice, read_tools

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_TIERS = {"standard_only": "default"}
_SAMPLING = ("max_tokens", "temperature", "top_p", "top_k", "stop_sequences")
_COMMON = frozenset(("model", "messages", "system", "stream", *_SAMPLING))
"""All that many requests hold."""


def read_request(call: Call) -> Conversation:
    """Raises BadRequest, naming the member that is wrong."""
    if _COMMON.issuperset(call.members):
        return _read_common(call)
    body = top(call.members)
    model = body.text("model") or call.model
    turns = _turns(body)
    early, turns = _leading_instructions(turns)
    output_config = body.members("output_config")
    output = _output(body, output_config)
    thinking, kept = _thinking(body.members("thinking"), output_config)
    choice, parallel, more_choice = read_choice(body.members("tool_choice"))
    metadata = body.members("metadata")
    user = None if metadata is None else metadata.text("user_id")
    return Conversation(
        instructions=_system(body) + early,
        turns=turns,
        tools=read_tools(body.items("tools")),
        tool_choice=choice,
        parallel_tools=parallel,
        sampling=_sampling(body),
        thinking=thinking,
        output=output,
        user=user,
        service_tier=_tier(body.text("service_tier")),
        stream=body.flag("stream") or False,
        model=model,
        dialect=DIALECT,
        extra={
            **body.rest(),
            **_kept("tool_choice", more_choice),
            **_kept("metadata", {} if metadata is None else metadata.rest()),
            **kept,
            **_preserved(call, turns),
        },
        elsewhere=elsewhere(turns, call.members),
    )


def _read_common(call: Call) -> Conversation:
    """A request without anything but what is said and how it is sampled."""
    body = top(call.members)
    model = body.text("model") or call.model
    plain = read_plain(call.members["messages"]) if "messages" in call.members else None
    early, turns = _leading_instructions(_turns(body)) if plain is None else ((), plain)
    return Conversation(
        instructions=_system(body) + early,
        turns=turns,
        sampling=_sampling(body),
        stream=body.flag("stream") or False,
        model=model,
        dialect=DIALECT,
        extra=_preserved(call, turns) if PRESERVE in call.headers else {},
        elsewhere=() if plain is not None else elsewhere(turns, call.members),
    )


def _turns(body: Members) -> tuple[Turn, ...]:
    items = body.needed("messages", body.items("messages"))
    if not items:
        raise BadRequest("messages: at least one message is required")
    last = len(items) - 1
    return tuple(
        _turn(item, f"messages.{index}", index == last) for index, item in enumerate(items)
    )


def _turn(item: Raw, where: str, is_last: bool) -> Turn:
    message = members(item, where)
    role = _ROLES.get(message.needed_text("role"))
    if role is None:
        raise BadRequest(f"{where}.role: must be user, assistant or system")
    content = message.needed("content", message.take("content"))
    parts = read_content(content, role, f"{where}.content")
    if not _says_something(parts) and not (is_last and role == "assistant"):
        raise BadRequest(
            f"{where}: all messages must have non-empty content "
            "except for the optional final assistant message"
        )
    return Turn(role, parts, extra=message.rest())


def _says_something(parts: tuple[object, ...]) -> bool:
    return any(not isinstance(part, Text) or part.text for part in parts)


def _system(body: Members) -> tuple[Text, ...]:
    system = body.take("system")
    return () if system is None else read_texts(system, "system")


def _leading_instructions(turns: tuple[Turn, ...]) -> tuple[tuple[Text, ...], tuple[Turn, ...]]:
    """System messages before the first turn are instructions like any other."""
    texts: list[Text] = []
    for index, turn in enumerate(turns):
        own = tuple(part for part in turn.parts if isinstance(part, Text))
        if turn.role != "system" or len(own) < len(turn.parts) or turn.extra:
            return tuple(texts), turns[index:]
        texts += own
    return tuple(texts), ()


def _sampling(body: Members) -> Sampling:
    most = body.integer("max_tokens")
    if most is not None and most < 0:
        raise BadRequest("max_tokens: must be greater than or equal to 0")
    return Sampling(
        max_tokens=most,
        temperature=body.number("temperature"),
        top_p=body.number("top_p"),
        top_k=body.integer("top_k"),
        stop=body.texts("stop_sequences"),
    )


def _output(body: Members, config: Members | None) -> Output | None:
    """The answer's form, in its place of today or of the older beta."""
    older = body.members("output_format")
    form = None if config is None else config.members("format")
    form = form or older
    if form is None:
        return None
    if form.needed_text("type") != "json_schema":
        raise BadRequest(f"{form.path('type')}: must be json_schema")
    return Output(schema=form.needed("schema", form.take("schema")))


def _thinking(said: Members | None, config: Members | None) -> tuple[Thinking | None, Extra]:
    """What is wanted, and the members that have no neutral form."""
    effort = None if config is None else config.text("effort")
    thinking, more, taken = _thinking_wish(said, effort)
    left = {} if config is None else dict(config.rest())
    if effort is not None and not taken:
        left["effort"] = raw(effort)
    return thinking, {**_kept("thinking", more), **_kept("output_config", left)}


def _thinking_wish(said: Members | None, effort: str | None) -> tuple[Thinking | None, Extra, bool]:
    """The wish, the rest of the member, and whether the wish holds the effort."""
    if said is None:
        return (None if effort is None else Thinking(effort=effort)), {}, True
    kind = said.needed_text("type")
    show = _show(said)
    match kind:
        case "enabled":
            budget = said.needed("budget_tokens", said.integer("budget_tokens"))
            return Thinking(enabled=True, budget=budget, show=show), said.rest(), effort is None
        case "adaptive" if effort is None:
            return Thinking(enabled=True, budget=-1, show=show), said.rest(), True
        case "adaptive":
            return Thinking(enabled=True, effort=effort, show=show), said.rest(), True
        case "disabled":
            return Thinking(enabled=False), said.rest(), effort is None
        case "between_tools":
            return Thinking(enabled=False), {"type": raw(kind), **said.rest()}, effort is None
    return None, {"type": raw(kind), **said.rest()}, effort is None


def _show(said: Members) -> bool | None:
    return {"summarized": True, "omitted": False}.get(said.text("display") or "")


def _tier(said: str | None) -> str | None:
    return None if said is None else _TIERS.get(said, said)


def _kept(name: str, left: Extra) -> Extra:
    """Members of a member that have no neutral form, under its name."""
    return {name: raw(dict(left))} if left else {}


def _preserved(call: Call, turns: tuple[Turn, ...]) -> Extra:
    """The private note that an assistant prefill is meant as one."""
    asked = call.headers.get(PRESERVE, "").strip().lower() == "preserve"
    if asked and turns and turns[-1].role == "assistant":
        return {PRESERVE: raw("preserve")}
    return {}
