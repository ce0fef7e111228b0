"""The catalog routes: envelopes, kinds, single rows, HEAD."""

import asyncio
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from pictures import combo, provider, tables_of
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway_core import Kind, Model
from gateway_core.surfaces.catalog import routes
from gateway_core.surfaces.requests import REQUEST_ID

SPEC = provider("goo", "g", Model("v", kind=Kind.EMBEDDING), alias="gg", format="gemini")
TABLES = tables_of(SPEC, combos=[combo("team", "gg/g")])


def named(app: ASGIApp) -> ASGIApp:
    """The routes as the gateway serves them: each request has an id."""

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        scope[REQUEST_ID] = "req-1"
        await app(scope, receive, send)

    return inner


def ask(path: str, method: str = "GET", **headers: str) -> httpx2.Response:
    core: Any = SimpleNamespace(tables=TABLES, clock=lambda: 7.9)

    async def main() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=named(Starlette(routes=routes(core))))
        async with httpx2.AsyncClient(transport=transport, base_url="http://x") as client:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            return await client.request(method, path, headers=sent)

    return asyncio.run(main())


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


@pytest.mark.parametrize("path", ["/v1", "/v1/models"])
def test_the_usual_list(path: str) -> None:
    answer = ask(path)

    assert answer.json()["object"] == "list"
    assert ids(answer.json()["data"]) == ["team", "gg/g", "gg/v"]
    assert answer.json()["data"][0]["created"] == 7
    assert answer.headers["cache-control"] == "no-store"


def test_the_version_header_is_looked_at_first() -> None:
    answer = ask("/v1/models", anthropic_version="", originator="codex_cli_rs").json()

    assert answer["first_id"] == "claude-team"


@pytest.mark.parametrize(
    "headers",
    [{"originator": "codex_cli_rs"}, {"user_agent": "Codex/1.0"}],
    ids=["originator", "agent"],
)
def test_the_command_line_gets_its_own_list(headers: dict[str, str]) -> None:
    assert [row["slug"] for row in ask("/v1/models", **headers).json()["models"]] == [
        "team",
        "gg/g",
        "gg/v",
    ]


def test_a_kind_filters_in_every_envelope() -> None:
    assert ids(ask("/v1/models/embedding").json()["data"]) == ["gg/v"]
    assert ids(ask("/v1/models/embedding", anthropic_version="x").json()["data"]) == ["claude-gg/v"]
    assert ask("/v1/models/tts").json()["data"] == []


@pytest.mark.parametrize("name", ["gg/g", "goo/g"])
def test_a_prefixed_id_is_one_row(name: str) -> None:
    assert ask(f"/v1/models/{name}").json()["id"] == "gg/g"
    assert ask(f"/v1/models/info?id={name}").json()["id"] == "gg/g"


def test_a_combo_is_a_row_of_its_own() -> None:
    assert ask("/v1/models/team").json()["owned_by"] == "combo"


@pytest.mark.parametrize(
    ("path", "status", "code", "message"),
    [
        ("/v1/models/gg/none", 404, "model_not_found", "Model gg/none is not in the catalog"),
        ("/v1/models/nonsense", 404, "not_found", "Unknown model kind"),
        ("/v1/models/info", 400, "bad_request", "Missing query parameter: id"),
        (
            "/v1/models/info?id=gg/none",
            404,
            "model_not_found",
            "Model gg/none is not in the catalog",
        ),
        (
            "/v1/models/info?id=gg/g&kind=tts",
            404,
            "model_not_found",
            "Model gg/g is not in the catalog",
        ),
    ],
    ids=["model", "kind", "no id", "unknown id", "other kind"],
)
def test_what_is_not_there_is_an_error(path: str, status: int, code: str, message: str) -> None:
    answer = ask(path)

    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["message"]) == (status, code, message)
    assert error["request_id"] == answer.headers["x-request-id"] == "req-1"


def test_a_kind_tells_rows_of_one_id_apart() -> None:
    assert ask("/v1/models/info?id=gg/v&kind=embedding").json()["kind"] == "embedding"
    assert ask("/v1/models/info?id=gg/g&kind=llm").json()["id"] == "gg/g"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1", 200),
        ("/v1/models", 200),
        ("/v1/models/tts", 200),
        ("/v1/models/x/y", 200),
        ("/v1/models/nonsense", 404),
        ("/v1/models/team", 200),
    ],
)
def test_head_only_probes(path: str, status: int) -> None:
    answer = ask(path, "HEAD")

    assert answer.status_code == status
    assert status != 200 or answer.content == b""


def test_the_generative_list_and_its_rows() -> None:
    names = [row["name"] for row in ask("/v1beta/models").json()["models"]]

    assert names == ["models/team", "models/g", "models/gg/g", "models/v", "models/gg/v"]
    assert ask("/v1beta/models/g").json()["name"] == "models/g"
    missing = ask("/v1beta/models/none")
    assert (missing.status_code, missing.json()["error"]["status"]) == (404, "NOT_FOUND")


def test_the_tag_list() -> None:
    assert [row["name"] for row in ask("/api/tags").json()["models"]] == ["team", "gg/g", "gg/v"]
