"""The OpenAPI document: a pure function of the operations and the wire formats there are.

Types become schemas by msgspec's own hand, so that what is shown is what is
read. Bodies of inference endpoints are left open: their formats are described
by those who made them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from gateway_core.contracts.wire import WireFormat
from gateway_core.http.operations import FORM, JSON, STREAM, RouteOperation
from gateway_core.identity.access import RULES, Access

from .errors import RESPONSES, SCHEMAS, responses_of
from .schemas import SCHEMA, describe
from .security import SCHEMES, security_of

Node = dict[str, Any]

VERSION = "3.1.0"
ABOUT = """A model gateway: client endpoints, the catalog, and the management API under `/api`.

`x-gateway-access` of an operation names its class of callers; the document's own
`x-gateway-access` says what each class means. A caller on this machine needs no credential for
the management API while the setting `requireLogin` is off.

Client paths below `/v1` may also be called below `/api/v1` and `/v1/v1`, those below `/v1beta`
below `/api/v1beta`."""
OPEN: Node = {"type": "object"}
TEXT: Node = {"type": "string"}
REQUEST_ID = {
    "description": "The request's own id, as in the log.",
    "schema": {"type": "string"},
}
_HEADERS = {"x-request-id": {"$ref": "#/components/headers/RequestId"}}
_PARAMETER = re.compile(r"\{(\w+)(:\w+)?\}")
_WORD = re.compile(r"\{?[A-Za-z0-9]+")


def document(
    operations: Iterable[RouteOperation], formats: Iterable[WireFormat], version: str
) -> Node:
    """The whole document. ``version`` is that of the gateway.

    What is served under a host name of its own is no part of it.
    """
    listed = tuple(each for each in operations if each.access is not Access.ISOLATED)
    count = len(listed)
    schemas, components = describe(
        [_any(kind) for each in listed for kind in (each.query, each.body)],
        [_any(each.answer) for each in listed],
    )
    paths: dict[str, Node] = {}
    for method, path, node in _inference(formats):
        paths.setdefault(template(path), {}).setdefault(method, node)
    for number, each in enumerate(listed):
        query, body = schemas[2 * number : 2 * number + 2]
        answer = schemas[2 * count + number]
        node = _headed(each.method, each.path, each.purpose, each.access)
        headers = [
            {"name": name, "in": "header", "description": about, "schema": {"type": "string"}}
            for name, about in each.headers.items()
        ]
        parameters = [*_in_path(each.path), *_in_query(query, components), *headers]
        if parameters:
            node["parameters"] = parameters
        if each.body is not None:
            node["requestBody"] = _body(body, each.example, each.body_media)
        success: Node = {"description": HTTPStatus(each.status).phrase, "headers": _HEADERS}
        if each.media:
            success["content"] = {each.media: _content(each.media, answer)}
        node["responses"] = {str(each.status): success, **responses_of(each)}
        paths.setdefault(template(each.path), {}).setdefault(each.method.lower(), node)
    return {
        "openapi": VERSION,
        "info": {"title": "Model Gateway", "version": version, "description": ABOUT},
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in sorted({tag_of(path) for path in paths})],
        "paths": paths,
        "components": {
            "schemas": {**components, **SCHEMAS},
            "responses": RESPONSES,
            "headers": {"RequestId": REQUEST_ID},
            "securitySchemes": SCHEMES,
        },
        "x-gateway-access": {access.value: rule.about for access, rule in RULES.items()},
    }


def _any(kind: Any) -> Any:
    return Any if kind is None else kind


def _content(media: str, answer: Node) -> Node:
    """What an answer holds; of an event stream, what each of its events holds."""
    if media == JSON:
        return {"schema": answer}
    if media == STREAM:
        about = "Server-sent events. The data of each is a JSON document, see x-gateway-event."
        return {"schema": {"type": "string", "description": about}, "x-gateway-event": answer}
    return {"schema": {"type": "string"}}


def template(path: str) -> str:
    """A path as the document writes it: ``/v1/models/{name}``."""
    return _PARAMETER.sub(r"{\1}", path)


def tag_of(path: str) -> str:
    """The first word of a path; of the management API, the one after ``/api``."""
    first, _, rest = path.strip("/").partition("/")
    return rest.partition("/")[0] if first == "api" and rest else first


def operation_id(method: str, path: str) -> str:
    """``GET /api/keys/{id}`` is ``getApiKeysById``: made of the path alone, so that it stays."""
    result = method.lower()
    for word in _WORD.findall(template(path)):
        name = word.removeprefix("{")
        result += ("By" if word.startswith("{") else "") + name[:1].upper() + name[1:]
    return result


def _headed(method: str, path: str, purpose: str, access: Access) -> Node:
    """What every operation has."""
    return {
        "operationId": operation_id(method, path),
        "summary": purpose[:1].upper() + purpose[1:],
        "tags": [tag_of(path)],
        "security": security_of(access),
        "x-gateway-access": access.value,
    }


def _in_path(path: str) -> Iterator[Node]:
    for name, convertor in _PARAMETER.findall(path):
        parameter: Node = {"name": name, "in": "path", "required": True}
        if convertor == ":path":
            parameter["description"] = "May have slashes in it."
        yield {**parameter, "schema": {"type": "string", "minLength": 1}}


def _in_query(query: Node, components: Mapping[str, Node]) -> Iterator[Node]:
    """One parameter for each member of the query's struct."""
    struct = components.get(str(query.get("$ref", "")).removeprefix(SCHEMA), {})
    for name, member in struct.get("properties", {}).items():
        # A member of the query can be left out, but it is never null.
        schema = {key: value for key, value in member.items() if key != "anyOf"}
        if schema.get("default", 0) is None:
            del schema["default"]
        choices = [each for each in member.get("anyOf", ()) if each != {"type": "null"}]
        if len(choices) == 1:
            schema.update(choices[0])
        elif choices:
            schema["anyOf"] = choices
        parameter: Node = {"name": name, "in": "query", "required": name in struct["required"]}
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        yield {**parameter, "schema": schema}


