"""The document as a function of operations: what each part of an operation becomes."""

import re
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType, defstruct
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

from gateway_core.contracts.kinds import Kind
from gateway_core.contracts.wire import Counting, Endpoint, WireFormat
from gateway_core.http.operations import STREAM, RouteOperation
from gateway_core.identity.access import Access
from gateway_dashboard_api.openapi.document import document, operation_id, tag_of, template

KEYS = ["bearer", "apiKey", "altApiKey", "queryKey"]


class Body(Struct, rename="camel"):
    """What a tree is planted with."""

    tall_trees: Annotated[int, Meta(ge=1)]
    name: str | UnsetType = UNSET


class Query(Struct, rename="camel"):
    old_name: str
    page: Annotated[int, Meta(ge=1, description="From 1.")] = 1
    kind: str | None = None


class Answer(Struct):
    planted: tuple[Body, ...]


def operation(method: str = "GET", path: str = "/api/trees", **more: Any) -> RouteOperation:
    fields = {"access": Access.MANAGEMENT, "purpose": "list the trees", **more}
    return RouteOperation(method=method, path=path, **fields)


def described(*operations: RouteOperation, formats: tuple[WireFormat, ...] = ()) -> dict[str, Any]:
    """The document, which is a valid one."""
    whole = document(operations, formats, "1.2.3")
    OPENAPI_31_VALIDATOR.validate(whole)
    return whole


def shown(one: RouteOperation) -> dict[str, Any]:
    found: dict[str, Any] = described(one)["paths"][template(one.path)][one.method.lower()]
    return found


def test_a_document_says_what_it_is_of() -> None:
    whole = described()

    assert whole["openapi"] == "3.1.0"
    assert whole["info"]["version"] == "1.2.3"
    assert set(whole["x-gateway-access"]) == set(Access)


def test_a_purpose_becomes_the_summary() -> None:
    assert shown(operation())["summary"] == "List the trees"


@pytest.mark.parametrize(
    ("path", "tag"),
    [("/api/keys/{id}", "keys"), ("/v1/models", "v1"), ("/api", "api"), ("/codex/x", "codex")],
)
def test_an_operation_is_filed_under_the_first_word_of_its_path(path: str, tag: str) -> None:
    assert tag_of(path) == tag


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/api/keys", "getApiKeys"),
        ("GET", "/api/keys/{id}", "getApiKeysById"),
        ("PATCH", "/api/key-groups/{groupId}/log_rows", "patchApiKeyGroupsByGroupIdLogRows"),
        ("GET", "/v1/models/{name:path}", "getV1ModelsByName"),
    ],
)
def test_an_operation_is_called_after_its_path(method: str, path: str, name: str) -> None:
    assert operation_id(method, path) == name


SEGMENTS = st.lists(st.sampled_from(["keys", "key-groups", "{id}", "{name:path}"]), max_size=5)


@given(SEGMENTS)
def test_every_place_in_a_path_is_a_parameter_that_is_needed(segments: list[str]) -> None:
    path = "/".join(["/api", *segments])

    parameters = shown(operation(path=path)).get("parameters", [])

    assert [p["name"] for p in parameters] == re.findall(r"\{(\w+)", path)
    assert all(p["in"] == "path" and p["required"] for p in parameters)


def test_a_query_becomes_parameters() -> None:
    parameters = shown(operation(query=Query))["parameters"]

    assert parameters == [
        {"name": "oldName", "in": "query", "required": True, "schema": {"type": "string"}},
        {
            "name": "page",
            "in": "query",
            "required": False,
            "description": "From 1.",
            "schema": {"type": "integer", "minimum": 1, "default": 1},
        },
        {"name": "kind", "in": "query", "required": False, "schema": {"type": "string"}},
    ]


def test_a_header_with_a_meaning_becomes_a_parameter() -> None:
    (parameter,) = shown(operation(headers={"x-wind": "Where from."}))["parameters"]

    assert (parameter["in"], parameter["name"]) == ("header", "x-wind")


def test_a_body_has_a_schema_and_an_example() -> None:
    example = {"tallTrees": 3}

    whole = described(operation("POST", body=Body, example=example))

    wanted = whole["paths"]["/api/trees"]["post"]["requestBody"]
    assert wanted["required"] is True
    assert wanted["content"]["application/json"] == {
        "schema": {"$ref": "#/components/schemas/Body"},
        "example": example,
    }
    assert whole["components"]["schemas"]["Body"] == {
        "title": "Body",
        "description": "What a tree is planted with.",
        "type": "object",
        "properties": {"tallTrees": {"type": "integer", "minimum": 1}, "name": {"type": "string"}},
        "required": ["tallTrees"],
    }


def test_an_answer_has_its_own_status_and_schema() -> None:
    responses = shown(operation("POST", answer=Answer, status=201))["responses"]

    content = responses["201"]["content"]["application/json"]
    assert content["schema"] == {"$ref": "#/components/schemas/Answer"}
    assert "200" not in responses


def test_an_answer_without_a_type_is_any_json() -> None:
    answer = shown(operation())["responses"]["200"]

    assert answer["content"]["application/json"]["schema"] == {}


def test_a_stream_tells_what_its_events_hold() -> None:
    answer = shown(operation(media=STREAM, answer=Answer))["responses"]["200"]

    content = answer["content"][STREAM]
    assert content["schema"]["type"] == "string"
    assert content["x-gateway-event"] == {"$ref": "#/components/schemas/Answer"}


class Sparse(Struct, omit_defaults=True):
    leaves: int
    fruit: int = 0


