"""What every test of the messages format needs."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from gateway_format_claude import CLAUDE
from msgspec import Raw

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
MockResponse = Callable[..., Call]
At = Callable[..., Target]

_members = msgspec.json.Decoder(dict[str, Raw]).decode


@pytest.fixture
def client() -> ClientSide:
    assert CLAUDE.client is not None
    return CLAUDE.client


@pytest.fixture
def vendor() -> VendorSide:
    assert CLAUDE.vendor is not None
    return CLAUDE.vendor


@pytest.fixture
def written() -> MockResponse:
    """A client's call, from bytes or from what they say."""

    def call(body: Any, headers: Mapping[str, str] | None = None) -> Call:
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        members = _members(data)
        stream = members.get("stream")
        return Call(
            kind=Kind.LLM,
            format="claude",
            model="m",
            stream=stream is not None and bytes(stream) == b"true",
            body=data,
            members=members,
            headers=headers or {},
        )

    return call


@pytest.fixture
def ask(client: ClientSide, written: MockResponse) -> Ask:
    """Reads a request: the members given, over a short usual one."""

    def received(headers: Mapping[str, str] | None = None, **members: Any) -> Conversation:
        usual = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}
        return client.read_request(written({**usual, **members}, headers))

    return received


@pytest.fixture
def at() -> At:
    """A model at a provider."""

    def target(
        model: str = "claude-sonnet-4-5",
        longest: int | None = None,
        provider: str = "anthropic",
        **options: str | bool,
    ) -> Target:
        spec = ProviderSpec(id=provider, name=provider, format="claude", options=options)
        return Target(spec, Model(model, max_output=longest))

    return target


@pytest.fixture
def tell(vendor: VendorSide, at: At) -> Tell:
    """Writes a request: what it says, and what it does not."""

    def reported(
        conversation: Conversation, target: Target | None = None
    ) -> tuple[dict[str, Any], list[str]]:
        losses = Losses()
        body = vendor.write_request(conversation, target or at(), losses)
        return msgspec.json.decode(body), list(losses.names)

    return reported
