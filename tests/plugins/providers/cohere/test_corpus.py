"""Recorded traffic of Cohere's chat, version 2, against a naive reading of the same JSON."""

import random
from typing import Any

import msgspec
import pytest
from corpus import Item, answer, items, named, question

from gateway_core import (
    AnyPart,
    Call,
    Citation,
    Conversation,
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

ITEMS = [item for item in items("cohere_chat") if "/v2/chat" in item["endpoint"]]
OLD = [item for item in items("cohere_chat") if "/v1/chat" in item["endpoint"]]
"""The first version of the API, another dialect altogether."""
ASKED = [item for item in ITEMS if question(item) is not None]
GOOD = [item for item in ITEMS if item["response_status"] == 200]
FAILED = [item for item in GOOD if b'"finish_reason":"ERROR"' in answer(item)]
STREAMS = [item for item in GOOD if item["stream"] and item not in FAILED]
WHOLE = [item for item in GOOD if not item["stream"]]
ERRORS = [item for item in ITEMS if item["response_status"] != 200]


def test_the_corpus_is_split_without_a_rest() -> None:
    counts = [len(part) for part in (STREAMS, WHOLE, FAILED, ERRORS)]

    assert (sum(counts), counts[3], len(OLD)) == (len(ITEMS), 2, 10)


def rows(item: Item) -> list[dict[str, Any]]:
    lines = (line for line in answer(item).splitlines() if line.startswith(b"data: {"))
    return [msgspec.json.decode(line[6:]) for line in lines]


def folded(item: Item) -> dict[str, Any]:
    """A recorded stream as the whole answer that it amounts to, read as plainly as can be."""
    message: dict[str, Any] = {"tool_plan": "", "tool_calls": [], "citations": []}
    contents: dict[int, dict[str, str]] = {}
    body: dict[str, Any] = {"message": message}
    for row in rows(item):
        produced = (row.get("delta") or {}).get("message") or {}
        if row["type"] == "message-start":
            body["id"] = row["id"]
        elif row["type"] == "content-start":
            contents[row["index"]] = dict(produced["content"])
        elif row["type"] == "content-delta":
            for name, text in produced["content"].items():
                contents[row["index"]][name] = contents[row["index"]].get(name, "") + text
        elif row["type"] == "tool-plan-delta":
            message["tool_plan"] += produced["tool_plan"]
        elif row["type"] == "tool-call-start":
            message["tool_calls"].append(produced["tool_calls"])
        elif row["type"] == "tool-call-delta":
            function = message["tool_calls"][row["index"]]["function"]
            function["arguments"] += produced["tool_calls"]["function"]["arguments"]
        elif row["type"] == "citation-start":
            message["citations"].append(produced["citations"])
        elif row["type"] == "message-end":
            body |= row["delta"]
    message["content"] = [contents[index] for index in sorted(contents)]
    return body


def naive(body: dict[str, Any]) -> dict[str, Any]:
    message, tokens = body["message"], body["usage"]["tokens"]
    contents = message.get("content") or []
    thinking = [content["thinking"] for content in contents if content["type"] == "thinking"]
    finish = {"MAX_TOKENS": "length", "TOOL_CALL": "tool_calls"}.get(body["finish_reason"], "stop")
    return {
        "id": body["id"],
        "thinking": (message.get("tool_plan") or "") + "".join(thinking),
        "text": "".join(content["text"] for content in contents if content["type"] == "text"),
        "calls": [
            (call["id"], call["function"]["name"], call["function"].get("arguments") or "{}")
            for call in message.get("tool_calls") or []
        ],
        "citations": [
            (cited["start"], cited["end"], (source.get("document") or {}).get("title"))
            for cited in message.get("citations") or []
            for source in cited["sources"]
        ],
        "finish": finish,
        "usage": (
            tokens["input_tokens"] + tokens.get("image_tokens", 0),
            tokens["output_tokens"],
            body["usage"].get("cached_tokens", 0),
            tokens.get("reasoning_tokens", 0),
        ),
    }


def produced(reply: Reply) -> dict[str, Any]:
    (choice,) = reply.choices
    calls = [part for part in choice.parts if isinstance(part, ToolCall)]
    texts = [part for part in choice.parts if isinstance(part, Text)]
    citations: list[Citation] = [cited for text in texts for cited in text.citations]
    usage = reply.usage
    assert usage is not None
    from_tools = {"Ruby Facts"}  # a title of a tool's output, which the naive reading skips
    titles = [None if cited.title in from_tools else cited.title for cited in citations]
    return {
        "id": reply.id,
        "thinking": "".join(part.text for part in choice.parts if isinstance(part, Reasoning)),
        "text": "".join(text.text for text in texts),
        "calls": [(call.id, call.name, call.arguments) for call in calls],
        "citations": [
            (cited.start, cited.end, title) for cited, title in zip(citations, titles, strict=True)
        ],
        "finish": choice.finish,
        "usage": (
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.reasoning_tokens,
        ),
    }


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_says_what_a_naive_reading_says(item: Item, vendor: VendorSide) -> None:
    assert produced(vendor.read_reply(answer(item))) == naive(msgspec.json.decode(answer(item)))


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_says_what_a_naive_reading_says(item: Item, read: Any) -> None:
    assert produced(gather(read(answer(item)))) == naive(folded(item))


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_and_the_whole_answer_it_amounts_to_are_one(
    item: Item, read: Any, vendor: VendorSide
) -> None:
    assert gather(read(answer(item))) == vendor.read_reply(msgspec.json.encode(folded(item)))


@pytest.mark.parametrize("item", STREAMS + FAILED, ids=named)
def test_a_stream_is_the_same_however_it_is_cut(item: Item, read: Any) -> None:
    stream = answer(item)
    chance = random.Random(named(item))

    for _ in range(5):
        assert read(stream, chance.sample(range(len(stream)), 20)) == read(stream)


@pytest.mark.parametrize("item", STREAMS[:3], ids=named)
def test_a_stream_is_the_same_byte_for_byte(item: Item, read: Any) -> None:
    stream = answer(item)[:1200] + answer(item)[-800:]

    assert read(stream, range(1, len(stream))) == read(stream)


@pytest.mark.parametrize("item", FAILED, ids=named)
def test_an_answer_that_ends_in_error_fails(item: Item, read: Any) -> None:
    failed = read(answer(item))[-1]

    assert isinstance(failed, ReplyFailed)
    assert failed.message.startswith("your request resulted in an invalid tool generation")
    assert failed.kind == "INVALID_TOOL_GENERATION"


@pytest.mark.parametrize("item", OLD, ids=named)
def test_an_answer_of_the_first_version_is_rubbish(
    item: Item, vendor: VendorSide, read: Any
) -> None:
    with pytest.raises(UpstreamError, match="could not be read"):
        vendor.read_reply(answer(item))
    assert isinstance(read(answer(item))[-1], ReplyFailed)


@pytest.mark.parametrize("item", ERRORS, ids=named)
def test_a_refusal_is_read(item: Item, vendor: VendorSide) -> None:
    body = msgspec.json.decode(answer(item))

    error = vendor.read_error(item["response_status"], {}, answer(item))

    assert error.status == item["response_status"]
    assert error.message == body["message"][:500]
    assert (error.kind, error.request_id) == (body.get("error_type"), body["id"])


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_the_relay_changes_nothing(item: Item, vendor: VendorSide, target: Target) -> None:
    call = Call(kind=Kind.LLM, format="cohere", model="", stream=True, body=b"{}")
    relay = vendor.relay(call, target, {})

    passed = relay.feed(answer(item)) + relay.close()

    assert passed.rstrip(b"\n") == answer(item).rstrip(b"\n")
    assert relay.failure is None
    assert relay.usage is not None
    assert relay.usage.output_tokens == naive(folded(item))["usage"][1]


def hub(body: dict[str, Any]) -> Conversation:
    """A recorded request as the conversation that a client of another format would mean."""
    messages = list(body["messages"])
    instructions = []
    while messages and messages[0]["role"] == "system":
        instructions.append(Text(text=words(messages.pop(0)["content"])))
    turns = [turn(message) for message in messages]
    documents = [
        Media(kind="document", text=d["data"]["text"], name=d["data"].get("title"))
        for d in body.get("documents", ())
    ]
    turns[-1] = Turn(turns[-1].role, (*turns[-1].parts, *documents))
    form = body.get("response_format")
    choice = {"REQUIRED": ToolChoice("required"), "NONE": ToolChoice("none"), None: None}
    return Conversation(
        instructions=tuple(instructions),
        turns=tuple(turns),
        tools=tuple(
            Tool(
                name=tool["function"]["name"],
                description=tool["function"].get("description"),
                schema=msgspec.Raw(msgspec.json.encode(tool["function"]["parameters"])),
            )
            for tool in body.get("tools", ())
        ),
        tool_choice=choice[body.get("tool_choice")],
        sampling=Sampling(
            temperature=body.get("temperature"), stop=tuple(body.get("stop_sequences", ()))
        ),
        output=None
        if form is None
        else Output(schema=msgspec.Raw(msgspec.json.encode(schema(form)))),
        thinking=Thinking(enabled=True) if "thinking" in body else None,
        stream=body["stream"],
    )


def schema(form: dict[str, Any]) -> Any:
    return form.get("json_schema") or form.get("schema")


def words(content: Any) -> str:
    """Content as one text; a document of a tool's output counts as its JSON."""
    if isinstance(content, str):
        return content
    return "\n\n".join(
        block["text"]
        if "text" in block
        else msgspec.json.encode(block["document"]["data"]).decode()
        for block in content
    )


def turn(message: dict[str, Any]) -> Turn:
    content = message.get("content") or ""
    if message["role"] == "tool":
        result = ToolResult(call_id=message["tool_call_id"], content=(Text(text=words(content)),))
        return Turn("user", (result,))
    parts: list[AnyPart] = []
    if message.get("tool_plan"):
        parts.append(Reasoning(text=message["tool_plan"]))
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        parts += part(block)
    for call in message.get("tool_calls") or ():
        function = call["function"]
        parts.append(
            ToolCall(id=call["id"], name=function["name"], arguments=function["arguments"])
        )
    return Turn(message["role"], tuple(parts))


def part(block: dict[str, Any]) -> list[AnyPart]:
    if block["type"] == "text":
        return [Text(text=block["text"])] if block["text"] else []
    if block["type"] == "thinking":
        return [Reasoning(text=block["thinking"])]
    url, detail = block["image_url"]["url"], block["image_url"].get("detail")
    if not url.startswith("data:"):
        return [Media(kind="image", url=url, detail=detail)]
    head, _, data = url.partition(";base64,")
    return [Media(kind="image", media_type=head[5:], data=data, detail=detail)]


def normal(body: dict[str, Any]) -> dict[str, Any]:
    """A request without the freedoms of spelling that Cohere allows.

    Content may be a string or blocks of text, a schema has two names, system
    messages may be split, documents are numbered anew, an absent ``type`` of a
    call is the only one there is, and empty lists say nothing.
    """
    body = {name: value for name, value in body.items() if value not in ([], None)}
    for message in body["messages"]:
        content = message.get("content")
        if not content or content == [{"type": "text", "text": ""}]:
            message.pop("content", None)
        elif message["role"] == "tool" or isinstance(content, str):
            message["content"] = [{"type": "text", "text": words(content)}]
        for call in message.get("tool_calls", ()):
            call["type"] = "function"
    if "response_format" in body:
        body["response_format"] = {"type": "json_object", "schema": schema(body["response_format"])}
    body["documents"] = [document["data"] for document in body.get("documents", ())]
    return body


@pytest.mark.parametrize("item", ASKED, ids=named)
def test_a_request_is_written_as_it_was_recorded(item: Item, tell: Any) -> None:
    body = msgspec.json.decode(question(item) or b"")

    written, losses = tell(hub(body), body["model"])

    assert normal(written) == normal(body)
    assert losses == []
