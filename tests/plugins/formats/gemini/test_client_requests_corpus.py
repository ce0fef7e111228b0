"""Recorded requests survive the way through the hub and back."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from corpus import Item, items, named, question

from gateway_core import BadRequest, Conversation, Losses

Read = Callable[..., Conversation]
Write = Callable[..., dict[str, Any]]

ASKED = [item for item in items("gemini_generate_content") if question(item) is not None]
COUNTED = [item for item in items("gemini_count_tokens") if question(item) is not None]
REFUSED = "google-vertex-otelpy-test-generate-content-invalid-role-612cb9"
SOUND = [item for item in ASKED if named(item) != REFUSED]
TYPES = {1: "string", 2: "number", 3: "integer", 4: "boolean", 5: "array", 6: "object"}


def camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def plain(value: Any, name: str = "") -> Any:
    """One spelling for names and base64; what a caller named himself keeps its name."""
    if name in ("args", "response", "properties"):
        return value
    if name == "data" and isinstance(value, str):
        return value.replace("-", "+").replace("_", "/").rstrip("=")
    if isinstance(value, dict):
        return {camel(key): plain(each, camel(key)) for key, each in value.items()}
    return [plain(each, name) for each in value] if isinstance(value, list) else value


def plain_schema(schema: Any) -> Any:
    """A schema in lower-case words, with ``null`` said in one way; order has no meaning."""
    if not isinstance(schema, dict):
        return schema
    made = {camel(name): each for name, each in schema.items() if each is not None}
    output = made.get("type")
    if isinstance(output, list) and "null" in output:
        [made["type"]] = [each for each in output if each != "null"]
        made["nullable"] = True
    branches = made.get("anyOf", [])
    if {"type": "null"} in branches and len(branches) == 2:
        [branch] = [each for each in made.pop("anyOf") if each != {"type": "null"}]
        made |= {**branch, "nullable": True}
    made["type"] = TYPES.get(made.get("type"), str(made.get("type", "")).lower())
    properties = made.pop("properties", {})
    if isinstance(made.get("propertyOrdering"), list):
        assert sorted(made.pop("propertyOrdering")) == sorted(properties)
    made["properties"] = {name: plain_schema(each) for name, each in properties.items()}
    for name in ("anyOf", "prefixItems"):
        if name in made:
            made[name] = [plain_schema(each) for each in made[name]]
    for name in ("items", "additionalProperties"):
        if name in made:
            made[name] = plain_schema(made[name])
    made["required"] = sorted(made.get("required", []))
    return made


def plain_parts(parts: list[Any], ids: str, model: bool) -> list[Any]:
    kept: list[Any] = []
    for part in parts:
        if part == {"text": ""} and len(parts) > 1:
            continue  # says nothing
        for name in ("functionCall", "functionResponse"):
            if name in part and part[name].get("id") not in (None, *re.findall(r"[\w-]+", ids)):
                del part[name]["id"]  # was given by the gateway
        if "functionResponse" in part:
            part["functionResponse"]["response"] = reported(part["functionResponse"]["response"])
        joins = kept and model and kept[-1].keys() == part.keys() == {"text"}
        if joins:
            kept[-1]["text"] += part["text"]
        else:
            kept.append(part)
    return sorted(kept, key=lambda part: "functionResponse" not in part)


def reported(response: Any) -> Any:
    """``result`` and ``output`` are two words for the whole of a function's answer."""
    if isinstance(response, dict) and len(response) == 1:
        name, value = next(iter(response.items()))
        if name in ("result", "output"):
            text = str(value) if isinstance(value, int | float) else value
            return value if isinstance(value, dict) else {"output": text}
    return response


def plain_contents(contents: list[Any], ids: str) -> list[Any]:
    """Contents of one role that follow one another are one turn."""
    turns: list[Any] = []
    for content in contents:
        role = "model" if content.get("role") == "model" else "user"
        if not turns or turns[-1]["role"] != role:
            turns.append({"role": role, "parts": []})
        turns[-1]["parts"] += content.get("parts", [])
    for turn in turns:
        turn["parts"] = plain_parts(turn["parts"], ids, turn["role"] == "model")
    return [turn for turn in turns if turn["parts"]]


def plain_tools(tools: Any) -> list[Any]:
    functions: list[Any] = []
    others: list[Any] = []
    for tool in tools if isinstance(tools, list) else [tools]:
        functions += tool.pop("functionDeclarations", [])
        others += [{name: value} for name, value in tool.items()]
    for function in functions:
        schema = function.pop("parametersJsonSchema", None) or function.pop("parameters", {})
        schema = plain_schema(schema)
        function["schema"] = schema if schema["properties"] or "$ref" in schema else None
        if not function.get("description"):
            function["description"] = ""
    return [functions, others]


def plain_config(config: dict[str, Any]) -> dict[str, Any]:
    if config.get("responseModalities") == ["TEXT"]:
        del config["responseModalities"]  # what every model does anyway, as the next two
    if config.get("responseMimeType") == "text/plain":
        del config["responseMimeType"]
    if config.get("stopSequences") == []:
        del config["stopSequences"]
    schema = config.pop("responseSchema", None) or config.pop("responseJsonSchema", None)
    if schema is not None:
        config["schema"] = plain_schema(schema)
    return config


def plain_request(body: dict[str, Any], ids: str) -> dict[str, Any]:
    made: dict[str, Any] = plain(body)
    made.pop("model", None)  # the path says it
    made["contents"] = plain_contents(made["contents"], ids)
    made["generationConfig"] = plain_config(made.get("generationConfig", {}))
    made["tools"] = plain_tools(made.get("tools", []))
    made.get("systemInstruction", {}).pop("role", None)  # means nothing there
    return made


@pytest.mark.parametrize("item", SOUND, ids=named)
def test_a_request_keeps_its_meaning_through_the_hub(item: Item, read: Read, write: Write) -> None:
    body = question(item)
    assert body is not None
    losses = Losses()

    written = write(read(body), losses, model=(item["model"] or "m").rpartition("/")[2])

    ids = body.decode()
    assert plain_request(written, ids) == plain_request(item["request_body"], ids)
    assert not losses


@pytest.mark.parametrize("item", SOUND, ids=named)
def test_what_was_written_reads_the_same_again(item: Item, read: Read, write: Write) -> None:
    first = read(msgspec.json.encode(write(read(question(item)))))

    again = read(msgspec.json.encode(write(first)))

    assert again == first


@pytest.mark.parametrize("item", COUNTED, ids=named)
def test_a_count_can_always_be_estimated(item: Item, gemini: Any) -> None:
    counting = next(each.counting for each in gemini.endpoints if each.counting is not None)

    counted = msgspec.json.decode(counting.estimate(question(item)))

    assert counted["totalTokens"] > 0
    assert counting.path("m") == "/models/m:countTokens"


def test_the_vendor_s_own_refusal_of_a_role_is_ours(read: Read) -> None:
    [item] = [item for item in ASKED if named(item) == REFUSED]

    with pytest.raises(BadRequest, match="Please use a valid role".lower()):
        read(question(item))
