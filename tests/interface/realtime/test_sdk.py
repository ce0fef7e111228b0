"""The realtime client of openai's SDK at a session with a chat model."""

import asyncio
from collections.abc import Callable
from typing import Any

from openai import AsyncOpenAI
from realtime_client import MODEL, WORDS
from served_gateway import Served

Events = list[Any]


async def converse(here: Served, key: str) -> tuple[Events, Any]:
    """One turn; the events of the response, and the session as it was updated."""
    client = AsyncOpenAI(api_key=key, base_url=f"{here.url}/v1")
    async with client, client.realtime.connect(model=MODEL) as connection:
        created = await connection.recv()
        assert created.type == "session.created"
        await connection.session.update(
            session={"type": "realtime", "instructions": "Be brief.", "output_modalities": ["text"]}
        )
        updated = await connection.recv()
        assert updated.type == "session.updated"
        await connection.conversation.item.create(
            item={
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Hi"}],
            }
        )
        item: Any = await connection.recv()
        assert item.type == "conversation.item.created"
        await connection.response.create()
        events: Events = []
        async for event in connection:
            events.append(event)
            if event.type == "response.done":
                break
        return events, updated


def test_the_sdk_holds_a_conversation(
    here: Served, new_key: Callable[..., tuple[str, str]]
) -> None:
    _, key = new_key(here)

    events, updated = asyncio.run(converse(here, key))

    created, *deltas, text, done = events
    assert created.type == "response.created"
    assert [each.delta for each in deltas] == list(WORDS)
    assert text.text == "".join(WORDS)
    assert done.response.status == "completed"
    assert done.response.output[0].content[0].text == "".join(WORDS)
    assert done.response.usage.total_tokens == 10
    assert updated.session.instructions == "Be brief."


def test_the_sdk_learns_why_its_key_is_refused(here: Served) -> None:
    async def main() -> Any:
        client = AsyncOpenAI(api_key="sk-unknown", base_url=f"{here.url}/v1")
        away = {"x-forwarded-for": "203.0.113.9"}
        opening = client.realtime.connect(model=MODEL, extra_headers=away)
        async with client, opening as connection:
            return await connection.recv()

    refused = asyncio.run(main())

    assert refused.type == "error"
    assert refused.error.code == "invalid_api_key"
