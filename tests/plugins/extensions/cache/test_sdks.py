"""Kept answers, as the vendors' own SDKs understand them."""

from typing import Any

import anthropic
import openai
import pytest
from caching_gateway import CachingGateway, chat, frame
from fake_vendor import MockResponse, ReceivedRequest
from vendor_answers import STREAMED, WHOLE

CALL = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"a": 1}'}}
TOOL: Any = {"type": "function", "function": {"name": "pay", "parameters": {"type": "object"}}}
IMAGE: Any = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def calling(received: ReceivedRequest, number: int) -> MockResponse:
    """The vendor calls a tool."""
    if not received.json().get("stream"):
        return chat("", "tool_calls", tool_calls=[CALL])
    first = {**CALL, "index": 0}
    frames = [
        frame([{"index": 0, "delta": {"tool_calls": [first]}}]),
        frame([{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]),
        b"data: [DONE]\n\n",
    ]
    return MockResponse.stream(*frames)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_openai_sdk_gets_the_same_tool_call(here: CachingGateway, stream: bool) -> None:
    here.vendor.answer = calling
    messages: Any = [{"role": "user", "content": [{"type": "text", "text": "pay"}, IMAGE]}]
    seen = []
    with openai.OpenAI(base_url=f"{here.served.url}/v1", api_key="none") as client:
        for _ in range(2):
            if stream:
                with client.chat.completions.stream(
                    model="v/m", messages=messages, tools=[TOOL]
                ) as events:
                    list(events)
                    choice: Any = events.current_completion_snapshot.choices[0]
            else:
                whole = client.chat.completions.create(model="v/m", messages=messages, tools=[TOOL])
                choice = whole.choices[0]
            call = choice.message.tool_calls[0]
            seen.append((choice.finish_reason, call.id, call.function.arguments))

    assert seen == [("tool_calls", "c1", '{"a": 1}')] * 2
    assert len(here.vendor.asked) == 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("model", ["c/m", "v/m"], ids=["passed through", "translated"])
def test_the_anthropic_sdk_gets_the_same_answer(
    here: CachingGateway, model: str, stream: bool
) -> None:
    if model == "c/m":
        told, frames = WHOLE["claude"], STREAMED["claude"]
        answer = MockResponse.stream(frames) if stream else MockResponse((told,))
        here.vendor.answer = lambda *_: answer
    messages: Any = [{"role": "user", "content": "hi"}]
    seen = []
    with anthropic.Anthropic(base_url=here.served.url, api_key="none") as client:
        for _ in range(2):
            if stream:
                with client.messages.stream(model=model, max_tokens=9, messages=messages) as events:
                    seen.append(events.get_final_message())
            else:
                seen.append(client.messages.create(model=model, max_tokens=9, messages=messages))

    first, second = seen
    assert first.content == second.content
    assert (first.stop_reason, first.usage) == (second.stop_reason, second.usage)
    assert second.content[0].type == "text"
    assert second.content[0].text
    assert len(here.vendor.asked) == 1
    assert here.rows[0].cost == 0
