"""What every test of Cohere's chat needs."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from gateway_provider_cohere import CHAT, COHERE

from gateway_core import Conversation, Losses, Model, StreamEvent, Target, VendorSide

Tell = Callable[..., tuple[dict[str, Any], list[str]]]
Read = Callable[..., list[StreamEvent]]


@pytest.fixture
def vendor() -> VendorSide:
    assert CHAT.vendor is not None
    return CHAT.vendor


@pytest.fixture
def target() -> Target:
    return Target(COHERE, COHERE.models[0])


@pytest.fixture
def tell(vendor: VendorSide) -> Tell:
    """Writes a request for a model of Cohere's: what it says, and what it does not."""

    def reported(
        conversation: Conversation, model: str = "command-a-03-2025", **changes: Any
    ) -> tuple[dict[str, Any], list[str]]:
        known = next((m for m in COHERE.models if m.id == model), Model(model))
        spec = msgspec.structs.replace(COHERE, **changes)
        losses = Losses()
        body = vendor.write_request(conversation, Target(spec, known), losses)
        return msgspec.json.decode(body), list(losses.names)

    return reported


@pytest.fixture
def read(vendor: VendorSide) -> Read:
    """Reads a stream, cut at the places given."""

    def events(stream: bytes, places: Sequence[int] = ()) -> list[StreamEvent]:
        reader = vendor.stream_reader()
        found: list[StreamEvent] = []
        for start, end in pairwise([0, *sorted(places), len(stream)]):
            found += reader.feed(stream[start:end])
        return [*found, *reader.close()]

    return events
