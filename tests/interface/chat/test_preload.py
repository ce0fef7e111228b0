"""Clients of the local server's format may ask for a model to be loaded, and for nothing else."""

import httpx2
import ollama
import pytest
from chat_endpoints import GPT_VENDOR
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served


@pytest.fixture(autouse=True)
def refuses() -> None:
    def refuse(_: ReceivedRequest) -> MockResponse:
        raise AssertionError("a vendor of another format was called")

    GPT_VENDOR.say = refuse


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("keep_alive", "reason"), [(None, "load"), ("10m", "load"), (0, "unload")])
def test_a_vendor_that_loads_nothing_is_not_called(
    here: Served, *, stream: bool, keep_alive: str | int | None, reason: str
) -> None:
    with ollama.Client(host=here.url) as client:
        if stream:
            (answer,) = client.chat("v-openai/m", messages=[], stream=True, keep_alive=keep_alive)
        else:
            answer = client.chat("v-openai/m", messages=[], keep_alive=keep_alive)

    assert (answer.done, answer.done_reason, answer.model) == (True, reason, "v-openai/m")
    assert answer.message.content == ""
    row = here.rows()[0]
    assert (row.status, row.http_status, row.attempts) == ("ok", 200, 0)
    assert (row.provider, row.input_tokens, row.cost) == ("v-openai", 0, None)


def test_its_media_type_is_that_of_an_answer(here: Served, http: httpx2.Client) -> None:
    body = {"model": "v-openai/m", "messages": []}

    streamed = http.post(f"{here.url}/api/chat", json=body)
    whole = http.post(f"{here.url}/api/chat", json={**body, "stream": False})

    assert streamed.headers["content-type"] == "application/x-ndjson"
    assert whole.headers["content-type"] == "application/json"


def test_an_unknown_model_is_not_loaded(here: Served, http: httpx2.Client) -> None:
    answer = http.post(f"{here.url}/api/chat", json={"model": "nobody/m", "messages": []})

    assert answer.status_code == 404
