"""What every test of the local model server's format needs."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from gateway_format_ollama import OLLAMA

from gateway_core import (
    Call,
    ClientSide,
    Conversation,
    Kind,
    Losses,
    Model,
    ProviderSpec,
    Target,
    VendorSide,
)

Ask = Callable[..., Conversation]
Tell = Callable[..., tuple[dict[str, Any], list[str]]]


@pytest.fixture
def client() -> ClientSide:
    assert OLLAMA.client is not None
    return OLLAMA.client


@pytest.fixture
def vendor() -> VendorSide:
    assert OLLAMA.vendor is not None
    return OLLAMA.vendor


@pytest.fixture
def target() -> Target:
    spec = ProviderSpec(id="box", name="Box", format="ollama", base_url="http://localhost:11434")
    return Target(spec, Model("gemma3"))


@pytest.fixture
def ask(client: ClientSide) -> Ask:
    """Reads a request, given as bytes or as what they say."""

    def received(body: Any) -> Conversation:
        raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return client.read_request(
            Call(kind=Kind.LLM, format="ollama", model="", stream=True, body=raw)
        )

    return received


@pytest.fixture
def tell(vendor: VendorSide, target: Target) -> Tell:
    """Writes a request: what it says, and what it does not."""

    def reported(conversation: Conversation) -> tuple[dict[str, Any], list[str]]:
        losses = Losses()
        body = vendor.write_request(conversation, target, losses)
        return msgspec.json.decode(body), list(losses.names)

    return reported
