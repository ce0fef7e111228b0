"""The form an answer must take, as the client asks for it."""

from gateway_core import Output

from .._members import Members, invalid, take, take_flag, take_object, take_text


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
    # JSON mode: https://platform.openai.com/docs/guides/structured-outputs#json-mode
    if kind == "json_object":
        return Output(schema=take(form, "schema"))
    where = "response_format.json_schema"
    schema = take_object(form, "json_schema", "response_format.")
    if schema is None:
        raise invalid(where, "is missing")
    return Output(
        schema=take(schema, "schema"),
        name=take_text(schema, "name", f"{where}."),
        description=take_text(schema, "description", f"{where}."),
        strict=take_flag(schema, "strict", f"{where}."),
    )
