"""The form an answer must take, as a vendor's request asks for it."""

from typing import Any

from gateway_core import Conversation, Output, Text

from .draft import Draft

_UNNAMED = "response"


def write_output(output: Output, draft: Draft) -> dict[str, Any]:
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


def add_json_instruction(conversation: Conversation, draft: Draft) -> tuple[Text, ...]:
    """The instructions, with a word on JSON where the vendor's JSON mode needs it."""
    output = conversation.output
    if output is None:
        return conversation.instructions
    if output.schema is not None:
        if draft.switches.json_schema:
            return conversation.instructions
        schema = bytes(output.schema).decode(errors="replace")
        hint = f"Answer with JSON that fits this schema, and with nothing else:\n{schema}"
    else:
        # JSON mode is refused when no message holds the word:
        # https://platform.openai.com/docs/guides/structured-outputs#json-mode
        parts = (
            *conversation.instructions,
            *(p for turn in conversation.turns for p in turn.parts),
        )
        texts = (part.text for part in parts if isinstance(part, Text))
        if draft.own or any("json" in text.lower() for text in texts):
            return conversation.instructions
        hint = "Answer with JSON and with nothing else."
    return (*conversation.instructions, Text(text=hint))
