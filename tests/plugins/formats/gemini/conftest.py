"""Fixtures: the format, its two sides, and short ways to call them."""

from collections.abc import Callable, Mapping
from typing import Any

import gateway_format_gemini
import msgspec
import pytest

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
    WireFormat,
)

Read = Callable[..., Conversation]
Write = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def gemini() -> WireFormat:
    [found] = gateway_format_gemini.register_formats()
    return found


@pytest.fixture(scope="session")
def client(gemini: WireFormat) -> ClientSide:
    assert gemini.client is not None
    return gemini.client


@pytest.fixture(scope="session")
def vendor(gemini: WireFormat) -> VendorSide:
    assert gemini.vendor is not None
    return gemini.vendor


@pytest.fixture(scope="session")
def read(client: ClientSide) -> Read:
    """A body, or the contents of one, to the hub."""

    def read(body: object, model: str = "m", stream: bool = False) -> Conversation:
        sent = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return client.read_request(
            Call(kind=Kind.LLM, format="gemini", model=model, stream=stream, body=sent)
        )

    return read


@pytest.fixture(scope="session")
def write(vendor: VendorSide) -> Write:
    """A conversation to the vendor's body, for a model and a provider with options."""

    def write(
        conversation: Conversation,
        losses: Losses | None = None,
        *,
        model: str = "gemini-2.5-flash",
        provider: str = "google",
        options: Mapping[str, str | bool] | None = None,
        reasoning: bool | None = None,
    ) -> dict[str, Any]:
        spec = ProviderSpec(id=provider, name="Google", options=options or {})
        target = Target(spec, Model(model, reasoning=reasoning))
        body = vendor.write_request(
            conversation, target, losses if losses is not None else Losses()
        )
        decoded: dict[str, Any] = msgspec.json.decode(body)
        return decoded

    return write
