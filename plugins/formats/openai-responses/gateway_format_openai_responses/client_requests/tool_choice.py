"""Read which tool the model must call."""

from msgspec import Raw

from gateway_core import ToolChoice

from .._namespaces import flat_name
from .members import TEXT, Members, decode_member, opening, unsupported

_MODES = {
    "none": ToolChoice("none"),
    "auto": ToolChoice("auto"),
    "required": ToolChoice("required"),
}
_CALLABLE = ("function", "custom")


def read_choice(body: Members) -> ToolChoice | Raw | None:
    """The choice in the hub's words, or as it came when only this dialect can say it."""
    raw = body.raw("tool_choice")
    if raw is None:
        return None
    if opening(raw) == b'"':
        word = decode_member(raw, TEXT, "tool_choice", "a string")
        if word not in _MODES:
            raise unsupported("tool_choice", word, tuple(_MODES))
        return _MODES[word]
    choice = Members({"tool_choice": raw}).inner("tool_choice")
    if choice is None:
        return raw
    kind = choice.needed("type")
    if kind in _CALLABLE:
        return ToolChoice("only", (_name(choice),))
    # https://platform.openai.com/docs/api-reference/responses/create#responses-create-tool_choice
    if kind == "allowed_tools" and choice.text("mode") == "required":
        allowed = choice.rows("tools") or []
        if allowed and all(tool.text("type") in _CALLABLE for tool in allowed):
            return ToolChoice("only", tuple(map(_name, allowed)))
    return raw


def _name(choice: Members) -> str:
    nested = choice.inner("function")  # as chat-completions clients nest it
    name = (choice if nested is None else nested).needed("name")
    namespace = choice.text("namespace")
    return name if namespace is None else flat_name(namespace, name)