class Full(Struct):
    leaves: int
    fruit: int | None = None
    nest: str | UnsetType = UNSET
    sparse: tuple[Sparse, ...] = ()


def test_members_that_are_always_sent_are_required() -> None:
    schemas = described(operation(answer=dict[str, Full]))["components"]["schemas"]

    assert schemas["Full"]["required"] == ["leaves", "fruit", "sparse"]
    assert schemas["Sparse"]["required"] == ["leaves"]


def test_a_request_may_leave_out_what_has_a_default() -> None:
    schemas = described(operation("POST", body=Full, answer=Full))["components"]["schemas"]

    assert schemas["Full"]["required"] == ["leaves"]


def test_types_with_one_name_are_told_apart_by_their_folders() -> None:
    first, second, third = (
        _struct_in(module) for module in ("a.tall_trees.views", "a.b.views", "c")
    )
    operations = [
        operation(path=f"/api/{number}", answer=kind)
        for number, kind in enumerate((first, second, third))
    ]

    schemas = described(*operations)["components"]["schemas"]

    names = sorted(name for name in schemas if name.endswith("Leaf"))
    assert names == ["BLeaf", "CLeaf", "TallTreesLeaf"]
    assert [schemas[name]["title"] for name in names] == names


def _struct_in(module: str) -> type[Struct]:
    return defstruct("Leaf", [("size", int)], module=module)


def test_an_answer_without_a_body_has_none() -> None:
    answer = shown(operation(media="", status=302))["responses"]["302"]

    assert "content" not in answer


class Strange:
    """What msgspec knows nothing of."""


def test_a_type_that_cannot_be_described_is_anything() -> None:
    answer = shown(operation(answer=Strange))["responses"]["200"]

    assert answer["content"]["application/json"]["schema"] == {"title": "Strange"}


@pytest.mark.parametrize(
    ("access", "credentials"),
    [
        (Access.PUBLIC, []),
        (Access.INFERENCE, ["commandLine", *KEYS, None]),
        (Access.MANAGEMENT, ["session", "commandLine", *KEYS]),
        (Access.OPERATOR, ["session", "commandLine"]),
        (Access.SESSION, ["session"]),
        (Access.PROTECTED, ["session", "commandLine"]),
        (Access.LOCAL, ["session", "commandLine"]),
        (Access.COMMAND_LINE, ["commandLine"]),
        (Access.SURFACE, ["commandLine", *KEYS, None]),
        (Access.CONTROL, ["session", "commandLine", *KEYS, None]),
    ],
)
def test_credentials_follow_from_the_class(access: Access, credentials: list[str | None]) -> None:
    found = shown(operation(access=access))

    assert found["x-gateway-access"] == access.value
    assert found["security"] == [{name: []} if name else {} for name in credentials]


READS = ["400", "401", "403", "404", "429"]
CHANGES = ["400", "401", "403", "404", "409", "429"]
TAKES = ["400", "401", "403", "404", "429"]
WRITES = ["400", "401", "403", "404", "409", "413", "415", "429"]


@pytest.mark.parametrize(
    ("one", "statuses"),
    [
        (operation(), READS),
        (operation(access=Access.PUBLIC), []),
        (operation(query=Query), TAKES),
        (operation(path="/api/trees/{id}"), TAKES),
        (operation("POST"), CHANGES),
        (operation("POST", body=Body), WRITES),
        (operation("POST", access=Access.PUBLIC, body=Body), WRITES),
        (operation(access=Access.PUBLIC, query=Query), TAKES),
        (operation(access=Access.INFERENCE), ["4XX"]),
    ],
    ids=["reads", "public", "query", "path", "changes", "writes", "sign-in", "way in", "client"],
)
def test_failures_follow_from_what_an_operation_takes(
    one: RouteOperation, statuses: list[str]
) -> None:
    responses = shown(one)["responses"]

    assert [status for status in responses if status.startswith("4")] == statuses
    assert "5XX" in responses


def test_a_host_of_its_own_has_no_part_in_it() -> None:
    whole = described(operation(access=Access.ISOLATED))

    assert whole["paths"] == {}


SUM = Endpoint(
    path="/v1/leaves/{model}:count",
    read=lambda *_: pytest.fail("not to be called"),
    counting=Counting(path=lambda model: model, estimate=lambda body: body),
)
TALK = Endpoint(
    path="/v1/leaves", read=lambda *_: pytest.fail("not to be called"), kind=Kind.SPEECH
)
LEAVES = WireFormat(id="leaves", dialect="leaves", endpoints=(TALK, SUM))


def test_a_client_path_names_its_format_and_leaves_its_body_open() -> None:
    found = described(formats=(LEAVES,))["paths"]["/v1/leaves"]["post"]

    assert found["x-gateway-format"] == "leaves"
    assert found["x-gateway-kind"] == "tts"
    assert found["x-gateway-access"] == "inference"
    assert found["requestBody"]["content"] == {"application/json": {"schema": {"type": "object"}}}
    assert set(found["responses"]["200"]["content"]) == {"application/json", STREAM}


def test_a_client_path_that_counts_does_not_stream() -> None:
    found = described(formats=(LEAVES,))["paths"]["/v1/leaves/{model}:count"]["post"]

    assert set(found["responses"]["200"]["content"]) == {"application/json"}
    assert [p["description"] for p in found["parameters"]] == ["May have slashes in it."]


def test_a_client_path_goes_before_a_route() -> None:
    route = operation("POST", "/v1/leaves")

    whole = described(route, formats=(LEAVES,))

    assert "x-gateway-format" in whole["paths"]["/v1/leaves"]["post"]
