"""Calls as an interceptor sees them, and records of calls that have ended."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from gateway_core import Call, Kind
from gateway_core.pipeline.interceptors import ConversationReader
from gateway_core.storage.stores.usage import UsageRecord
from gateway_kit.json_bodies import decode_members
from gateway_kit.providers.chat_requests import WORDS, build_request
from gateway_kit.providers.subject import ProviderUnderTest

PRIVATE = "private4711"
"""What nobody but the vendor and the client may see."""
LONGEST_WORD = 200
LONGEST_BODY = 4_000_000
HEADERS = {"content-type": "application/json", "user-agent": "kit"}
ODD: Mapping[str, bytes] = {
    "an empty object": b"{}",
    "members of other kinds": b'{"model":7,"messages":"x","stream":"y","tools":null}',
    "no messages": b'{"model":"kit-vendor/large","messages":[]}',
    "a message that is none": b'{"model":"kit-vendor/large","messages":[null,7,"x",[]]}',
    "no content": b'{"model":"kit-vendor/large","messages":[{"role":"user"}]}',
    "null content": b'{"model":"kit-vendor/large","messages":[{"role":"user","content":null}]}',
    "parts": b'{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{},7]}]}',
    "other words": '{"messages":[{"role":"user","content":"Grüße, 世界 \\ud83c"}]}'.encode(),
}


def ordinary_calls(vendor: ProviderUnderTest) -> Iterator[tuple[str, Call]]:
    """A question in each client format, whole and streamed."""
    for route in vendor.routes():
        for stream in (False, True):
            request = build_request(vendor, route, stream=stream)
            call = _call(request.client, request.body, stream=stream, vendor=vendor)
            yield f"{route.client}-{'stream' if stream else 'whole'}", call


def touched_calls(
    vendor: ProviderUnderTest, settings: object, texts: Iterable[str]
) -> Iterator[tuple[str, Call]]:
    """Calls that a plugin with these settings may act on: each of the texts stands in the
    question, and one body is longer than each number."""
    words = " ".join([PRIVATE, "Grüße 世界", *texts])
    for about, call in ordinary_calls(vendor):
        body = call.body.replace(WORDS.encode(), msgspec.json.encode(words)[1:-1])
        yield f"{about} with the words of its settings", _with_body(call, body)
    for number in _numbers(msgspec.to_builtins(settings) if settings is not None else None):
        if 0 < number <= LONGEST_BODY:
            _, call = next(ordinary_calls(vendor))
            body = call.body.replace(WORDS.encode(), b"x" * (number + 1))
            yield f"a body longer than {number} bytes", _with_body(call, body)


def _with_body(call: Call, body: bytes) -> Call:
    return replace(call, body=body, members=decode_members(body))


def texts_of(settings: object) -> Iterator[str]:
    """Each text in the settings of a plugin; none for ``None``."""
    yield from _texts(msgspec.to_builtins(settings))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str) and 0 < len(value) <= LONGEST_WORD:
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _numbers(value: Any) -> Iterator[int]:
    if type(value) is int:
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)


def odd_calls(vendor: ProviderUnderTest) -> Iterator[tuple[str, Call]]:
    """Unusual bodies that a client may send."""
    for about, body in ODD.items():
        yield about, _call("openai", body, stream=False, vendor=vendor)
    yield (
        "no members",
        Call(
            kind=Kind.EMBEDDING,
            format="openai",
            model="",
            stream=False,
            body=b"\xff\x00",
            reader=ConversationReader(vendor.registry.formats),
        ),
    )


def marked_call(number: int, vendor: ProviderUnderTest, texts: Iterable[str]) -> Call:
    """A call with a body of its own, and with these texts."""
    words = " ".join(texts)
    text = f"{mark(number).decode()} {words}".strip()
    message = {"role": "user", "content": text}
    body = msgspec.json.encode({"model": "kit-vendor/large", "messages": [message]})
    return _call("openai", body, stream=False, vendor=vendor)


def mark(number: int) -> bytes:
    return b"question-%04d" % number


def sample_records() -> Iterator[Mapping[str, Any]]:
    """A successful call, one that failed before a provider was chosen, and a cancelled one."""
    members: dict[str, Any] = {
        "request_id": "req-1",
        "started_at": "2026-10-21T07:28:00.000Z",
        "finished_at": "2026-10-21T07:28:01.000Z",
        "model_asked": "kit-vendor/large",
        "endpoint": "/v1/chat/completions",
    }
    target: dict[str, Any] = {
        "provider": "kit-vendor",
        "model_sent": "large",
        "input_tokens": 12,
        "cost": 40,
    }
    yield asdict(UsageRecord(**members, **target, output_tokens=7, ttft_ms=12, duration_ms=80))
    yield asdict(UsageRecord(**members, status="error", http_status=429, error_code="rate_limited"))
    yield asdict(UsageRecord(**members, **target, status="client_gone", stream=True))


def _call(client: str, body: bytes, *, stream: bool, vendor: ProviderUnderTest) -> Call:
    return Call(
        kind=Kind.LLM,
        format=client,
        model="kit-vendor/large",
        stream=stream,
        body=body,
        members=decode_members(body),
        headers=dict(HEADERS),
        path={"model": "kit-vendor/large"} if client == "gemini" else {},
        reader=ConversationReader(vendor.registry.formats),
    )
