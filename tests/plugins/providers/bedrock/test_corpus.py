"""Recorded traffic of Converse, against a naive reading of the same JSON."""

import base64
import random
from typing import Any
from urllib.parse import unquote

import msgspec
import pytest
from botocore.eventstream import EventStreamBuffer
from corpus import Item, answer, items, named, question

from gateway_core import (
    AnyPart,
    Call,
    Conversation,
    Foreign,
    Kind,
    Media,
    Output,
    Reasoning,
    Reply,
    ReplyFailed,
    Sampling,
    Target,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
    UpstreamError,
    VendorSide,
)
from gateway_formats.fold import gather

ITEMS = items("bedrock_converse")
GOOD = [item for item in ITEMS if item["response_status"] == 200]
STREAMS = [item for item in GOOD if item["stream"]]
ERRORS = [item for item in ITEMS if item["response_status"] != 200]


def is_whole(item: Item) -> bool:
    """Whether a recorded answer is one: a curated one without an output is a part of one."""
    return b'"output"' in answer(item)


WHOLE = [item for item in GOOD if not item["stream"] and is_whole(item)]
ASKED = [item for item in GOOD if question(item) is not None]


def test_the_corpus_is_split_without_a_rest() -> None:
    assert len(STREAMS) + len(WHOLE) + len(ERRORS) == len(ITEMS) == 93


def rows(item: Item) -> list[tuple[str, Any]]:
    """The events of a stream, read by the vendor's own decoder where they are binary."""
    if item["response_body_encoding"] == "base64":
        buffer = EventStreamBuffer()
        buffer.add_data(answer(item))
        return [(m.headers[":event-type"], msgspec.json.decode(m.payload)) for m in buffer]
    lines = [msgspec.json.decode(line) for line in answer(item).splitlines() if line.strip()]
    return [pair for line in lines for pair in line.items()]


def wire(item: Item, framed: Any) -> bytes:
    """A stream as it was on the wire; decoded events are framed again."""
    return answer(item) if item["response_body_encoding"] == "base64" else framed(*rows(item))


def folded(item: Item) -> dict[str, Any]:
    """A recorded stream as the whole answer that it amounts to, read as plainly as can be."""
    blocks: dict[int, dict[str, Any]] = {}
    body: dict[str, Any] = {}
    for name, row in rows(item):
        at = row.get("contentBlockIndex", 0)
        if name == "contentBlockStart":
            blocks[at] = {kind: dict(held) for kind, held in row["start"].items()}
        elif name == "contentBlockDelta":
            grow(blocks.setdefault(at, {}), row["delta"])
        elif name == "messageStop":
            body |= row
        elif name == "metadata":
            body["usage"] = row["usage"]
    content = [closed(blocks[at]) for at in sorted(blocks)]
    return {**body, "output": {"message": {"role": "assistant", "content": content}}}


def grow(block: dict[str, Any], delta: dict[str, Any]) -> None:
    ((kind, piece),) = delta.items()
    if kind == "text":
        block["text"] = block.get("text", "") + piece
    elif kind == "toolUse":
        held = block["toolUse"]
        held["input"] = held.get("input", "") + piece["input"]
    elif kind == "toolResult":
        block["toolResult"].setdefault("content", []).extend(piece)
    elif kind == "citation":
        block.setdefault("citations", []).append(piece)
    else:
        held = block.setdefault("reasoningContent", {})
        for name, text in piece.items():
            held[name] = held.get(name, "") + text


def closed(block: dict[str, Any]) -> dict[str, Any]:
    if "toolUse" in block:
        use = block["toolUse"]
        return {"toolUse": {**use, "input": msgspec.json.decode(use.get("input") or "{}")}}
    if "citations" in block:
        content = [{"text": block["text"]}] if "text" in block else []
        return {"citationsContent": {"content": content, "citations": block["citations"]}}
    thinking = block.get("reasoningContent", {})
    if "text" in thinking or "signature" in thinking:
        said = {"text": thinking.get("text", ""), "signature": thinking.get("signature")}
        return {"reasoningContent": {"reasoningText": said}}
    return block


FINISHES = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "guardrail_intervened": "content_filter",
}


