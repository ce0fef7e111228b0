"""What every test of the responses format needs."""

import json
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from gateway_format_openai_responses import FORMATS
from openai import omit
from openai._models import construct_type
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from gateway_core import (
    Call,
    ClientSide,
    Conversation,
    Kind,
    Losses,
    Model,
    ProviderSpec,
    StreamEvent,
    Target,
    VendorSide,
    WireFormat,
)

Json = dict[str, Any]
Ask = Callable[..., Conversation]
Tell = Callable[..., tuple[Json, list[str]]]
Aim = Callable[..., Target]
Stream = Callable[..., bytes]

EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


@pytest.fixture
def wire() -> WireFormat:
    return FORMATS[0]


@pytest.fixture
def compact() -> WireFormat:
    return FORMATS[1]


@pytest.fixture
def client(wire: WireFormat) -> ClientSide:
    assert wire.client is not None
    return wire.client


@pytest.fixture
def vendor(wire: WireFormat) -> VendorSide:
    assert wire.vendor is not None
    return wire.vendor


@pytest.fixture
def aim() -> Aim:
    """A vendor with some switches set."""

    def aimed(
        provider: str = "acme",
        *,
        reasoning: bool | None = None,
        max_output: int | None = None,
        **options: Any,
    ) -> Target:
        spec = ProviderSpec(id=provider, name=provider, format="openai-responses", options=options)
        return Target(spec, Model("m-1", reasoning=reasoning, max_output=max_output))

    return aimed


def call_with(body: Any, *, stream: bool = False) -> Call:
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return Call(kind=Kind.LLM, format="openai-responses", model="m-1", stream=stream, body=raw)


@pytest.fixture
def call() -> Callable[..., Call]:
    return call_with


@pytest.fixture
def ask(client: ClientSide) -> Ask:
    """Reads a request; the input alone is enough."""

    def received(body: Any = "hi", /, *, stream: bool = False, **members: Any) -> Conversation:
        if isinstance(body, list | str):
            body = {"model": "m", "input": body, **members}
        return client.read_request(call_with(body, stream=stream))

    return received


@pytest.fixture
def tell(vendor: VendorSide, aim: Aim) -> Tell:
    """Writes a request: what it says, and what it does not."""

    def reported(conversation: Conversation, to: Target | None = None) -> tuple[Json, list[str]]:
        losses = Losses()
        body = vendor.write_request(conversation, to or aim(), losses)
        return json.loads(body), list(losses.names)

    return reported


@pytest.fixture
def stream(client: ClientSide) -> Stream:
    """Writes a stream, in one go."""

    def streamed(
        events: Sequence[StreamEvent],
        received: Conversation | None = None,
        losses: Losses | None = None,
    ) -> bytes:
        writer = client.stream_writer(received or Conversation(model="m"), losses or Losses())
        return writer.feed(events) + writer.close()

    return streamed


def frames_of(stream: bytes) -> list[Json]:
    """The data of every frame, whose event name must be its type."""
    found = []
    for block in stream.decode().split("\n\n"):
        if not block or block.startswith(":"):
            continue
        event, data = block.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert event == f"event: {found[-1]['type']}"
    return found


@pytest.fixture
def frames() -> Callable[[bytes], list[Json]]:
    return frames_of


@pytest.fixture
def by_library() -> Callable[..., Response]:
    """The final answer as the vendor's own library has it after a whole stream of ours.

    Strictly, every member that the library's types want must be there. The
    library itself is lenient, as it must be for items that vendors make up.
    """

    def read(stream: bytes, *, strict: bool = True) -> Response:
        state: ResponseStreamState[Any] = ResponseStreamState(input_tools=omit, text_format=omit)
        found = frames_of(stream)
        assert [frame["sequence_number"] for frame in found] == list(range(len(found)))
        for frame in found:
            if strict:
                state.handle_event(EVENTS.validate_python(frame))
                continue
            with warnings.catch_warnings():  # The library's own, about values new to it.
                warnings.simplefilter("ignore", UserWarning)
                event: Any = construct_type(type_=ResponseStreamEvent, value=frame)
                state.handle_event(event)
        return parse_answer(found[-1]["response"], strict=strict)

    return read


def parse_answer(body: Json, *, strict: bool) -> Response:
    if strict:
        return Response.model_validate(body)
    answer = construct_type(type_=Response, value=body)
    assert isinstance(answer, Response)
    return answer


@pytest.fixture
def parse() -> Callable[..., Response]:
    """A whole answer as the vendor's own library has it."""

    def parsed(body: bytes, *, strict: bool = True) -> Response:
        return parse_answer(json.loads(body), strict=strict)

    return parsed
