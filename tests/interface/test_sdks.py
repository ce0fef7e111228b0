"""The vendors' own SDKs as clients, over a socket, with recorded answers behind the gateway.

Every pair of client and vendor format, whole and streamed. The model's name
names the recording, so the fake vendor knows what to say.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import ollama
import openai
import plain_readers
import pytest
from corpus import Item, answer, items
from google.genai import errors as genai_errors
from sdk_clients import CLIENTS, FOLDERS, SCENARIOS, pick, recordings, script
from served_gateway import Served, serve_gateway


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    scripts = {wire: script(wire, known) for wire, known in recordings().items()}
    with serve_gateway(Path(tmp_path_factory.mktemp("gateway")), scripts) as running:
        yield running


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("vendor", FOLDERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_an_sdk_gets_the_vendors_answer(
    here: Served, client: str, vendor: str, scenario: str, stream: bool
) -> None:
    item = pick(vendor, scenario, stream)
    expected = plain_readers.read(vendor, answer(item), stream=stream)

    reply = CLIENTS[client](here, f"v-{vendor}/{item['id']}", stream)

    assert reply.text == expected.text
    assert reply.calls == expected.calls
    assert reply.input_tokens == expected.input_tokens
    assert reply.output_tokens == expected.output_tokens
    row = here.rows()[0]
    assert (row.input_tokens, row.output_tokens) == (expected.input_tokens, expected.output_tokens)
    assert (row.status, row.client_format, row.provider) == ("ok", client, f"v-{vendor}")


def refused(wire: str) -> Item:
    return next(item for item in items(FOLDERS[wire]) if item["response_status"] in (400, 404))


ERRORS: dict[str, tuple[type[Exception], Callable[[Any], int]]] = {
    "openai": (openai.APIStatusError, lambda error: error.status_code),
    "openai-responses": (openai.APIStatusError, lambda error: error.status_code),
    "claude": (anthropic.APIStatusError, lambda error: error.status_code),
    "gemini": (genai_errors.APIError, lambda error: error.code),
    "ollama": (ollama.ResponseError, lambda error: error.status_code),
}


def plain_message(body: bytes) -> str:
    """The vendor's own words."""
    reply = json.loads(body)
    reply = reply[0] if isinstance(reply, list) else reply
    error = reply.get("error", reply)
    return error if isinstance(error, str) else error["message"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("vendor", FOLDERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_an_sdk_raises_its_own_error_with_the_vendors_message(
    here: Served, client: str, vendor: str, stream: bool
) -> None:
    item = refused(vendor)
    kind, status_of = ERRORS[client]

    core = here.gateway.core
    core.cooldowns.clear([f"v-{vendor}:public"], "__all")
    with pytest.raises(kind) as caught:
        CLIENTS[client](here, f"v-{vendor}/{item['id']}", stream)

    assert status_of(caught.value) == item["response_status"]
    words = plain_message(answer(item)).split("\n")[0][:60]
    assert words in str(caught.value).replace("\\'", "'").replace('\\"', '"')
    assert here.rows()[0].status == "error"
