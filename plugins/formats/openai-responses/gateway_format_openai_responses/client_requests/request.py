"""A client's request to a conversation."""

from collections.abc import Mapping

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
from .stored_inputs import find_stored_inputs
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
    declared = body.array("tools")
    tools = () if declared is None else read_tools(declared, rows(declared, "tools"))
    history = _read_history(body, tools, is_elsewhere=is_continued)
    kept = find_stored_inputs(body, history.turns, tools)
    extra: dict[str, Raw] = {}
    sampling, thinking = _read_sampling_and_thinking(body, extra)
    choice = read_choice(body)
    if isinstance(choice, Raw):
        extra["tool_choice"] = choice
    parallel_tools, output = body.flag("parallel_tool_calls"), _read_output(body, extra)
    # safety_identifier and prompt_cache_key replace user:
    # https://platform.openai.com/docs/api-reference/responses/create#responses-create-safety_identifier
    older_user, user = body.text("user"), body.text("safety_identifier")
    if user is not None and older_user is not None:
        extra["user"] = Raw(_encode(older_user))
    conversation = Conversation(
        instructions=tuple(history.instructions),
        turns=tuple(history.turns),
        tools=tools,
        tool_choice=choice if isinstance(choice, ToolChoice) else None,
        parallel_tools=parallel_tools,
        sampling=sampling,
        thinking=thinking,
        output=output,
        user=older_user if user is None else user,
        cache_key=body.text("prompt_cache_key"),
        service_tier=body.text("service_tier"),
        stream=call.stream,
        model=body.text("model") or "",
        dialect=DIALECT,
        # Members that begin with an underscore are private to the client that sends them.
        extra=extra | {name: raw for name, raw in body.rest().items() if name[:1] != "_"},
        elsewhere=kept,
    )
    return conversation, history.compacts


def _read_history(body: Members, tools: tuple[Tool, ...], *, is_elsewhere: bool) -> History:
    items = body.raw("input")
    if items is None and not is_elsewhere:
        raise missing("input")
    groups = (namespaced_tool(tool) for tool in tools if tool.raw is not None)
    history = read_input(items, frozenset(group.namespace for group in groups if group))
    if not (history.turns or history.instructions or is_elsewhere):
        raise BadRequest("'input' must not be empty.", param="input")
    instructions = body.text("instructions")
    if instructions is not None:
        history.instructions.insert(0, Instruction(text=instructions))
    return history


def _read_sampling_and_thinking(
    body: Members, extra: dict[str, Raw]
) -> tuple[Sampling, Thinking | None]:
    limit = body.whole("max_output_tokens")
    # https://platform.openai.com/docs/api-reference/responses/create#responses-create-max_output_tokens
    if limit is not None and limit < 1:
        message = "Invalid 'max_output_tokens': expected an integer above 0."
        raise BadRequest(message, param="max_output_tokens")
    sampling = Sampling(
        max_tokens=limit,
        temperature=body.number("temperature"),
        top_p=body.number("top_p"),
        presence_penalty=body.number("presence_penalty"),
        frequency_penalty=body.number("frequency_penalty"),
        top_logprobs=body.whole("top_logprobs"),
    )
    thinking = None
    reasoning = body.inner("reasoning")
    if reasoning is not None:
        effort, summary = reasoning.text("effort"), reasoning.text("summary")
        # The deprecated name of summary:
        # https://platform.openai.com/docs/api-reference/responses/create#responses-create-reasoning
        older = reasoning.text("generate_summary")
        extra.update(_prefix_rest("reasoning", reasoning))
        summary = summary or older
        thinking = Thinking(
            enabled=None if effort is None else effort != "none",
            effort=effort,
            summary=summary,
            show=None if summary is None else summary != "none",
        )
    include = body.texts("include") or []
    if LOGPROBS in include:
        sampling = msgspec.structs.replace(sampling, logprobs=True)
    # A client that keeps encrypted thinking asks for thinking, with or without settings.
    if ENCRYPTED in include and thinking is None:
        thinking = Thinking()
    others = [name for name in include if name not in (LOGPROBS, ENCRYPTED)]
    if others:
        extra["include"] = Raw(_encode(others))
    return sampling, thinking


def _read_output(body: Members, extra: dict[str, Raw]) -> Output | None:
    text = body.inner("text")
    if text is None:
        return None
    form = text.inner("format")
    extra.update(_prefix_rest("text", text))
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
        extra.update(_prefix_rest("text.format", form))
        return output
    if kind != "text":
        extra["text.format"] = Raw(_encode({"type": kind, **form.rest()}))
    return None


def _prefix_rest(name: str, inner: Members) -> dict[str, Raw]:
    return {f"{name}.{member}": raw for member, raw in inner.rest().items()}


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
