"""A client's request to a conversation."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Call,
    Conversation,
    Intake,
    Output,
    Sampling,
    Thinking,
    Tool,
    ToolChoice,
)
from gateway_core import Text as Instruction
from gateway_formats.intake import read_flag, read_text

from .._dialect import DIALECT, ELSEWHERE, ENCRYPTED, LOGPROBS
from .._namespaces import namespaced_tool
from .._summary import ask_for_summary
from .items import History, read_input
from .members import Members, body_of, missing, rows
from .stored_inputs import elsewhere
from .tool_choice import read_choice
from .tools import read_tools

_encode = msgspec.json.Encoder().encode


def read_request(call: Call) -> Conversation:
    """Raises BadRequest, which names the member that is wrong."""
    conversation, compacts = read_body(call)
    return ask_for_summary(conversation) if compacts else conversation


def read_compact_request(call: Call) -> Conversation:
    """Read a conversation to compact; the model is asked for a summary."""
    return ask_for_summary(read_body(call)[0])


def read_body(call: Call) -> tuple[Conversation, bool]:
    """The conversation, and whether its last item asks for it to be compacted."""
    body = Members(dict(call.members) or body_of(call.body))
    is_continued = any(name in body for name in ELSEWHERE)
    # Taken out so that it does not stay among the unknown members.
    body.raw("stream")  # The call knows: a header may ask for a stream too.
    found = body.array("tools")
    tools = () if found is None else read_tools(found, rows(found, "tools"))
    history = _history(body, tools, is_elsewhere=is_continued)
    kept = elsewhere(body, history.turns, tools)
    extra: dict[str, Raw] = {}
    sampling, thinking = _sampling(body), _thinking(body, extra)
    sampling, thinking = _include(body, sampling, thinking, extra)
    choice = read_choice(body)
    if isinstance(choice, Raw):
        extra["tool_choice"] = choice
    conversation = Conversation(
        instructions=tuple(history.instructions),
        turns=tuple(history.turns),
        tools=tools,
        tool_choice=choice if isinstance(choice, ToolChoice) else None,
        parallel_tools=body.flag("parallel_tool_calls"),
        sampling=sampling,
        thinking=thinking,
        output=_output(body, extra),
        user=_user(body, extra),
        cache_key=body.text("prompt_cache_key"),
        service_tier=body.text("service_tier"),
        stream=call.stream,
        model=body.text("model") or "",
        dialect=DIALECT,
        extra={**extra, **_rest(body)},
        elsewhere=kept,
    )
    return conversation, history.compacts


def _history(body: Members, tools: tuple[Tool, ...], *, is_elsewhere: bool) -> History:
    found = body.raw("input")
    if found is None and not is_elsewhere:
        raise missing("input")
    groups = (namespaced_tool(tool) for tool in tools if tool.raw is not None)
    history = read_input(found, frozenset(group.namespace for group in groups if group))
    if not (history.turns or history.instructions or is_elsewhere):
        raise BadRequest("'input' must not be empty.", param="input")
    instructions = body.text("instructions")
    if instructions is not None:
        history.instructions.insert(0, Instruction(text=instructions))
    return history


def _sampling(body: Members) -> Sampling:
    limit = body.whole("max_output_tokens")
    # https://platform.openai.com/docs/api-reference/responses/create#responses-create-max_output_tokens
    if limit is not None and limit < 1:
        message = "Invalid 'max_output_tokens': expected an integer above 0."
        raise BadRequest(message, param="max_output_tokens")
    return Sampling(
        max_tokens=limit,
        temperature=body.number("temperature"),
        top_p=body.number("top_p"),
        presence_penalty=body.number("presence_penalty"),
        frequency_penalty=body.number("frequency_penalty"),
        top_logprobs=body.whole("top_logprobs"),
    )


def _thinking(body: Members, extra: dict[str, Raw]) -> Thinking | None:
    reasoning = body.inner("reasoning")
    if reasoning is None:
        return None
    effort, summary = reasoning.text("effort"), reasoning.text("summary")
    # The deprecated name of summary:
    # https://platform.openai.com/docs/api-reference/responses/create#responses-create-reasoning
    older = reasoning.text("generate_summary")
    extra.update(_nested("reasoning", reasoning))
    summary = summary or older
    return Thinking(
        enabled=None if effort is None else effort != "none",
        effort=effort,
        summary=summary,
        show=None if summary is None else summary != "none",
    )


def _include(
    body: Members, sampling: Sampling, thinking: Thinking | None, extra: dict[str, Raw]
) -> tuple[Sampling, Thinking | None]:
    """What ``include`` asks for. A client that keeps encrypted thinking has it always."""
    wanted = body.texts("include") or []
    if LOGPROBS in wanted:
        sampling = msgspec.structs.replace(sampling, logprobs=True)
    if ENCRYPTED in wanted and thinking is None:
        thinking = Thinking()
    others = [name for name in wanted if name not in (LOGPROBS, ENCRYPTED)]
    if others:
        extra["include"] = Raw(_encode(others))
    return sampling, thinking


def _output(body: Members, extra: dict[str, Raw]) -> Output | None:
    text = body.inner("text")
    if text is None:
        return None
    form = text.inner("format")
    extra.update(_nested("text", text))
    if form is None:
        return None
    kind = form.needed("type")
    # https://platform.openai.com/docs/guides/structured-outputs
    if kind == "json_object":
        return Output()
    if kind == "json_schema":
        schema = form.raw("schema")
        if schema is None:
            raise missing(form.place("schema"))
        output = Output(
            schema=schema,
            name=form.needed("name"),
            description=form.text("description"),
            strict=form.flag("strict"),
        )
        extra.update(_nested("text.format", form))
        return output
    if kind != "text":
        extra["text.format"] = Raw(_encode({"type": kind, **form.rest()}))
    return None


def _user(body: Members, extra: dict[str, Raw]) -> str | None:
    """The newer of the two names for the same thing; the older is kept beside it."""
    # safety_identifier and prompt_cache_key replace user:
    # https://platform.openai.com/docs/api-reference/responses/create#responses-create-safety_identifier
    user, newer = body.text("user"), body.text("safety_identifier")
    if newer is None:
        return user
    if user is not None:
        extra["user"] = Raw(_encode(user))
    return newer


def _nested(name: str, inner: Members) -> dict[str, Raw]:
    return {f"{name}.{member}": raw for member, raw in inner.rest().items()}


# Members that begin with an underscore are private to whoever sends them.
def _rest(body: Members) -> dict[str, Any]:
    return {name: raw for name, raw in body.rest().items() if not name.startswith("_")}


_EVENTS = "text/event-stream"


def read_intake(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    """A client asks for a stream in the body, or by accepting events.

    Raises BadRequest.
    """
    stream = read_flag(members, "stream")
    accepted = headers.get("accept", "").lower()
    # Libraries accept both JSON and events by default; then the body decides.
    declined = members.get("stream") == Raw(b"false") and "," in accepted
    events = _EVENTS in accepted and not declined
    return Intake(read_text(members, "model"), stream or events)
