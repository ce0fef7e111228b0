"""The OpenAPI document of a whole gateway, and what happens to requests that are made from it.

Every operation is asked with values that its schemas allow and with values
that they do not. Whatever is asked, the answer is one that the document
promises, and never a 500.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, cast

import httpx2
import pytest
import requests
import schemathesis
from admin_gateway import KEY, AdminGateway, client_of, opened
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema_rs import Draft202012Validator
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR
from schemathesis.specs.openapi.schemas import OpenApiSchema
from served_gateway import serve_gateway
from starlette.routing import WebSocketRoute

from gateway_batches import completion_routes, message_routes, operator_batches
from gateway_core.http import meta, models
from gateway_core.http.operations import STREAM, RouteOperation
from gateway_core.identity.access import Access
from gateway_core.identity.credentials import CLI_HEADER, COOKIE
from gateway_core.pipeline.context import Collaborators
from gateway_dashboard_api import routes as management
from gateway_dashboard_api.openapi.document import template
from gateway_dashboard_api.vendors import manifest
from gateway_files import operator_files
from gateway_files import routes as files
from gateway_groups import routes as groups
from gateway_native import routes as native
from gateway_realtime import routes as realtime

PATH = "/api/openapi.json"
DOCS = Path(__file__).parents[2] / "docs" / "api.md"
NODES = "/api/provider-nodes"
BASE = "http://127.0.0.1"
CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 3 if settings.default.derandomize else 60
"""Requests of each sort to each operation; more with the profile that draws new ones."""
COUNT = count()
LEFT_OUT = {
    ("POST", "/api/auth/oidc/test"): "calls an identity provider",
    ("GET", "/api/settings/auto-configure"): "looks for servers on this machine",
    ("POST", "/api/settings/auto-configure"): "looks for servers on this machine",
    ("POST", "/api/settings/firecrawl/detect"): "looks for a server on this machine",
    ("POST", "/api/shutdown"): "stops the process",
    ("POST", "/api/version/shutdown"): "stops the process",
}
NOBODY = "http://127.0.0.1:9"
"""Nothing listens there."""
ROWS: dict[str, dict[str, Any]] = {
    "/api/providers": {"provider": "acme", "apiKey": KEY},
    "/api/combos": {"models": ["echo/echo"]},
    NODES: {"baseUrl": f"{NOBODY}/v1"},
    "/api/keys": {"machineId": "here"},
    "/api/key-groups": {},
    "/api/proxy-pools": {"proxyUrl": NOBODY},
    "/api/connection-groups": {},
}
"""Bodies that create a row for operations on one row; its name is added."""
HOMES = {"/api/usage": "/api/providers"}
VARIABLES = {"ENABLE_TRANSLATOR": "true", "JWT_SECRET": "a text that is long enough to sign with"}
CALM = settings(
    max_examples=EXAMPLES,
    phases=[Phase.generate],
    database=None,
    suppress_health_check=list(HealthCheck),
)


def operations() -> list[RouteOperation]:
    """Every routed operation. Building the routes does not use the gateway."""
    core = cast(Collaborators, None)
    table = (
        *(*meta.routes(core), *models.routes(core), *management.routes_of(core)),
        *(*files.routes(core), *operator_files.routes(core)),
        *(*completion_routes.routes(core), *message_routes.routes(core)),
        *operator_batches.routes(core),
        *realtime.routes(core),
        *groups.routes(core),
        *(*native.routes(core, ()), *manifest.routes_of(core)),
    )
    return [operation for each in table for operation in each.operations]


OPERATIONS = operations()
SERVED = [each for each in OPERATIONS if each.access is not Access.ISOLATED]
ASKED = [
    each
    for each in SERVED
    if (each.method, each.path) not in LEFT_OUT and (each.media != STREAM or each.method != "GET")
]
"""Without streams that only a client disconnect ends."""


def named(operation: RouteOperation) -> str:
    return f"{operation.method} {operation.path}"


each_operation = partial(pytest.mark.parametrize, ids=named)


class Here(NamedTuple):
    """A gateway that is open in another thread, and its document."""

    portal: BlockingPortal
    admin: AdminGateway
    document: dict[str, Any]
    schema: OpenApiSchema

    def call(
        self, method: str, path: str, headers: dict[str, str] | None = None, **more: Any
    ) -> httpx2.Response:
        """Ask as somebody who has logged in and has the command line's token."""
        cookie = f"{COOKIE}={self.admin.core.sessions.issue()}"
        headers = {**(headers or {}), "cookie": cookie}
        call = partial(self.admin.client.request, method, path, headers=headers, **more)
        return self.portal.call(call)


def vendor_of_examples(admin: AdminGateway) -> dict[str, str]:
    """A node with the provider's name of the examples."""
    return {"name": "Vendor", "prefix": "openai", "baseUrl": f"{admin.vendor.url}/v1"}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    folder = tmp_path_factory.mktemp("data")
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(opened(folder, VARIABLES)) as admin,
    ):
        portal.call(partial(admin.call, "POST", NODES, vendor_of_examples(admin), status=201))
        document = portal.call(admin.call, "GET", PATH)
        config = schemathesis.Config()
        config.projects.default.generation.update(with_security_parameters=False)
        yield Here(portal, admin, document, schemathesis.openapi.from_dict(document, config=config))


