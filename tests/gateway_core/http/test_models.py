"""The catalog routes: envelopes, kinds, single rows, HEAD."""

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from snapshots import combo, provider, snapshot_of
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway_core import Kind, Model
from gateway_core.http.models import CREATED, routes
from gateway_core.http.requests import REQUEST_ID
from gateway_core.identity.access import Access
from gateway_core.identity.caller import Caller
from gateway_core.identity.credentials import CALLER
from gateway_core.identity.keys import Key
from gateway_core.identity.peers import Peer
from gateway_core.identity.policy import read
from gateway_core.metering.prices import Prices

LOCAL = Caller(peer=Peer("127.0.0.1", via_proxy=False, is_loopback=True), is_local=True)
SPEC = provider("goo", "g", Model("v", kind=Kind.EMBEDDING), alias="gg", format="gemini")
TABLES = snapshot_of(SPEC, combos=[combo("team", "gg/g")])


def let_in(app: ASGIApp, caller: Caller) -> ASGIApp:
    """The routes as the gateway serves them: each request has an id and a caller."""

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        scope[REQUEST_ID], scope[CALLER] = "req-1", caller
        await app(scope, receive, send)

    return inner


def ask(path: str, method: str = "GET", **headers: str) -> httpx2.Response:
    """Ask from this machine, without a key."""
    return ask_as(LOCAL, path, method, **headers)


def ask_as(caller: Caller, path: str, method: str = "GET", **headers: str) -> httpx2.Response:
    core: Any = SimpleNamespace(snapshot=TABLES, prices=Prices())

    async def main() -> httpx2.Response:
        app = Starlette(routes=[guarded.route for guarded in routes(core)])
        transport = httpx2.ASGITransport(app=let_in(app, caller))
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
    assert {row["created"] for row in answer.json()["data"]} == {CREATED}
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


@pytest.mark.parametrize("name", ["claude-gg/g", "gg/g", "claude-goo/g[1m]", "claude-team", "team"])
def test_what_the_messages_list_shows_can_be_retrieved(name: str) -> None:
    row = ask(f"/v1/models/{name}", anthropic_version="2023-06-01").json()

    assert (row["type"], row["id"]) == (
        "model",
        "claude-team" if name.endswith("team") else "claude-gg/g",
    )


def test_what_the_messages_list_does_not_show_cannot_be_retrieved() -> None:
    answer = ask("/v1/models/claude-nobody", anthropic_version="2023-06-01")

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "model_not_found")


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


def keyed(policy: Mapping[str, Any] = {}, **more: Any) -> Caller:
    """Somebody with a key that is narrowed like this."""
    key = Key(
        **{
            "id": "k",
            "name": "k",
            "digest": b"",
            "is_active": True,
            "expires_at": None,
            "allowed_combos": frozenset(),
            "policy": read(policy, None),
            "connections": frozenset(),
            "has_limits": False,
            "is_restricted": True,
            **more,
        }
    )
    return Caller(peer=Peer("192.0.2.7", via_proxy=False, is_loopback=False), key=key)


def seen(caller: Caller) -> list[str]:
    return ids(ask_as(caller, "/v1/models").json()["data"])


def access(mode: str, *patterns: str) -> dict[str, Any]:
    return {"modelAccess": {"mode": mode, "patterns": list(patterns)}}


@pytest.mark.parametrize(
    ("caller", "rows"),
    [
        (keyed(), ["team", "gg/g", "gg/v"]),
        (keyed({"allowedModels": ["gg/v"]}), ["gg/v"]),
        (keyed({"allowedModels": ["goo/g"]}), ["team", "gg/g"]),
        (keyed(access("deny", "gg/g")), ["gg/v"]),
        (keyed(access("allow", "*/v")), ["gg/v"]),
        (keyed(allowed_combos=frozenset({"other"})), ["gg/g", "gg/v"]),
        (keyed(connections=frozenset({"goo-1"})), ["team", "gg/g", "gg/v"]),
        (keyed(connections=frozenset({"elsewhere"})), []),
    ],
    ids=["free", "model", "spelling", "deny", "allow", "combo", "account", "no account"],
)
def test_a_key_sees_what_it_may_use(caller: Caller, rows: list[str]) -> None:
    assert seen(caller) == rows


def test_a_key_sees_no_more_in_any_other_list() -> None:
    caller = keyed({"allowedModels": ["gg/v"]})

    assert ids(ask_as(caller, "/v1/models", anthropic_version="x").json()["data"]) == [
        "claude-gg/v"
    ]
    assert [row["name"] for row in ask_as(caller, "/api/tags").json()["models"]] == ["gg/v"]
    assert [row["name"] for row in ask_as(caller, "/v1beta/models").json()["models"]] == [
        "models/v",
        "models/gg/v",
    ]
    for path in ("/v1/models/gg/g", "/v1/models/team", "/v1/models/info?id=gg/g"):
        assert ask_as(caller, path).status_code == 404
    assert ask_as(caller, "/v1beta/models/g").status_code == 404
    assert ask_as(caller, "/v1/models/gg/v").status_code == 200


def test_the_lists_are_for_clients_and_the_dashboard() -> None:
    core: Any = None
    classes = {guarded.operations[0].path: guarded.access for guarded in routes(core)}

    # It answers in its own words, whoever asks.
    assert classes.pop("/v1/realtime/auth") is Access.PUBLIC
    assert set(classes.values()) == {Access.CATALOG}