def naive(body: dict[str, Any]) -> dict[str, Any]:
    content, usage = body["output"]["message"]["content"], body.get("usage", {})
    cited = [b["citationsContent"] for b in content if "citationsContent" in b]
    thinking = [b["reasoningContent"] for b in content if "reasoningContent" in b]
    calls = [b["toolUse"] for b in content if "toolUse" in b]
    return {
        "text": "".join(
            block["text"]
            if "text" in block
            else "".join(p["text"] for p in block["citationsContent"].get("content", ()))
            for block in content
            if "text" in block or "citationsContent" in block
        ),
        "calls": [
            (call["toolUseId"], call["name"], call["input"])
            for call in calls
            if call.get("type") != "server_tool_use"
        ],
        "thinking": [
            (
                block.get("reasoningText", {}).get("text", ""),
                block.get("reasoningText", {}).get("signature"),
                block.get("redactedContent"),
            )
            for block in thinking
        ],
        "citations": [
            (row.get("title"), "".join(piece["text"] for piece in row.get("sourceContent", [])))
            for block in cited
            for row in block["citations"]
        ],
        "server": sum("toolResult" in block for block in content)
        + sum(call.get("type") == "server_tool_use" for call in calls),
        "finish": FINISHES.get(body["stopReason"], "stop"),
        "usage": (
            usage.get("inputTokens", 0)
            + usage.get("cacheReadInputTokens", 0)
            + usage.get("cacheWriteInputTokens", 0),
            usage.get("outputTokens", 0),
            usage.get("cacheReadInputTokens", 0),
            usage.get("cacheWriteInputTokens", 0),
        ),
    }


def said(reply: Reply) -> dict[str, Any]:
    (choice,) = reply.choices
    parts, usage = choice.parts, reply.usage
    texts = [part for part in parts if isinstance(part, Text)]
    return {
        "text": "".join(text.text for text in texts),
        "calls": [
            (part.id, part.name, msgspec.json.decode(part.arguments))
            for part in parts
            if isinstance(part, ToolCall)
        ],
        "thinking": [
            (part.text, part.signature, part.sealed)
            for part in parts
            if isinstance(part, Reasoning)
        ],
        "citations": [(c.title, c.quote or "") for text in texts for c in text.citations],
        "server": sum(isinstance(part, Foreign) for part in parts),
        "finish": choice.finish,
        "usage": (
            (
                usage.input_tokens,
                usage.output_tokens,
                usage.cached_tokens,
                usage.cache_write_tokens,
            )
            if usage
            else (0, 0, 0, 0)
        ),
    }


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_says_what_a_naive_reading_says(item: Item, vendor: VendorSide) -> None:
    assert said(vendor.read_reply(answer(item))) == naive(msgspec.json.decode(answer(item)))


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_says_what_a_naive_reading_says(item: Item, read: Any, framed: Any) -> None:
    assert said(gather(read(wire(item, framed)))) == naive(folded(item))


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_and_the_whole_answer_it_amounts_to_are_one(
    item: Item, read: Any, vendor: VendorSide, framed: Any
) -> None:
    streamed = gather(read(wire(item, framed)))
    whole = vendor.read_reply(msgspec.json.encode(folded(item)))

    assert normal_reply(streamed) == normal_reply(whole)


def normal_reply(reply: Reply) -> Reply:
    """A reply whose tools' arguments are spelled in one way: the stream keeps the model's."""
    (choice,) = reply.choices
    parts = tuple(
        msgspec.structs.replace(part, arguments=spelled(part.arguments))
        if isinstance(part, ToolCall)
        else msgspec.structs.replace(part, raw=msgspec.Raw(spelled(bytes(part.raw)).encode()))
        if isinstance(part, Foreign)
        else part
        for part in choice.parts
    )
    return msgspec.structs.replace(reply, choices=(msgspec.structs.replace(choice, parts=parts),))


def spelled(json: str | bytes) -> str:
    return msgspec.json.encode(msgspec.json.decode(json), order="sorted").decode()


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_is_the_same_however_it_is_cut(item: Item, read: Any, framed: Any) -> None:
    stream = wire(item, framed)
    chance = random.Random(named(item))

    for _ in range(5):
        assert read(stream, chance.sample(range(len(stream)), 20)) == read(stream)


