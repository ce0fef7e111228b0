"""A refusal names the member it is about, where the client's format has a place for that."""

from typing import Any

import httpx2
import openai
import pytest
from chat_endpoints import post
from served_gateway import Served

ASKED = {"role": "user", "content": "hi"}
NAMED: list[tuple[str, dict[str, Any], str]] = [
    ("openai", {"temperature": "warm"}, "temperature"),
    ("openai", {"max_tokens": 1.5}, "max_tokens"),
    ("openai", {"messages": None}, "messages"),
    ("openai", {"messages": [ASKED, {"role": "wizard", "content": "x"}]}, "messages[1].role"),
    ("openai", {"messages": [{"role": "user", "content": 7}]}, "messages[0].content"),
    ("openai", {"messages": [{"content": "x"}]}, "messages[0].role"),
    ("openai", {"tools": [{"type": "function"}]}, "tools[0].function"),
    ("openai", {"stop": 1}, "stop"),
    ("openai", {"stream": "yes"}, "stream"),
    ("openai", {"model": 1}, "model"),
    ("openai", {"model": ""}, "model"),
    ("openai-completions", {"prompt": ["a", "b"]}, "prompt"),
    ("openai-completions", {"prompt": None}, "prompt"),
    ("openai-responses", {"input": None}, "input"),
    ("openai-responses", {"input": []}, "input"),
    ("openai-responses", {"input": 7}, "input"),
    ("openai-responses", {"temperature": "warm"}, "temperature"),
    ("openai-responses", {"max_output_tokens": 0}, "max_output_tokens"),
    ("openai-responses", {"tools": [{"type": "function"}]}, "tools[0].name"),
    ("openai-responses", {"previous_response_id": "resp_1"}, "previous_response_id"),
]


@pytest.mark.parametrize(("wire", "more", "member"), NAMED)
def test_a_member_that_is_refused_is_named(
    here: Served, http: httpx2.Client, wire: str, more: dict[str, Any], member: str
) -> None:
    # A vendor of another format, so that the gateway reads every member itself.
    answer = post(http, here, wire, **{"model": "v-claude/m", **more})

    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["param"] == member
    assert member in error["message"]


@pytest.mark.parametrize("wire", ["openai", "openai-responses"])
def test_an_error_about_no_member_names_none(here: Served, http: httpx2.Client, wire: str) -> None:
    answer = post(http, here, wire, model="nobody/m")

    assert answer.status_code == 404
    assert answer.json()["error"]["param"] is None


def test_the_vendors_own_library_shows_it(here: Served) -> None:
    body: dict[str, Any] = {"model": "v-claude/m", "messages": [ASKED], "seed": "x"}
    client = openai.OpenAI(base_url=f"{here.url}/v1", api_key="any", max_retries=0)

    with client, pytest.raises(openai.BadRequestError) as raised:
        client.chat.completions.create(**body)

    assert raised.value.param == "seed"
