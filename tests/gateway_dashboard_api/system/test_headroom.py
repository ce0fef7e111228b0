"""The compressor as a process of its own: a small program stands for it, well-behaved or not."""

import asyncio
import os
import socket
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from admin_gateway import AdminGateway, client_of, opened
from caller_kinds import with_key, without_credentials

from gateway_dashboard_api.system import compressor as processes
from gateway_dashboard_api.system import headroom
from gateway_dashboard_api.system.compressor import LAST_WORDS, Compressor

pytestmark = pytest.mark.anyio
START, STOP = "/api/headroom/start", "/api/headroom/stop"
STATUS, STATS = "/api/headroom/status", "/api/headroom/stats"
SERVES = """
    import json, os, signal, sys, threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    ANSWERS = {
        "/health": {"service": "headroom-proxy", "status": "healthy", "env": sorted(os.environ)},
        "/stats": {"requests": {"total": 167}, "tokens": {"saved": 12500}},
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps(ANSWERS[self.path]).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    assert sys.argv[1:4] == ["proxy", "--host", "127.0.0.1"], sys.argv
"""
LISTENS = "\nHTTPServer(('127.0.0.1', int(sys.argv[5])), Handler).serve_forever()"
HANGS = "\ns = __import__('socket').create_server(('127.0.0.1', int(sys.argv[5])))\nsignal.pause()"
FLOODS = """
def flood():
    while True:
        os.write(2, b"x" * 65536)
threading.Thread(target=flood, daemon=True).start()
"""


class Installed:
    """A gateway in whose data directory a program stands for Headroom."""

    def __init__(self, admin: AdminGateway) -> None:
        self.admin = admin
        self.folder = admin.core.data_dir.path / "headroom"

    def program(self, code: str) -> None:
        program = self.folder / "bin" / "headroom"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!{sys.executable} -SE\n{dedent(SERVES)}\n{code}\n")
        program.chmod(0o755)

    async def call(self, method: str, path: str, **more: Any) -> Any:
        return await self.admin.call(method, path, **more)


async def installed(admin: AdminGateway) -> Installed:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    await admin.call("PATCH", "/api/settings", {"headroomUrl": f"http://127.0.0.1:{port}"})
    return Installed(admin)


@pytest.fixture
async def here(admin: AdminGateway, monkeypatch: pytest.MonkeyPatch) -> Installed:
    monkeypatch.setattr(processes, "STOP_LIMIT", 20.0)
    monkeypatch.setattr(headroom, "START_LIMIT", 30.0)
    return await installed(admin)


async def test_without_it_every_route_says_so(admin: AdminGateway) -> None:
    await admin.call("PATCH", "/api/settings", {"headroomUrl": "http://127.0.0.1:9"})

    refused = await admin.call("POST", START, status=409)
    stopped = await admin.call("POST", STOP)
    status, stats = await admin.call("GET", STATUS), await admin.call("GET", STATS)

    assert "headroom is not installed" in refused["error"].lower()
    assert stopped == {
        "success": True,
        "running": False,
        "managedPid": None,
        "message": "The gateway runs no compressor",
    }
    assert (status["installed"], status["running"], status["managedPid"]) == (False, False, None)
    assert (stats["available"], stats["tokensSaved"]) == (False, 0)
    assert "does not answer" in stats["message"]


async def test_it_is_started_shown_and_stopped(here: Installed) -> None:
    here.program(LISTENS)

    started = await here.call("POST", START)
    status, stats = await here.call("GET", STATUS), await here.call("GET", STATS)
    again = await here.call("POST", START)
    stopped = await here.call("POST", STOP)
    after = await here.call("GET", STATUS)

    pid = started["managedPid"]
    assert started == {**started, "success": True, "running": True, "message": "It was started"}
    assert (status["running"], status["managedPid"], status["installed"]) == (True, pid, True)
    assert status["health"]["status"] == "healthy"
    assert (stats["available"], stats["requests"], stats["tokensSaved"]) == (True, 167, 12500)
    assert (again["managedPid"], again["message"]) == (pid, "It runs already")
    assert (stopped["running"], stopped["message"]) == (False, "It was stopped")
    assert (after["running"], after["managedPid"]) == (False, None)
    rows = (await here.call("GET", "/api/audit"))["rows"]
    assert {"headroom.start", "headroom.stop"} <= {row["action"] for row in rows}


@pytest.mark.parametrize("variables", [{"OPENAI_API_KEY": "canary", "HEADROOM_MODE": "token"}])
async def test_its_process_gets_no_secret_of_the_gateways(here: Installed) -> None:
    here.program(LISTENS)
    await here.call("POST", START)

    names = (await here.call("GET", STATUS))["health"]["env"]

    assert "HEADROOM_MODE" in names
    assert "OPENAI_API_KEY" not in names


