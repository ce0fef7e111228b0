"""Answers that a killed gateway has kept."""

from pathlib import Path

import httpx2
from caching_gateway import SETTINGS, counting_vendor
from custom_node import add_node, operator
from gateway_process import running, start

BODY = {"model": "lab/m", "messages": [{"role": "user", "content": "hi"}]}


def ask(url: str) -> httpx2.Response:
    return httpx2.post(f"{url}/v1/chat/completions", json=BODY, timeout=20, trust_env=False)


def test_a_killed_gateway_has_kept_its_answers(tmp_path: Path) -> None:
    with counting_vendor() as vendor:
        first = start(tmp_path)
        add_node(first, tmp_path, vendor)
        with operator(first, tmp_path) as client:
            assert client.patch(SETTINGS, json={"enabled": True}).status_code == 200
        assert ask(first.url).headers["x-gateway-cache"] == "miss"
        first.kill()
        assert first.process.stdout is not None
        first.process.stdout.close()
        with running(tmp_path) as second:
            assert ask(second.url).headers["x-gateway-cache"] == "hit"
    assert len(vendor.asked) == 1
