"""Modules that a serving gateway has not imported, because no request needed them."""

import asyncio
import json
from pathlib import Path
from typing import NamedTuple

import httpx2
import psutil
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from gateway_process import running, vendor

from gateway_core.config.data_dir import DataDir
from gateway_core.storage.stores import open_stores

HEAVY = {
    *("authlib", "joserfc", "argon2", "bcrypt", "pyotp", "segno"),  # login, but only its own ways
    *("httpx2", "httpcore2", "h2", "socksio"),  # the way through a proxy
    *("hypercorn", "uvicorn"),  # others' servers
    *("gateway_server_fast.tls", "gateway_server_fast.multiplexed"),  # TLS
    *("genai_prices", "pydantic", "mcp"),  # the table of prices, for models without one
    *("rich", "pygments", "sqlite3", "ctypes", "multiprocessing.pool", "unittest"),
    *("concurrent.futures.process", "urllib.request", "email.mime", "anyio._backends._asyncio"),
    *("gateway_cli.options", "gateway_cli.doctor", "gateway_cli.api_client"),
    "gateway_dashboard_api.routes",
    *(
        "gateway_dashboard_api.endpoint",
        "gateway_dashboard_api.admin_context",
    ),  # the management API
    "cryptography",  # secrets at rest, where there are any
    *("brotli", "backports.zstd", "compression.zstd"),  # codings of bodies, where one comes in them
}
"""Modules and packages that a chat request does not need."""
MOST_RSS = 56.0
"""MiB of a gateway with every bundled plugin and no stored secret, on Linux."""
PLUGIN = """
import atexit, json, sys
from pathlib import Path
from gateway_core import Auth, Model, Price, ProviderSpec, hookimpl

@atexit.register
def tell():
    Path({reported!r}).write_text(json.dumps(sorted(sys.modules)))

@hookimpl
def register_providers():
    model = Model("m-1", price=Price(input=1, output=2))
    return [
        ProviderSpec(
            id="lean",
            name="Lean",
            format="openai",
            base_url={url!r},
            auth=Auth(type="none"),
            models=(model,),
        )
    ]
"""
USAGE = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
MESSAGE = {"role": "assistant", "content": "Hello"}
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "m-1",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}],
    "usage": USAGE,
}


def _answered(received: ReceivedRequest) -> MockResponse:
    return MockResponse((json.dumps(ANSWER).encode(),))


def _install(site: Path, source: str) -> None:
    """Copy the plugin to where an installer puts it."""
    info = site / "lean_vendor-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "lean_vendor.py").write_text(source)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lean-vendor\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[model_gateway]\nlean = lean_vendor\n")


async def _begin(data_dir: DataDir) -> None:
    """An earlier start."""
    await (await open_stores(data_dir)).close()


class Process(NamedTuple):
    modules: set[str]
    rss: float
    """MiB."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Process:
    """A process after a health request and one chat request."""
    folder = tmp_path_factory.mktemp("lean")
    reported, body = folder / "modules.json", {"model": "lean/m-1", "messages": [MESSAGE]}
    asyncio.run(_begin(DataDir(folder / "data")))
    with vendor(_answered) as behind:
        _install(folder / "site", PLUGIN.format(reported=str(reported), url=behind.url))
        variables = {"PYTHONPATH": str(folder / "site")}
        with (
            running(folder / "data", "--server", "fast", variables=variables) as here,
            httpx2.Client(base_url=here.url, trust_env=False, timeout=30) as client,
        ):
            healthy = client.get("/api/health")
            response = client.post("/v1/chat/completions", json=body)
            rss = psutil.Process(here.process.pid).memory_info().rss / 2**20
    assert healthy.status_code == response.status_code == 200
    assert response.json()["choices"][0]["message"]["content"] == "Hello"
    return Process(set(json.loads(reported.read_text())), rss)


@pytest.fixture
def loaded(served: Process) -> set[str]:
    return served.modules


def test_a_gateway_with_every_plugin_is_small(served: Process) -> None:
    assert served.rss <= MOST_RSS


def test_serving_a_chat_request_imports_no_module_it_does_not_need(loaded: set[str]) -> None:
    assert not {name for name in loaded if any(f"{name}.".startswith(f"{h}.") for h in HEAVY)}


def test_every_bundled_plugin_is_loaded(loaded: set[str]) -> None:
    folders = Path(__file__).parents[2].glob("plugins/*/*/gateway_*/__init__.py")

    assert {"gateway_dashboard_api.plugin", *(each.parent.name for each in folders)} <= loaded
