"""What every test of the chat-completions formats needs."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest
from gateway_format_openai import CHAT, COMPLETIONS

from gateway_core import (
    Call,
    ChoiceEnded,
    CitationAdded,
    ClientSide,
    Conversation,
    Kind,
    Losses,
    Model,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    ProviderSpec,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Target,
    UsageReported,
    VendorSide,
)

Ask = Callable[..., Conversation]
Tell = Callable[..., tuple[dict[str, Any], list[str]]]
Aim = Callable[..., Target]


@pytest.fixture
def client() -> ClientSide:
    assert CHAT.client is not None
    return CHAT.client


@pytest.fixture
def older_client() -> ClientSide:
    assert COMPLETIONS.client is not None
    return COMPLETIONS.client


@pytest.fixture
def vendor() -> VendorSide:
    assert CHAT.vendor is not None
    return CHAT.vendor


@pytest.fixture
def aim() -> Aim:
    """A vendor with some switches set."""

    def aimed(model: str = "m-1", *, reasoning: bool | None = None, **options: Any) -> Target:
        spec = ProviderSpec(id="acme", name="Acme", options=options)
        return Target(spec, Model(model, reasoning=reasoning))

    return aimed


@pytest.fixture
def target(aim: Aim) -> Target:
    return aim()


def call_with(body: Any, *, stream: bool = False, headers: dict[str, str] | None = None) -> Call:
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return Call(
        kind=Kind.LLM,
        format="openai",
        model="m-1",
        stream=stream,
        body=raw,
        headers=headers or {},
    )


@pytest.fixture
def call() -> Callable[..., Call]:
    """A client's call with this body, given as bytes or as what it says."""
    return call_with


@pytest.fixture
def ask(client: ClientSide) -> Ask:
    """Reads a request; messages alone are enough."""

    def received(body: Any = None, /, *, stream: bool = False, **members: Any) -> Conversation:
        if body is None:
            body = {"messages": [{"role": "user", "content": "hi"}], **members}
        elif isinstance(body, list):
            body = {"messages": body, **members}
        return client.read_request(call_with(body, stream=stream))

    return received


@pytest.fixture
def tell(vendor: VendorSide, target: Target) -> Tell:
    """Writes a request: what it says, and what it does not."""

    def reported(
        conversation: Conversation, to: Target | None = None
    ) -> tuple[dict[str, Any], list[str]]:
        losses = Losses()
        body = vendor.write_request(conversation, to or target, losses)
        return msgspec.json.decode(body), list(losses.names)

    return reported


@pytest.fixture(scope="session")
def disorder() -> Callable[[Iterable[StreamEvent]], str | None]:
    """What breaks the order that readers promise, or ``None``."""
    return _disorder


def _disorder(events: Iterable[StreamEvent]) -> str | None:
    open_parts: set[tuple[int, int]] = set()
    counts: dict[int, int] = {}
    ended: set[int] = set()
    begun = failed = False
    for event in events:
        match event:
            case _ if failed:
                return f"{event} after a failure"
            case ReplyFailed():
                failed = True
            case ReplyStarted():
                if begun:
                    return "started twice"
                begun = True
            case _ if not begun:
                return f"{event} before the start"
            case PartStarted(index, _, choice):
                if choice in ended or index != counts.get(choice, 0):
                    return f"{event} out of turn"
                counts[choice] = index + 1
                open_parts.add((choice, index))
            case PartGrew() | PartSealed() | CitationAdded() | PartEnded():
                if (event.choice, event.index) not in open_parts:
                    return f"{event} of a part that is not open"
                if isinstance(event, PartEnded):
                    open_parts.remove((event.choice, event.index))
            case ChoiceEnded(_, choice):
                if choice in ended or any(key[0] == choice for key in open_parts):
                    return f"{event} out of turn"
                ended.add(choice)
            case UsageReported():
                pass
    return None if failed or (begun and not open_parts and ended) else "no proper end"
