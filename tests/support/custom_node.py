"""A node for a vendor, added to a gateway in another process as an operator adds it."""

from functools import wraps
from pathlib import Path
from typing import Any

import httpx2
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest, Script
from gateway_process import Running

from gateway_core.config.data_dir import DataDir
from gateway_core.identity.credentials import CLI_HEADER, cli_token

EVENT = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":'
    b'[{"index":0,"delta":{"content":"%b"},"finish_reason":null}]}\n\n'
)
END = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":'
    b'[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)
STREAM = b'{"model":"lab/m","stream":true,"messages":[{"role":"user","content":"hi"}]}'


def without_models(script: Script) -> Script:
    """The script of a vendor whose streams take long: a new account waits for a list of models."""

    @wraps(script)
    def answer(received: ReceivedRequest) -> MockResponse:
        return script(received) if received.method == "POST" else MockResponse(status=404)

    return answer


def operator(here: Running, data_dir: Path) -> httpx2.Client:
    """Return a client with the command line's token."""
    owned = DataDir(data_dir)
    token = cli_token(owned.raw_machine_id(), owned.cli_secret())
    return httpx2.Client(
        base_url=here.url, headers={CLI_HEADER: token}, trust_env=False, timeout=20
    )


def add_node(here: Running, data_dir: Path, vendor: FakeVendor) -> None:
    """Add the vendor as a node with the prefix ``lab``."""
    node = {
        "name": "Lab",
        "prefix": "lab",
        "type": "openai-compatible",
        "apiType": "chat",
        "baseUrl": f"{vendor.url}/v1",
    }
    with operator(here, data_dir) as http:
        made = http.post("/api/provider-nodes", json=node)
        assert made.status_code == 201, made.text
        account: dict[str, Any] = {"provider": made.json()["node"]["id"], "name": "main"}
        saved = http.post("/api/connections", json={**account, "apiKey": "lab-key"})
        assert saved.status_code == 201, saved.text