def _body(schema: Node, example: Any, media: str = JSON) -> Node:
    content: Node = {"schema": schema}
    if example is not None:
        content["example"] = example
    return {"required": True, "content": {media: content}}


def _inference(formats: Iterable[WireFormat]) -> Iterator[tuple[str, str, Node]]:
    """The client paths: which format each speaks, and no more of its body than that."""
    for wire in formats:
        for endpoint in wire.endpoints:
            verb = "answer" if endpoint.counting is None else "count the tokens of"
            purpose = endpoint.title or f"{verb} a request in the format {wire.id}"
            stream = wire.stream_type.partition(";")[0]
            content: Node = {JSON: {"schema": OPEN}}
            if endpoint.counting is None and endpoint.method == "POST":
                events = {"type": "string", "description": f"Events, as {wire.id} has them."}
                content[stream] = {"schema": events}
            answer = {
                "description": f"As {wire.id} has it.",
                "headers": _HEADERS,
                "content": content,
            }
            # A parameter of an endpoint matches any run of characters, slashes too.
            node = {
                **_headed(endpoint.method, endpoint.path, purpose, Access.INFERENCE),
                "x-gateway-format": wire.id,
                "x-gateway-kind": str(endpoint.kind),
                "parameters": [
                    *_in_path(_PARAMETER.sub(r"{\1:path}", endpoint.path)),
                    *({"name": n, "in": "query", "schema": TEXT} for n in endpoint.query),
                ],
            }
            if endpoint.body != "none":
                node["requestBody"] = _body(OPEN, None)
                shapes = {"json": (JSON,), "form": (FORM,), "json or form": (JSON, FORM)}
                node["requestBody"]["content"] = {
                    media: {"schema": OPEN} for media in shapes[endpoint.body]
                }
            node["responses"] = {"200": answer, **responses_of(None)}
            yield endpoint.method.lower(), endpoint.path, node
