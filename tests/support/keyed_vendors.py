"""Vendors that need a key, their answers, and requests to them."""

from collections.abc import Callable, Mapping
from typing import Any

import httpx2
import msgspec
from fake_vendor import FakeVendor, ReceivedRequest
from served_gateway import Served

from gateway_core import Model, ProviderSpec

Add = Callable[..., Any]
JSON = msgspec.json.encode
GOOD = JSON(
    {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": "fine"},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 3,
        "eval_count": 1,
    }
)


def line(text: str, **more: Any) -> bytes:
    row = {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": text},
        "done": False,
    }
    return JSON({**row, **more}) + b"\n"


def keyed(vendors: Mapping[str, FakeVendor]) -> list[ProviderSpec]:
    """Each vendor as a provider that needs a key."""
    return [
        ProviderSpec(
            id=name,
            name=name,
            format="ollama",
            base_url=vendor.url,
            models=(Model("swift-mini"), Model("grand-pro"), Model("llama-3", vision=False)),
        )
        for name, vendor in vendors.items()
    ]


def ask(http: httpx2.Client, here: Served, model: str, **more: Any) -> httpx2.Response:
    body = {"model": model, "stream": False, "messages": [{"role": "user", "content": "hi"}]}
    headers = more.pop("headers", {})
    return http.post(f"{here.url}/v1/api/chat", json={**body, **more}, headers=headers)


def key_of(received: ReceivedRequest) -> str:
    return received.headers["authorization"].removeprefix("Bearer ")


def keys(here: Served, vendor: str = "acme") -> list[str]:
    return [key_of(received) for received in here.vendors[vendor].received]
