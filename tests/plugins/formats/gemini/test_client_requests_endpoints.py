"""The paths of this format, for clients and for vendors."""

import re
from typing import Any

import msgspec
import pytest

from gateway_core import BadRequest, VendorSide, WireFormat


def found(gemini: WireFormat, path: str) -> tuple[Any, dict[str, str]]:
    """The endpoint a path belongs to, and its parameters."""
    for endpoint in gemini.endpoints:
        pattern = re.escape(endpoint.path).replace(r"\{model\}", "(?P<model>.+)")
        match = re.fullmatch(pattern, path)
        if match:
            return endpoint, match.groupdict()
    raise AssertionError(path)


@pytest.mark.parametrize("tree", ["/v1beta/models", "/v1/models", "/v1beta", "/v1"])
@pytest.mark.parametrize(
    ("rest", "model", "stream"),
    [
        ("gemini-x:generateContent", "gemini-x", False),
        ("gemini-x:streamGenerateContent", "gemini-x", True),
        ("google/gemini-x:generateContent", "google/gemini-x", False),
        ("models/gemini-x:generateContent", "gemini-x", False),
        ("models/models/a/b:streamGenerateContent", "a/b", True),
        ("ollama/llama3:8b:generateContent", "ollama/llama3:8b", False),
        ("gemini-x:countTokens", "gemini-x", False),
    ],
)
def test_the_path_alone_says_what_is_wanted(
    gemini: WireFormat, tree: str, rest: str, model: str, stream: bool
) -> None:
    endpoint, path = found(gemini, f"{tree}/{rest}")

    intake = endpoint.read(path, {}, {"stream": msgspec.Raw(b"true"), "model": msgspec.Raw(b"1")})

    assert (intake.model, intake.stream) == (model, stream)
    assert (endpoint.counting is not None) == rest.endswith("countTokens")


def test_the_vendor_s_paths(vendor: VendorSide) -> None:
    assert vendor.path("gemini-x", stream=False) == "/models/gemini-x:generateContent"
    assert vendor.path("x", stream=True) == "/models/x:streamGenerateContent?alt=sse"
    assert vendor.path("a?b", stream=False) == "/models/a%3Fb:generateContent"


def test_facts_of_the_format(gemini: WireFormat) -> None:
    assert (gemini.id, gemini.dialect, gemini.model_in_body) == ("gemini", "gemini", False)
    assert (gemini.auth_header, gemini.auth_prefix) == ("x-goog-api-key", "")
    assert gemini.stream_type == "text/event-stream"
    assert gemini.keep_alive is not None
    assert gemini.keep_alive.frame == b"\n\n"


def counting(gemini: WireFormat) -> Any:
    return next(each.counting for each in gemini.endpoints if each.counting is not None)


CONTENTS = [{"role": "user", "parts": [{"text": "x" * 40}]}]


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        ({"contents": CONTENTS}, 10),
        ({"generateContentRequest": {"model": "models/x", "contents": CONTENTS}}, 10),
        ({"generate_content_request": {"contents": CONTENTS}}, 10),
        ({"contents": CONTENTS, "systemInstruction": {"parts": [{"text": "y" * 40}]}}, 20),
    ],
)
def test_tokens_are_estimated_where_no_vendor_counts(
    gemini: WireFormat, body: Any, tokens: int
) -> None:
    counted = counting(gemini).estimate(msgspec.json.encode(body))

    assert msgspec.json.decode(counted) == {"totalTokens": tokens}


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"generateContentRequest": 5}'])
def test_what_cannot_be_counted_is_a_bad_request(gemini: WireFormat, body: bytes) -> None:
    with pytest.raises(BadRequest):
        counting(gemini).estimate(body)
