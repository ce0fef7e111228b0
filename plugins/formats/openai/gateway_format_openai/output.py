"""The form an answer must take, read and written."""

from typing import Any

from gateway_core import Conversation, Output, Text

from .draft import Draft
from .members import Members, invalid, take, take_flag, take_object, take_text

_UNNAMED = "response"


def take_output(members: Members) -> Output | None:
    """``response_format``; a type we do not know stays among the extra members."""
    raw = members.get("response_format")
    if raw is None:
        return None
    form = take_object(dict(members), "response_format")
    if form is None:
        del members["response_format"]
        return None
    kind = take_text(form, "type", "response_format.")
    if kind not in ("text", "json_object", "json_schema"):
        return None
    del members["response_format"]
    if kind == "text":
        return None
    if kind == "json_object":
        return Output(schema=take(form, "schema"))
    return _read_schema(take_object(form, "json_schema", "response_format."))


def _read_schema(members: Members | None) -> Output:
    where = "response_format.json_schema"
    if members is None:
        raise invalid(where, "is missing")
    return Output(
        schema=take(members, "schema"),
        name=take_text(members, "name", f"{where}."),
        description=take_text(members, "description", f"{where}."),
        strict=take_flag(members, "strict", f"{where}."),
    )


def write_output(output: Output | None, draft: Draft) -> dict[str, Any]:
    if output is None:
        return {}
    if output.schema is None or not draft.switches.json_schema:
        if output.schema is not None:
            draft.losses.add("output_schema")
        return {"response_format": {"type": "json_object"}}
    schema: dict[str, Any] = {"name": output.name or _UNNAMED}
    if output.description is not None:
        schema["description"] = output.description
    schema["schema"] = output.schema
    if output.strict is not None:
        schema["strict"] = output.strict
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def instructions_for(conversation: Conversation, draft: Draft) -> tuple[Text, ...]:
    """The instructions, with a word on JSON where the vendor's JSON mode needs it said."""
    output = conversation.output
    if output is None:
        return conversation.instructions
    if output.schema is not None:
        if draft.switches.json_schema:
            return conversation.instructions
        schema = bytes(output.schema).decode(errors="replace")
        hint = f"Answer with JSON that fits this schema, and with nothing else:\n{schema}"
    elif draft.own or _speaks_of_json(conversation):
        return conversation.instructions
    else:
        hint = "Answer with JSON and with nothing else."
    return (*conversation.instructions, Text(text=hint))


def _speaks_of_json(conversation: Conversation) -> bool:
    """JSON mode is refused when no message holds the word."""
    texts = [*conversation.instructions]
    for turn in conversation.turns:
        texts += (part for part in turn.parts if isinstance(part, Text))
    return any("json" in text.text.lower() for text in texts)
