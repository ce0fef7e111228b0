"""Recorded requests of Converse's, written anew from what they mean."""

import base64
from typing import Any
from urllib.parse import unquote

import msgspec
import pytest
from corpus import Item, items, named, question

from gateway_core import (
    AnyPart,
    Conversation,
    Media,
    Output,
    Reasoning,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
    VendorSide,
)

ASKED = [
    item
    for item in items("bedrock_converse")
    if item["response_status"] == 200 and question(item) is not None
]


def spelled(json: str | bytes) -> str:
    return msgspec.json.encode(msgspec.json.decode(json), order="sorted").decode()


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
        produced = held["reasoningText"]
        return Reasoning(
            text=produced["text"], signature=produced.get("signature"), origin="bedrock"
        )
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


def choice(produced: dict[str, Any] | None) -> ToolChoice | None:
    if produced is None:
        return None
    ((mode, held),) = produced.items()
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
