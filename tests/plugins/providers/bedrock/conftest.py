"""What every test of Converse needs, with the vendor's own library as the judge of requests."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from gateway_provider_bedrock import BEDROCK, CONVERSE
from gateway_provider_bedrock._frames import write_frame

from gateway_core import Conversation, Losses, Model, StreamEvent, Target, VendorSide

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

Check = Callable[[dict[str, Any]], None]
Tell = Callable[..., tuple[dict[str, Any], list[str]]]
Read = Callable[..., list[StreamEvent]]


@pytest.fixture(scope="session")
def check() -> Check:
    """Fails when the vendor's library finds fault with a request."""
    service = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))
    shape = service.operation_model("Converse").input_shape

    def checked(body: dict[str, Any]) -> None:
        report = ParamValidator().validate({"modelId": CLAUDE, **body}, shape)
        assert not report.has_errors(), report.generate_report()

    return checked


@pytest.fixture
def vendor() -> VendorSide:
    assert CONVERSE.vendor is not None
    return CONVERSE.vendor


@pytest.fixture
def target() -> Target:
    return Target(BEDROCK, Model(CLAUDE))


@pytest.fixture
def tell(vendor: VendorSide, check: Check) -> Tell:
    """Writes a request that the vendor's library accepts: what it says, and what it does not."""

    def reported(
        conversation: Conversation, model: str = CLAUDE, longest: int | None = None, **changes: Any
    ) -> tuple[dict[str, Any], list[str]]:
        spec = msgspec.structs.replace(BEDROCK, **changes)
        losses = Losses()
        known = Model(model, max_output=longest)
        raw = vendor.write_request(conversation, Target(spec, known), losses)
        body = msgspec.json.decode(raw)
        check(body)
        return body, list(losses.names)

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


@pytest.fixture
def framed() -> Callable[..., bytes]:
    """Events, each a name and what it holds, as the vendor sends them."""

    def stream(*events: tuple[str, Any]) -> bytes:
        return b"".join(
            write_frame(
                {
                    ":event-type": name,
                    ":content-type": "application/json",
                    ":message-type": "event",
                },
                held if isinstance(held, bytes) else msgspec.json.encode(held),
            )
            for name, held in events
        )

    return stream
