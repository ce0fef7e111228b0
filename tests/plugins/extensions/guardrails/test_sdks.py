"""Guarded answers and refusals, as the vendors' own SDKs understand them."""

from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple

import anthropic
import openai
import pytest
from google import genai
from google.genai import errors as genai_errors
from google.genai import types as genai_types
from guarded_gateway import GuardedGateway

MAIL = "ada@example.com"
TEXT = f"Write to {MAIL} today."
RULE = {"name": "mail", "kind": "personal", "find": ["email"]}


class Seen(NamedTuple):
    """What an SDK shows of an answer."""

    text: str
    finish: str


def ask_openai(url: str, text: str, stream: bool) -> Seen:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        messages: list[openai.types.chat.ChatCompletionMessageParam]
        messages = [{"role": "user", "content": text}]
        if not stream:
            choice = client.chat.completions.create(model="v/m", messages=messages).choices[0]
        else:
            with client.chat.completions.stream(model="v/m", messages=messages) as events:
                list(events)
                choice = events.current_completion_snapshot.choices[0]  # type: ignore[assignment]
    return Seen(choice.message.content or "", choice.finish_reason)


def ask_responses(url: str, text: str, stream: bool) -> Seen:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        if not stream:
            whole = client.responses.create(model="v/m", input=text)
            return Seen(whole.output_text, whole.status or "")
        said, finish = "", ""
        for event in client.responses.create(model="v/m", input=text, stream=True):
            if event.type == "response.output_text.delta":
                said += event.delta
            elif event.type in ("response.completed", "response.incomplete"):
                finish = event.type
    return Seen(said, finish)


def ask_claude(url: str, text: str, stream: bool) -> Seen:
    messages: list[anthropic.types.MessageParam] = [{"role": "user", "content": text}]
    with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        if not stream:
            whole = client.messages.create(model="v/m", max_tokens=99, messages=messages)
        else:
            with client.messages.stream(model="v/m", max_tokens=99, messages=messages) as events:
                whole = events.get_final_message()
    return Seen("".join(b.text for b in whole.content if b.type == "text"), whole.stop_reason or "")


def ask_gemini(url: str, text: str, stream: bool) -> Seen:
    options = genai_types.HttpOptions(base_url=url)
    with closing(genai.Client(api_key="none", http_options=options)) as client:
        if not stream:
            chunks = [client.models.generate_content(model="v/m", contents=text)]
        else:
            chunks = list(client.models.generate_content_stream(model="v/m", contents=text))
    said, finish = "", ""
    for chunk in chunks:
        for candidate in chunk.candidates or ():
            parts = candidate.content.parts if candidate.content else None
            said += "".join(part.text or "" for part in parts or ())
            finish = candidate.finish_reason.value if candidate.finish_reason else finish
    return Seen(said, finish)


CLIENTS: dict[str, Callable[[str, str, bool], Seen]] = {
    "openai": ask_openai,
    "openai-responses": ask_responses,
    "claude": ask_claude,
    "gemini": ask_gemini,
}
STOPPED = {
    "openai": "content_filter",
    "openai-responses": "response.incomplete",
    "claude": "refusal",
    "gemini": "SAFETY",
}
"""How each format says that an answer was cut."""
every_client = pytest.mark.parametrize("client", CLIENTS)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@pytest.fixture(autouse=True)
def _text(here: GuardedGateway) -> None:
    here.vendor.text, here.vendor.size = TEXT, 3


@both_ways
@every_client
def test_a_refused_request_is_the_sdks_own_error(
    here: GuardedGateway, client: str, stream: bool
) -> None:
    here.set_rules({**RULE, "on": "requests", "message": "No mail, please."})

    with pytest.raises(
        (openai.BadRequestError, anthropic.BadRequestError, genai_errors.ClientError),
        match=r"No mail, please\.",
    ):
        CLIENTS[client](here.served.url, TEXT, stream)
    assert here.row.error_code == "guardrail_blocked"


@both_ways
@every_client
def test_what_was_found_is_replaced_both_ways(
    here: GuardedGateway, client: str, stream: bool
) -> None:
    here.set_rules({**RULE, "action": "redact"})

    seen = CLIENTS[client](here.served.url, f"Mine is {MAIL}.", stream)

    assert seen.text == "Write to [email] today."
    assert "Mine is [email]." in here.sent_to("m")
    assert here.notes == (
        "guardrails: mail redacted email (request)",
        "guardrails: mail redacted email (answer)",
    )


@every_client
def test_a_stopped_stream_ends_as_the_format_has_it(here: GuardedGateway, client: str) -> None:
    here.set_rules({**RULE, "on": "answers"})

    seen = CLIENTS[client](here.served.url, "hi", True)

    assert seen.finish == STOPPED[client]
    assert "Write to".startswith(seen.text)  # as much as had come before
    assert here.row.error_code == "answer_stopped"


@every_client
def test_a_blocked_answer_is_the_sdks_own_error(here: GuardedGateway, client: str) -> None:
    here.set_rules({**RULE, "on": "answers"})

    with pytest.raises(
        (openai.BadRequestError, anthropic.BadRequestError, genai_errors.ClientError),
        match="The answer was blocked by the rule mail",
    ):
        CLIENTS[client](here.served.url, "hi", False)