async def test_one_that_never_answers_is_shown_and_can_be_stopped(
    here: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headroom, "START_LIMIT", 0.3)
    monkeypatch.setattr(headroom, "LIMIT", 0.2)
    here.program(HANGS)

    started = await here.call("POST", START)
    status = await here.call("GET", STATUS)
    stopped = await here.call("POST", STOP)

    assert (started["running"], started["managedPid"]) == (False, status["managedPid"])
    assert "does not answer yet" in started["message"]
    assert (status["running"], status["managedPid"] is None) == (False, False)
    assert status["error"]
    assert stopped["message"] == "It was stopped"


async def test_one_that_ends_at_once_leaves_its_last_words(here: Installed) -> None:
    here.program("sys.exit('There is no model. api_key=canary-of-its-own')")

    failed = await here.call("POST", START, status=502)
    status = await here.call("GET", STATUS)

    assert failed["error"].startswith("Headroom has ended with status 1: There is no model.")
    assert (status["running"], status["managedPid"]) == (False, None)


async def test_one_that_dies_is_not_taken_for_running(here: Installed) -> None:
    here.program(LISTENS)
    pid = (await here.call("POST", START))["managedPid"]

    os.kill(pid, 9)
    async with asyncio.timeout(30):
        while Compressor(here.folder.parent).running() is not None:
            await asyncio.sleep(0.01)
    status = await here.call("GET", STATUS)

    assert (status["running"], status["managedPid"]) == (False, None)
    assert (await here.call("POST", START))["running"] is True


async def test_one_that_floods_its_output_serves_on(here: Installed) -> None:
    here.program(FLOODS + LISTENS)

    started = await here.call("POST", START)
    for _ in range(5):
        assert (await here.call("GET", STATUS))["running"] is True
    stopped = await here.call("POST", STOP)

    assert started["running"] is True
    assert stopped["message"] == "It was stopped"


async def test_what_it_writes_is_kept_to_its_end_only(tmp_path: Path) -> None:
    own = Compressor(tmp_path)
    code = "import os; [os.write(1, b'y' * 65536) for _ in range(9)]; os.write(1, b'The end.\\n')"

    process = await own.start((sys.executable, "-SEc", code), {})
    await process.wait()

    assert (await own.spoken()).endswith("The end.")
    assert len(own.last_words) == LAST_WORDS


async def test_one_that_ignores_the_request_to_end_is_ended(
    here: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.program("signal.signal(signal.SIGTERM, signal.SIG_IGN)" + LISTENS)
    await here.call("POST", START)
    monkeypatch.setattr(processes, "STOP_LIMIT", 0.5)

    stopped = await here.call("POST", STOP)

    assert stopped["message"] == "It was stopped"
    assert (await here.call("GET", STATUS))["managedPid"] is None


async def test_what_others_have_started_is_left_alone(here: Installed) -> None:
    here.program(LISTENS)
    await here.call("PATCH", "/api/settings", body={"headroomUrl": here.admin.vendor.url})

    refused = await here.call("POST", START, status=409)
    stopped = await here.call("POST", STOP)

    assert "that the gateway has not started" in refused["error"]
    assert stopped["message"] == "The gateway runs no compressor"


@pytest.mark.parametrize("url", ["http://192.0.2.1:8787", "https://localhost:8787", "nonsense"])
async def test_it_is_started_on_this_machine_only(here: Installed, url: str) -> None:
    here.program(LISTENS)
    await here.call("PATCH", "/api/settings", body={"headroomUrl": url})

    refused = await here.call("POST", START, status=409)

    assert "no http address of this machine" in refused["error"]


async def test_a_program_that_is_no_program_is_told(here: Installed) -> None:
    here.program(LISTENS)
    (here.folder / "bin" / "headroom").write_text("#!/nowhere/python\n")

    refused = await here.call("POST", START, status=500)

    assert "cannot be started" in refused["error"]
    here.program(LISTENS)
    assert (await here.call("POST", START))["running"] is True


async def test_it_ends_with_the_gateway_and_another_process_sees_it(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    async with opened(tmp_path, variables) as admin:
        (await installed(admin)).program(LISTENS)
        pid = (await admin.call("POST", START))["managedPid"]

        seen = Compressor(tmp_path).running()
        assert seen is not None
        assert (seen.pid, seen.started_by) == (pid, os.getpid())

    assert Compressor(tmp_path).running() is None


async def test_only_who_is_on_this_machine_starts_and_stops_it(here: Installed) -> None:
    here.program(LISTENS)
    async with with_key(here.admin) as key:
        await key.call("POST", START, status=403)
        await key.call("GET", STATUS)
    async with without_credentials(here.admin, "192.0.2.1") as stranger:
        answer = await stranger.call("POST", START, status=403)
    async with client_of(here.admin.gateway, "192.0.2.1") as terminal:
        assert (await terminal.post(STOP)).status_code == 200

    assert answer["error"] == "Local only: CLI token required"
