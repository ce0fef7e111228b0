"""Who may open a realtime socket, and how the others are refused."""

import logging
from collections.abc import Callable
from pathlib import Path
from socket import create_connection
from typing import Any

import httpx2
import pytest
from collaborators import replace_collaborator
from own_stores import own_stores
from realtime_client import MODEL, Session, place
from served_gateway import Served
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from gateway_administration.stores.keys import KeyChange

NewKey = Callable[..., tuple[str, str]]
Require = Callable[[Served, bool], None]
AWAY = {"x-forwarded-for": "203.0.113.9"}
"""Whoever comes by way of a proxy is not on this machine."""


def opened(here: Served, query: str = "", **more: Any) -> dict[str, Any]:
    """The first event of a session."""
    with Session(here, f"?model={MODEL}{query}", **more) as session:
        return session.event()


def test_a_program_on_this_machine_needs_no_key(here: Served) -> None:
    event = opened(here)

    assert event["type"] == "session.created"
    assert event["session"]["id"].startswith("sess_")
    assert event["session"]["model"] == MODEL


@pytest.mark.parametrize("way", ["authorization", "x-api-key", "x-alt-api-key", "query"])
def test_a_key_is_taken_where_every_route_takes_it(here: Served, new_key: NewKey, way: str) -> None:
    _, key = new_key(here)
    headers = {"authorization": {way: f"Bearer {key}"}, "query": {}}.get(way, {way: key})
    query = f"&key={key}" if way == "query" else ""

    event = opened(here, query, additional_headers={**AWAY, **headers})

    assert event["type"] == "session.created"