@pytest.mark.parametrize("item", STREAMS[:3], ids=named)
def test_a_stream_is_the_same_byte_for_byte(item: Item, read: Any, framed: Any) -> None:
    stream = wire(item, framed)[:6000]

    assert read(stream, range(1, len(stream))) == read(stream)


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_the_relay_changes_nothing(
    item: Item, vendor: VendorSide, target: Target, framed: Any
) -> None:
    call = Call(kind=Kind.LLM, format="bedrock", model="", stream=True, body=b"{}")
    relay, stream = vendor.relay(call, target, {}), wire(item, framed)
    middle = len(stream) // 2

    assert relay.feed(stream[:middle]) + relay.feed(stream[middle:]) + relay.close() == stream
    assert relay.failure is None
    counted = relay.usage.output_tokens if relay.usage else 0
    assert counted == naive(folded(item))["usage"][1]


@pytest.mark.parametrize("item", ERRORS, ids=named)
def test_a_refusal_is_read(item: Item, vendor: VendorSide) -> None:
    headers = item["response_headers"]

    error = vendor.read_error(item["response_status"], headers, answer(item))

    assert error.status == item["response_status"]
    assert error.message == msgspec.json.decode(answer(item))["message"]
    assert error.request_id == headers.get("x-amzn-requestid")


def test_a_refusal_is_no_answer(vendor: VendorSide) -> None:
    with pytest.raises(UpstreamError, match="could not be read"):
        vendor.read_reply(answer(ERRORS[0]))


@pytest.mark.parametrize("item", ASKED, ids=named)
def test_the_path_is_the_recorded_one(item: Item, vendor: VendorSide) -> None:
    """A model's id is recorded as it stands in the path."""
    recorded = item["endpoint"].partition(" ")[2]
    _, _, model, verb = recorded.split("/")

    written = vendor.path(unquote(model), stream=verb == "converse-stream")

    assert written.replace("%3A", ":") == recorded.replace("%3A", ":")


def hub(item: Item) -> Conversation:
    """A recorded request as the conversation that a client of another format would mean."""
    body = item["request_body"]
    inference = body.get("inferenceConfig", {})
    fields = body.get("additionalModelRequestFields", {})
    config = fields.get("reasoning_config")  # another name of ``thinking``, or an effort
    thinking = fields.get("thinking") or (config if isinstance(config, dict) else None)
    effort = fields.get("reasoning_effort") or config
    form = body.get("outputConfig", {}).get("textFormat", {}).get("structure", {}).get("jsonSchema")
    return Conversation(
        instructions=tuple(p for p in parts(body.get("system", ())) if isinstance(p, Text)),
        turns=tuple(Turn(m["role"], tuple(parts(m["content"]))) for m in body["messages"]),
        tools=tuple(tool(row["toolSpec"]) for row in body.get("toolConfig", {}).get("tools", ())),
        tool_choice=choice(body.get("toolConfig", {}).get("toolChoice")),
        sampling=Sampling(
            max_tokens=inference.get("maxTokens"),
            temperature=inference.get("temperature"),
            top_p=inference.get("topP"),
            top_k=fields.get("inferenceConfig", {}).get("topK"),
            stop=tuple(inference.get("stopSequences", ())),
        ),
        thinking=Thinking(enabled=True, budget=thinking["budget_tokens"])
        if thinking
        else Thinking(effort=effort)
        if isinstance(effort, str)
        else None,
        output=None
        if form is None
        else Output(
            schema=msgspec.Raw(form["schema"].encode()),
            name=form.get("name"),
            description=form.get("description"),
        ),
        service_tier=body.get("serviceTier", {}).get("type"),
        stream=item["stream"],
    )


def parts(blocks: list[dict[str, Any]]) -> list[AnyPart]:
    found: list[AnyPart] = []
    for block in blocks:
        if "cachePoint" in block:
            found[-1] = msgspec.structs.replace(found[-1], cache="5m")
        else:
            found.append(part(block))
    return found


def part(block: dict[str, Any]) -> AnyPart:
    ((kind, held),) = block.items()
    if kind == "text":
        return Text(text=held)
    if kind == "toolUse":
        arguments = msgspec.json.encode(held["input"]).decode()
        return ToolCall(id=held["toolUseId"], name=held["name"], arguments=arguments)
    if kind == "toolResult":
        content = tuple(p for p in parts(held["content"]) if isinstance(p, Text | Media))
        failed = held.get("status") == "error"
        return ToolResult(call_id=held["toolUseId"], content=content, failed=failed)
    if kind == "reasoningContent":
        said = held["reasoningText"]
        return Reasoning(text=said["text"], signature=said.get("signature"), origin="bedrock")
    if kind == "json":
        return Text(text=msgspec.json.encode(held).decode())
    source = held["source"]
    types = {
        "jpeg": "image/jpeg",
        "png": "image/png",
        "txt": "text/plain",
        "pdf": "application/pdf",
    }
    return Media(
        kind="image" if kind == "image" else "document",
        media_type=types[held["format"]],
        data=source.get("bytes"),
        text=source.get("text"),
        name=held.get("name"),
    )