def test_the_document_is_a_valid_one(here: Here) -> None:
    OPENAPI_31_VALIDATOR.validate(here.document)


def test_the_document_lists_every_operation_there_is(here: Here) -> None:
    formats = here.admin.core.snapshot.registry.formats.values()
    endpoints = {("post", point.path) for wire in formats for point in wire.endpoints}

    listed = {(method, path) for path, item in here.document["paths"].items() for method in item}

    assert listed == {(each.method.lower(), template(each.path)) for each in SERVED} | endpoints


def test_every_route_is_an_operation(here: Here) -> None:
    plain = (
        each
        for each in here.admin.gateway.app.routes
        # Its path answers requests that are no handshake, which are the operation.
        if not isinstance(each.route, WebSocketRoute)
    )
    assert [each.route for each in plain if not each.operations] == []


def test_operation_ids_are_unique(here: Here) -> None:
    names = [
        operation["operationId"]
        for item in here.document["paths"].values()
        for operation in item.values()
    ]

    assert len(set(names)) == len(names)


@each_operation("operation", SERVED)
def test_an_operation_has_a_purpose(operation: RouteOperation) -> None:
    purpose = operation.purpose

    assert purpose
    assert purpose == purpose.strip().rstrip(".")
    assert purpose[0].islower()


@each_operation("operation", [each for each in SERVED if each.body is not None])
def test_the_example_of_a_body_is_valid(here: Here, operation: RouteOperation) -> None:
    item = here.document["paths"][template(operation.path)][operation.method.lower()]
    content = item["requestBody"]["content"][operation.body_media]
    schema = {"components": here.document["components"], **content["schema"]}

    assert "example" in content
    Draft202012Validator(schema).validate(content["example"])


def test_the_document_needs_a_credential(here: Here) -> None:
    key = _row(here, "/api/keys")["key"]
    far = partial(client_of, here.admin.gateway, "203.0.113.5", operator=False)

    async def read(**headers: str) -> int:
        async with far() as client:
            return (await client.get(PATH, headers=headers)).status_code

    assert here.portal.call(partial(read, authorization=f"Bearer {key}")) == 200
    assert here.portal.call(read) == 401


def test_excluded_operations_exist() -> None:
    assert LEFT_OUT.keys() <= {(each.method, each.path) for each in SERVED}


@each_operation("operation", ASKED)
def test_every_response_matches_the_document(here: Here, operation: RouteOperation) -> None:
    target = here.schema[template(operation.path)][operation.method]
    takes = operation.body is not None or operation.query is not None
    modes = GenerationMode if takes else (GenerationMode.POSITIVE,)
    known = _known(here, operation)

    if known:
        _try(here, operation.status, target.as_strategy())
    for mode in modes:
        _try(here, operation.status, target.as_strategy(generation_mode=mode, **known))


def test_no_inference_request_causes_an_internal_error(here: Here) -> None:
    for found in here.schema.get_all_operations():
        target = found.ok()
        if "x-gateway-format" in target.definition.raw:
            for mode in GenerationMode:
                _try(here, 200, target.as_strategy(generation_mode=mode))


def test_the_script_in_the_documentation_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (source,) = re.findall(r"^```python\n(.*?)^```$", DOCS.read_text("utf-8"), re.M | re.S)
    body = {"name": "script", "machineId": "here"}

    with serve_gateway(tmp_path, {}) as running:
        token = {CLI_HEADER: running.gateway.core.identity.cli_token}
        key = httpx2.post(f"{running.url}/api/keys", json=body, headers=token).json()["key"]
        source = source.replace("http://127.0.0.1:20128", running.url)
        exec(source.replace("your gateway key", key), {})  # noqa: S102

    assert capsys.readouterr().out == "['echo/echo']\n"


def _known(here: Here, operation: RouteOperation) -> dict[str, Any]:
    """The path parameters of a row that was created for this call."""
    start, place, _ = operation.path.partition("/{")
    home = HOMES.get(start, start)
    if home not in ROWS or not place:
        return {}
    (name,) = re.findall(r"\{(\w+)", operation.path)
    return {"path_parameters": {name: _row(here, home)["id"]}}


def _row(here: Here, home: str) -> dict[str, Any]:
    """A new row of a list."""
    name = f"n{next(COUNT)}"
    names = {"name": name, "prefix": name} if home == NODES else {"name": name}
    answer = here.call("POST", home, json={**ROWS[home], **names})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made if "id" in made else next(iter(made.values()))


def _try(here: Here, status: int, strategy: Any) -> None:
    """Send a few requests and check each response against the document."""

    @CALM
    @given(case=strategy)
    def call(case: Case) -> None:
        wanted = requests.Request(**case.as_transport_kwargs(base_url=BASE)).prepare()
        answer = here.call(
            wanted.method, wanted.url, headers=dict(wanted.headers), content=wanted.body
        )

        assert answer.status_code != 500, f"{case.as_curl_command()}\n{answer.text}"
        case.validate_response(answer, checks=CHECKS)

    call()
