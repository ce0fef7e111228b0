"""The OpenAPI document: a pure function of the operations and the wire formats there are.

Types become schemas by msgspec's own hand, so that what is shown is what is
read. Bodies of inference endpoints are left open: their formats are described
by those who made them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from ..contracts.wire import Endpoint, WireFormat
from ..identity.access import RULES, Access
from .openapi_errors import RESPONSES, SCHEMAS, responses_of
from .openapi_security import SCHEMES, security_of
from .operations import JSON, RouteOperation

Node = dict[str, Any]

VERSION = "3.1.0"
ABOUT = """A model gateway: client endpoints, the catalog, and the management API under `/api`.

`x-gateway-access` of an operation names its class of callers; the document's own
`x-gateway-access` says what each class means. A caller on this machine needs no credential for
the management API while the setting `requireLogin` is off.

Client paths below `/v1` may also be called below `/api/v1` and `/v1/v1`, those below `/v1beta`
below `/api/v1beta`."""
SCHEMA = "#/components/schemas/"
OPEN: Node = {"type": "object"}
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
    schemas, components = _schemas(listed)
    paths: dict[str, Node] = {}
    for method, path, described in (*_inference(formats), *_managed(listed, schemas, components)):
        paths.setdefault(template(path), {}).setdefault(method.lower(), described)
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


def template(path: str) -> str:
    """A path as the document writes it: ``/v1/models/{name}``."""
    return _PARAMETER.sub(r"{\1}", path)


def tag_of(path: str) -> str:
    """The first word of a path; of the management API, the one after ``/api``."""
    first, _, rest = path.strip("/").partition("/")
    return rest.partition("/")[0] if first == "api" and rest else first


def operation_id(method: str, path: str) -> str:
    """``GET /api/keys/{id}`` is ``getApiKeysById``: made of the path alone, so that it stays."""
    words = (_spoken(word) for word in _WORD.findall(template(path)))
    return method.lower() + "".join(words)


def _spoken(word: str) -> str:
    name = word.removeprefix("{")
    shown = name[:1].upper() + name[1:]
    return f"By{shown}" if word.startswith("{") else shown


def _schemas(operations: Sequence[RouteOperation]) -> tuple[list[Sequence[Node]], dict[str, Node]]:
    """For each operation the schemas of query, body and answer; and the schemas they refer to."""
    types = [kind for each in operations for kind in (each.query, each.body, each.answer)]
    found, components = msgspec.json.schema_components(
        [Any if kind is None else kind for kind in types],
        schema_hook=lambda kind: {"title": kind.__name__},
        ref_template=SCHEMA + "{name}",
    )
    return [found[at : at + 3] for at in range(0, len(found), 3)], components


def _managed(
    operations: Sequence[RouteOperation],
    schemas: Sequence[Sequence[Node]],
    components: Mapping[str, Node],
) -> Iterator[tuple[str, str, Node]]:
    for each, (query, body, answer) in zip(operations, schemas, strict=True):
        described = _headed(each.method, each.path, each.purpose, each.access)
        parameters = [*_in_path(each.path), *_in_query(query, components), *_in_headers(each)]
        if parameters:
            described["parameters"] = parameters
        if each.body is not None:
            described["requestBody"] = _body(body, each.example)
        described["responses"] = {
            str(each.status): _answer(each.status, each.media, answer),
            **responses_of(each),
        }
        yield each.method, each.path, described


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
        found: Node = {"name": name, "in": "path", "required": True}
        if convertor == ":path":
            found["description"] = "May have slashes in it."
        yield {**found, "schema": {"type": "string", "minLength": 1}}


def _in_query(schema: Node, components: Mapping[str, Node]) -> Iterator[Node]:
    """One parameter for each member of the query's struct."""
    struct = components.get(str(schema.get("$ref", "")).removeprefix(SCHEMA), {})
    for name, member in struct.get("properties", {}).items():
        shown = _without_null(member)
        found: Node = {"name": name, "in": "query", "required": name in struct["required"]}
        if "description" in shown:
            found["description"] = shown.pop("description")
        yield {**found, "schema": shown}


def _without_null(schema: Node) -> Node:
    """The schema of a query's member, which can be left out but is never null."""
    choices = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    kept = {name: value for name, value in schema.items() if name != "anyOf"}
    if kept.get("default", 0) is None:
        del kept["default"]
    if not choices:
        return kept
    return {**kept, **choices[0]} if len(choices) == 1 else {**kept, "anyOf": choices}


def _in_headers(operation: RouteOperation) -> Iterator[Node]:
    for name, about in operation.headers.items():
        yield {"name": name, "in": "header", "description": about, "schema": {"type": "string"}}


def _body(schema: Node, example: Any) -> Node:
    content: Node = {"schema": schema}
    if example is not None:
        content["example"] = example
    return {"required": True, "content": {JSON: content}}


def _answer(status: int, media: str, schema: Node) -> Node:
    answer: Node = {"description": HTTPStatus(status).phrase, "headers": _HEADERS}
    if media:
        answer["content"] = {media: {"schema": schema} if media == JSON else {}}
    return answer


def _inference(formats: Iterable[WireFormat]) -> Iterator[tuple[str, str, Node]]:
    for wire in formats:
        for endpoint in wire.endpoints:
            yield "POST", endpoint.path, _endpoint(wire, endpoint)


def _endpoint(wire: WireFormat, endpoint: Endpoint) -> Node:
    """A client path: which format it speaks, and no more of its body than that."""
    verb = "answer" if endpoint.counting is None else "count the tokens of"
    purpose = f"{verb} a request in the format {wire.id}"
    stream = wire.stream_type.partition(";")[0]
    content: Node = {JSON: {"schema": OPEN}}
    if endpoint.counting is None:
        content[stream] = {}
    answer = {"description": f"As {wire.id} has it.", "headers": _HEADERS, "content": content}
    # A parameter of an endpoint matches any run of characters, slashes too.
    described = {
        **_headed("POST", endpoint.path, purpose, Access.INFERENCE),
        "x-gateway-format": wire.id,
        "x-gateway-kind": endpoint.kind.value,
        "parameters": list(_in_path(_PARAMETER.sub(r"{\1:path}", endpoint.path))),
        "requestBody": _body(OPEN, None),
    }
    return {**described, "responses": {"200": answer, **responses_of(None)}}