def tool(spec: dict[str, Any]) -> Tool:
    return Tool(
        name=spec["name"],
        description=spec.get("description"),
        schema=msgspec.Raw(msgspec.json.encode(spec["inputSchema"]["json"])),
        strict=spec.get("strict"),
    )


def choice(said: dict[str, Any] | None) -> ToolChoice | None:
    if said is None:
        return None
    ((mode, held),) = said.items()
    if mode == "tool":
        return ToolChoice("only", (held["name"],))
    return ToolChoice("required" if mode == "any" else "auto")


PLAIN = (
    "guardContent",
    "systemTool",
    "searchResult",
    "server_tool_use",
    "citations",
    "guardrailConfig",
)


def is_plain(item: Item) -> bool:
    """Whether the hub can say everything in a request, and the model's id tells its maker."""
    spelled = msgspec.json.encode(item["request_body"]).decode()
    opaque = item.get("model", "MODEL") in ("MODEL", None) or "arn" in str(item.get("model"))
    return not any(word in spelled for word in PLAIN) and not opaque


def normal(body: dict[str, Any]) -> dict[str, Any]:
    """A request without the freedoms of spelling that Converse allows.

    An answer's status is ``success`` unless said, empty members say nothing, a
    place to look for the stop sequence and a limit above a thinking budget are
    ours, and JSON in a result may be said as text.
    """
    body = {name: value for name, value in body.items() if value not in ({}, [], None)}
    for name in ("additionalModelResponseFieldPaths", "modelId", "performanceConfig"):
        body.pop(name, None)
    if body.get("inferenceConfig", {}).get("stopSequences") == []:
        del body["inferenceConfig"]["stopSequences"]
    fields = body.get("additionalModelRequestFields", {})
    if isinstance(fields.get("reasoning_config"), dict):
        fields["thinking"] = fields.pop("reasoning_config")
    if "thinking" in fields:
        body.pop("inferenceConfig", None)
    if body.get("toolConfig", {}).get("toolChoice") == {"auto": {}}:
        del body["toolConfig"]["toolChoice"]
    for message in body["messages"]:
        for block in message["content"]:
            if "toolResult" in block:
                result = block["toolResult"]
                if result.get("status") == "success":
                    del result["status"]
                result["content"] = [as_text(piece) for piece in result["content"]]
            elif "reasoningContent" in block:
                block["reasoningContent"]["reasoningText"].setdefault("signature", None)
    return body


def as_text(piece: dict[str, Any]) -> dict[str, Any]:
    return {"text": spelled(msgspec.json.encode(piece["json"]))} if "json" in piece else piece


RECORDED = [item for item in ASKED if is_plain(item)]


@pytest.mark.parametrize("item", RECORDED, ids=named)
def test_a_request_is_written_as_it_was_recorded(item: Item, tell: Any) -> None:
    body = msgspec.json.decode(question(item) or b"")

    written, losses = tell(hub(item), unquote(item["model"]))

    assert normal(written) == normal(body)
    assert losses == []


def test_most_recorded_requests_are_compared() -> None:
    assert len(RECORDED) > 50


def test_base64_is_never_taken_apart(tell: Any) -> None:
    data = base64.b64encode(b"\xff" * 9).decode()
    media = Media(kind="image", media_type="image/png", data=data)

    body, _ = tell(Conversation(turns=(Turn("user", (media,)),)))

    assert body["messages"][0]["content"][0]["image"]["source"]["bytes"] == data


def test_every_failure_of_a_recorded_stream_is_a_failure(read: Any, framed: Any) -> None:
    stream = wire(STREAMS[0], framed)

    for place in range(0, len(stream) - 1, 97):
        assert isinstance(read(stream[:place])[-1], ReplyFailed) or (
            place > stream.index(b"messageStop")
        )
