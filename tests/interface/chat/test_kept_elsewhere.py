"""References to data stored at a vendor are never dropped for another vendor."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from chat_endpoints import GPT, PATHS, post
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served, serve_gateway

RESPONSE = json.dumps(
    {
        "id": "resp_2",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "output": [
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "fine", "annotations": []}],
            }
        ],
        "usage": {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
    }
).encode()
KEPT: list[dict[str, Any]] = [
    {"previous_response_id": "resp_1"},
    {"conversation": "conv_1"},
    {"prompt": {"id": "pmpt_1"}},
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: next(iter(kept)))
def test_a_vendor_that_cannot_look_it_up_gets_no_request(
    here: Served, http: httpx2.Client, kept: dict[str, Any], stream: bool
) -> None:
    before = len(here.vendors["openai"].received)

    answer = post(http, here, "openai-responses", stream=stream, **kept)

    [name] = kept
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["message"] == (
        f"'{name}' stands for input that a vendor keeps, and v-openai/m cannot look it up. "
        "Leave it out and send the whole conversation in the request."
    )
    assert (error["type"], error["code"]) == ("invalid_request_error", "unsupported_parameter")
    assert len(here.vendors["openai"].received) == before


def test_null_is_the_same_as_no_reference(here: Served, http: httpx2.Client) -> None:
    answer = post(http, here, "openai-responses", previous_response_id=None, prompt=None)

    assert answer.status_code == 200


def says(body: bytes) -> Callable[[ReceivedRequest], MockResponse]:
    return lambda _: MockResponse((body,))


def test_only_members_of_a_combo_that_can_look_it_up_are_tried(
    tmp_path: Path, http: httpx2.Client, add_combo: Callable[..., None]
) -> None:
    scripts = {"openai": says(GPT), "openai-responses": says(RESPONSE)}
    body = {"model": "pair", "input": "hi", "previous_response_id": "resp_1"}
    with serve_gateway(tmp_path, scripts) as here:
        add_combo(here, "pair", "v-openai/m", "v-openai-responses/m")

        answer = http.post(here.url + PATHS["openai-responses"], json=body)

        chat, own = here.vendors["openai"].received, here.vendors["openai-responses"].received
        rows = here.rows()

    assert answer.status_code == 200, answer.text
    assert (len(chat), len(own)) == (0, 1)
    assert json.loads(own[0].body)["previous_response_id"] == "resp_1"
    assert [row.status for row in rows] == ["ok"]
