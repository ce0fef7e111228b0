"""A client's request to a conversation."""

import re
from functools import partial

from msgspec import Raw

from gateway_core import Answered, BadRequest, Call, Conversation, Output, Sampling, Thinking, Tool

from .._dialect import DIALECT
from ..client_replies import write_load
from .intake import DEFAULT_MODEL
from .members import Members
from .messages import read_messages

_ZERO = re.compile(rb'"?0+(?:\.0+)?[a-z]*"?')
THINK_WORDS = ("low", "medium", "high", "max")


def read_request(call: Call) -> Conversation:
    """Raises BadRequest, which names the member that is wrong, and Answered for a call that only
    has the model loaded or unloaded."""
    body = Members.of(call.body)
    rows, stream = body.rows("messages"), body.flag("stream")
    if not rows:
        model, is_kept = body.text("model") or DEFAULT_MODEL, not _unloads(body)
        raise Answered(partial(write_load, model, is_loaded=is_kept))
    instructions, turns = read_messages(rows)
    tools: list[Tool] = []
    for row in body.rows("tools"):
        function = row.inner("function")
        name = function.text("name") if function is not None else None
        if function is None or not name:
            raise BadRequest(f"{row.place('function.name')} must be a string")
        row.settle("type", "function")
        description, schema = function.text("description"), function.raw("parameters")
        row.keep("function", function.rest())
        tools.append(Tool(name=name, description=description, schema=schema, extra=row.rest()))
    sampling, thinking = _sampling(body), _thinking(body)
    # json or a schema: https://github.com/ollama/ollama/blob/main/docs/api.md#structured-outputs
    form = _encoded_member(body, "format") or b'""'
    if form not in (b'""', b'"json"') and not form.startswith(b"{"):
        raise BadRequest('format must be "json" or a JSON schema')
    output = None if form == b'""' else Output(schema=Raw(form) if form != b'"json"' else None)
    return Conversation(
        instructions=instructions,
        turns=turns,
        tools=tuple(tools),
        sampling=sampling,
        thinking=thinking,
        output=output,
        # Streaming is the default: https://github.com/ollama/ollama/blob/main/docs/api.md#conventions
        stream=True if stream is None else stream,
        model=body.text("model") or DEFAULT_MODEL,
        dialect=DIALECT,
        extra=body.rest(),
    )


def _unloads(body: Members) -> bool:
    """Whether the model is to be unloaded at once: ``0``, ``0.0``, ``"0s"``.

    https://docs.ollama.com/faq#how-do-i-keep-a-model-loaded-in-memory-or-make-it-unload-immediately
    """
    keep_alive = _encoded_member(body, "keep_alive") or b""
    return _ZERO.fullmatch(keep_alive) is not None


def _sampling(body: Members) -> Sampling:
    logprobs, top_logprobs = body.flag("logprobs"), body.whole("top_logprobs")
    options = body.inner("options")
    if options is None:
        return Sampling(logprobs=logprobs, top_logprobs=top_logprobs)
    limit = options.whole("num_predict")
    # -1 and -2 mean no limit and the rest of the context:
    # https://github.com/ollama/ollama/blob/main/docs/modelfile.md#valid-parameters-and-values
    if limit is not None and limit < 1:
        options.keep("num_predict", limit)
        limit = None
    sampling = Sampling(
        max_tokens=limit,
        temperature=options.number("temperature"),
        top_p=options.number("top_p"),
        top_k=options.whole("top_k"),
        min_p=options.number("min_p"),
        seed=options.whole("seed"),
        stop=options.text_or_texts("stop"),
        presence_penalty=options.number("presence_penalty"),
        frequency_penalty=options.number("frequency_penalty"),
        logprobs=logprobs,
        top_logprobs=top_logprobs,
    )
    body.keep("options", options.rest())
    return sampling


def _thinking(body: Members) -> Thinking | None:
    # true, false, or a level: https://docs.ollama.com/capabilities/thinking
    think = _encoded_member(body, "think")
    if think in (b"true", b"false"):
        is_on = think == b"true"
        return Thinking(enabled=is_on, show=True if is_on else None)
    if think is None:
        return None
    word = think.strip(b'"').decode("utf-8", "replace")
    if word not in THINK_WORDS:
        raise BadRequest(f"think must be true, false or one of {', '.join(THINK_WORDS)}")
    return Thinking(enabled=True, effort=word, show=True)


def _encoded_member(body: Members, name: str) -> bytes | None:
    value = body.raw(name)
    return None if value is None else bytes(value)
