"""A model's turn that failed is a failure for the clients of every format."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from chat_endpoints import BODIES, PATHS
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from served_gateway import Served, keyless_provider, serve_gateway

WHY = "Malformed function call: print(default_api.look("
REASONS = ("MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "OTHER")
CLIENTS = ("openai", "openai-responses", "claude", "ollama")


def answered(reason: str, *texts: str) -> dict[str, Any]:
    return {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": text} for text in texts]},
                "finishReason": reason,
                "finishMessage": WHY,
                "index": 0,
            }
        ],
        "usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3},
        "modelVersion": "m",
        "responseId": "r-1",
    }


class Vendor:
    reason = REASONS[0]
    texts: tuple[str, ...] = ()

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        answer = json.dumps(answered(self.reason, *self.texts)).encode()
        if "stream" in received.path:
            return MockResponse.stream(b"data: %b\n\n" % answer)
        return MockResponse((answer,))


VENDOR = Vendor()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    def specs(vendors: Any) -> list[Any]:
        vendor: FakeVendor = vendors["gemini"]
        return [keyless_provider("gemini", vendor)]

    folder = Path(tmp_path_factory.mktemp("gateway"))
    with serve_gateway(folder, {"gemini": VENDOR}, specs=specs) as here:
        yield here


@pytest.fixture
def here(running: Served) -> Served:
    VENDOR.reason, VENDOR.texts = REASONS[0], ()
    return running


def ask(http: httpx2.Client, here: Served, client: str, stream: bool) -> httpx2.Response:
    body = {**BODIES[client], "model": "v-gemini/m", "stream": stream}
    return http.post(here.url + PATHS[client], json=body)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("reason", REASONS)
def test_it_is_an_error_with_the_vendors_words(
    here: Served, http: httpx2.Client, client: str, reason: str, stream: bool
) -> None:
    VENDOR.reason = reason

    answer = ask(http, here, client, stream)

    assert answer.status_code == 502
    error = answer.json()["error"]
    assert (error if client == "ollama" else error["message"]) == WHY


@pytest.mark.parametrize("client", CLIENTS)
def test_a_stream_that_had_begun_ends_in_an_error(
    here: Served, http: httpx2.Client, client: str
) -> None:
    VENDOR.texts = ("Let me look.",)

    answer = ask(http, here, client, stream=True)

    assert answer.status_code == 200
    assert "Let me look." in answer.text
    last = answer.text.strip().splitlines()[-1].removeprefix("data: ")
    error = json.loads(last)
    assert json.dumps(WHY) in last
    assert "error" in error or error["type"] == "response.failed"


def test_no_account_rests_for_it(here: Served, http: httpx2.Client) -> None:
    ask(http, here, "openai", stream=False)
    VENDOR.reason, VENDOR.texts = "STOP", ("fine",)

    answer = ask(http, here, "openai", stream=False)

    assert answer.status_code == 200
    assert answer.json()["choices"][0]["message"]["content"] == "fine"


def test_a_client_of_the_vendors_format_gets_its_answer(here: Served, http: httpx2.Client) -> None:
    path = "/v1beta/models/v-gemini/m:generateContent"

    answer = http.post(here.url + path, json=BODIES["gemini"])

    assert answer.status_code == 200
    assert answer.json()["candidates"][0]["finishReason"] == REASONS[0]
    assert answer.json()["candidates"][0]["finishMessage"] == WHY
