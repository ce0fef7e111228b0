"""Fixtures of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_endpoints import CLAUDE_VENDOR, GPT_VENDOR
from served_gateway import Served, serve_gateway

from gateway_core.pipeline import client_response
from gateway_core.pipeline.fast_path import stream


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = Path(tmp_path_factory.mktemp("gateway"))
    scripts = {"openai": GPT_VENDOR, "claude": CLAUDE_VENDOR}
    with serve_gateway(folder, scripts, variables={"SSE_KEEPALIVE_MS": "300"}) as here:
        yield here


@pytest.fixture
def here(running: Served) -> Served:
    GPT_VENDOR.say = CLAUDE_VENDOR.say = None
    running.gateway.core.cooldowns.clear(["v-openai:public", "v-claude:public"], "__all")
    return running


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> float:
    """The seconds after which a quiet stream opens, which are fewer than two while it is used."""
    for module in (client_response, stream):
        monkeypatch.setattr(module, "EARLY_AFTER", 0.2)
    return 0.2