@pytest.mark.parametrize("prefix", ["compat-insecure-api-key.", "openai-insecure-api-key."])
@pytest.mark.parametrize("echoed", ["realtime", "openai-beta.realtime-v1"])
def test_a_key_is_taken_from_a_subprotocol_which_is_not_echoed(
    here: Served, new_key: NewKey, prefix: str, echoed: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, key = new_key(here)
    caplog.set_level(logging.INFO)
    offered = [f"{prefix}{key}", echoed]

    with Session(here, additional_headers=AWAY, subprotocols=offered) as session:  # type: ignore[arg-type]
        event = session.event()

        assert event["type"] == "session.created"
        assert session.socket.subprotocol == echoed
    assert key not in caplog.text


def test_another_subprotocol_is_not_chosen(here: Served) -> None:
    with Session(here, subprotocols=["graphql-ws"]) as session:  # type: ignore[list-item]
        session.event("session.created")

        assert session.socket.subprotocol is None


def test_the_first_good_key_counts(here: Served, new_key: NewKey) -> None:
    _, key = new_key(here)
    headers = {**AWAY, "authorization": "Bearer sk-unknown", "x-api-key": key}

    assert opened(here, additional_headers=headers)["type"] == "session.created"


REFUSED = {
    "none": ({}, "API key required for remote API access"),
    "unknown": ({"authorization": "Bearer sk-unknown"}, "Invalid API key"),
}


@pytest.mark.parametrize(("headers", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_caller_without_a_good_key_learns_why_and_is_closed_with_4001(
    here: Served, headers: dict[str, str], message: str
) -> None:
    with Session(here, additional_headers={**AWAY, **headers}) as session:
        assert session.refusal() == ("invalid_api_key", message)
        assert session.closing()[0] == 4001


def test_a_paused_key_is_refused_on_this_machine_too(here: Served, new_key: NewKey) -> None:
    id, key = new_key(here)
    pause(here, id)

    with Session(here, additional_headers={"x-api-key": key}) as session:
        assert session.refusal() == ("invalid_api_key", "Invalid API key")
        assert session.closing()[0] == 4001


def test_keys_may_be_required_of_everybody(
    here: Served, new_key: NewKey, keys_required: Require
) -> None:
    _, key = new_key(here)
    keys_required(here, True)
    try:
        with Session(here) as session:
            assert session.refusal() == ("invalid_api_key", "Missing API key")
            assert session.closing()[0] == 4001
        assert opened(here, additional_headers={"x-api-key": key})["type"] == "session.created"
    finally:
        keys_required(here, False)


def pause(here: Served, id: str) -> None:
    async def work() -> None:
        core = here.gateway.core
        await own_stores(core).keys.update(id, KeyChange(is_active=False))
        await core.refresh()

    here.do(work())


def test_a_key_that_is_paused_meanwhile_makes_no_more_responses(
    here: Served, new_key: NewKey
) -> None:
    id, key = new_key(here)
    with Session(here, additional_headers={**AWAY, "x-api-key": key}) as session:
        session.event("session.created")
        session.ask()
        session.until("response.done")

        pause(here, id)
        session.send("response.create")

        assert session.refusal() == ("invalid_api_key", "Invalid API key")
        assert session.closing()[0] == 4001


FOREIGN = ("https://evil.example", "null", "http://127.0.0.1.evil.example", "file://")


@pytest.mark.parametrize("origin", FOREIGN)
@pytest.mark.parametrize("cookie", [False, True], ids=["no cookie", "cookie"])
def test_a_page_of_another_origin_is_refused_before_the_handshake(
    here: Served, origin: str, cookie: bool
) -> None:
    headers = {"cookie": f"auth_token={here.gateway.core.sessions.issue()}"} if cookie else {}

    with pytest.raises(InvalidStatus) as refused:
        Session(here, origin=origin, additional_headers=headers)

    assert refused.value.response.status_code == 403


def test_a_page_of_another_origin_may_show_a_key(here: Served, new_key: NewKey) -> None:
    _, key = new_key(here)
    offered = ["realtime", f"openai-insecure-api-key.{key}"]

    event = opened(here, origin="https://app.example", subprotocols=offered)

    assert event["type"] == "session.created"


def test_a_page_on_this_machine_needs_no_key(here: Served) -> None:
    assert opened(here, origin="http://localhost:3000")["type"] == "session.created"


def test_a_page_that_reaches_this_machine_by_another_name_is_refused(here: Served) -> None:
    port = int(here.url.rpartition(":")[2])
    name = f"rebind.example:{port}"
    address = f"ws://{name}/v1/realtime?model={MODEL}"
    line = create_connection(("127.0.0.1", port))

    with connect(address, sock=line, origin=f"http://{name}", proxy=None) as socket:  # type: ignore[arg-type]
        assert "invalid_api_key" in str(socket.recv(timeout=10))


@pytest.mark.parametrize("path", ["/v1/unknown", "/v1/chat/completions", "/api/keys", "/"])
def test_other_paths_are_no_sockets(here: Served, path: str) -> None:
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(f"{here.url.replace('http', 'ws', 1)}{path}", proxy=None),
    ):
        pass

    assert refused.value.response.status_code in (403, 404)


@pytest.mark.parametrize("path", ["/v1/realtime/", "/v1/v1/realtime", "/api/v1/realtime"])
def test_the_path_has_the_spellings_of_every_client_path(here: Served, path: str) -> None:
    address = f"{here.url.replace('http', 'ws', 1)}{path}?model={MODEL}"
    with connect(address, proxy=None) as socket:
        assert "session.created" in str(socket.recv(timeout=10))


def test_a_request_that_is_no_handshake_is_told_to_upgrade(here: Served, http: Any) -> None:
    answer: httpx2.Response = http.get(f"{here.url}/v1/realtime")

    assert answer.status_code == 426
    assert answer.headers["upgrade"] == "websocket"
    assert answer.json()["error"]["code"] == "upgrade_required"
    assert http.get(f"{here.url}/v1/realtime", headers=AWAY).status_code == 401


def test_a_check_that_fails_closes_with_1011(tmp_path: Path) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("the keys cannot be read")

    with place("uvloop", tmp_path) as here:
        replace_collaborator(here.gateway.core, "identity", Broken())
        with Session(here) as session:
            assert session.refusal()[0] == "auth_probe_failed"
            assert session.closing()[0] == 1011
