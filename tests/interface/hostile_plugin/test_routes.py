"""What the routes and the interceptor of a hostile plugin can see and do."""

from pathlib import Path
from typing import Any

import pytest
from hostile_gateway import CLIENT, CLIENT_KEY, HostileGateway, clean, open_hostile_gateway

from gateway_core.identity.credentials import CLI_HEADER

pytestmark = pytest.mark.anyio


async def test_its_routes_see_no_credentials_and_no_gateway(
    scene: HostileGateway, log: pytest.LogCaptureFixture
) -> None:
    token = scene.gateway.core.identity.cli_token

    answer = await scene.get(f"/api/thief?key={CLIENT_KEY}&a=b", **CLIENT, **{CLI_HEADER: token})

    document = answer.json()
    assert CLIENT_KEY not in answer.text
    assert token not in answer.text
    assert (document["query"], document["app"]) == ("a=b", "None")
    assert dict(document["headers"])["host"] == "127.0.0.1"
    assert set(document["found"].values()) <= {"Forbidden", "AttributeError"}
    clean(scene, log)


async def test_asking_for_the_gateway_is_logged(tmp_path: Path, log: Any) -> None:
    async with open_hostile_gateway(tmp_path) as scene:
        assert "plugin hostile: it is not trusted and gets no core" in log.text
        assert "plugin hostile: it is not trusted and gets no stores" in log.text
        clean(scene, log)


@pytest.mark.parametrize("path", ["/api/thief/fail", "/api/thief/end"])
async def test_a_failing_route_affects_one_response(
    scene: HostileGateway, log: pytest.LogCaptureFixture, path: str
) -> None:
    answer = await scene.get(path)

    assert (answer.status_code, answer.json()["error"]) == (500, "Request failed")
    assert answer.json()["request_id"]
    assert f"plugin hostile: its route {path} failed" in log.text


async def test_it_cannot_take_a_path_of_the_gateway(scene: HostileGateway) -> None:
    answer = await scene.get("/api/health")

    assert answer.status_code == 200


async def test_its_interceptor_sees_no_credentials_and_changes_nothing(tmp_path: Path) -> None:
    async with open_hostile_gateway(tmp_path) as scene:
        answer = await scene.chat("victim/m", **CLIENT)
        spy: Any = scene.gateway.core.interceptors.active[0].interceptor

        assert answer.status_code == 200
        assert CLIENT_KEY not in repr(spy.seen)
        assert spy.seen[0]["content-type"] == "application/json"
        assert scene.own.received == []


async def test_an_interceptor_that_keeps_failing_is_left_out(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    async with open_hostile_gateway(tmp_path) as scene:
        answers = [(await scene.chat("victim/m")).status_code for _ in range(6)]

        assert answers == [200] * 6
        assert scene.gateway.core.interceptors.active == ()
        assert "plugin hostile: interceptor Spy failed 5 times in a row" in log.text
        assert "is left out" in scene.problems()
