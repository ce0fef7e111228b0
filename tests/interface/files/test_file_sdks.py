"""The vendors' SDKs keep files here."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import anthropic
import openai
import pytest
from file_forms import new_key
from served_gateway import Served

ROWS = b'{"custom_id": "1"}\n' * 100


@pytest.fixture
def key(here: Served) -> str:
    return new_key(here)["authorization"].removeprefix("Bearer ")


@pytest.fixture
def client(here: Served, key: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{here.url}/v1", api_key=key, max_retries=0) as made:
        yield made


def test_openai_keeps_a_file(client: openai.OpenAI, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ROWS)

    with path.open("rb") as opened:
        made = client.files.create(file=opened, purpose="batch")

    assert (made.bytes, made.filename, made.purpose) == (len(ROWS), "rows.jsonl", "batch")
    assert client.files.retrieve(made.id) == made
    assert client.files.content(made.id).read() == ROWS
    with client.files.with_streaming_response.content(made.id) as content:
        content.stream_to_file(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == ROWS
    deleted = client.files.delete(made.id)
    assert (deleted.id, deleted.deleted) == (made.id, True)
    with pytest.raises(openai.NotFoundError, match="No such file"):
        client.files.retrieve(made.id)


def test_openai_takes_a_part_of_a_content(client: openai.OpenAI) -> None:
    made = client.files.create(file=("rows", ROWS), purpose="user_data")

    part = client.files.content(made.id, extra_headers={"range": "bytes=2-10"})

    assert part.read() == ROWS[2:11]


def test_openai_sets_an_expiry(client: openai.OpenAI) -> None:
    made = client.files.create(
        file=("rows", ROWS),
        purpose="batch",
        expires_after={"anchor": "created_at", "seconds": 7200},
    )

    assert made.expires_at == made.created_at + 7200


def test_openai_pages_through_files_also_while_it_deletes_them(client: openai.OpenAI) -> None:
    ids = [client.files.create(file=("r", b"x"), purpose="batch").id for _ in range(5)]
    client.files.create(file=("r", b"x"), purpose="vision")

    listed = [each.id for each in client.files.list(limit=2, purpose="batch")]
    rising = [each.id for each in client.files.list(limit=2, purpose="batch", order="asc")]
    for each in client.files.list(limit=2, purpose="batch"):
        client.files.delete(each.id)

    assert listed == ids[::-1]
    assert rising == ids
    assert [each.purpose for each in client.files.list()] == ["vision"]


def test_openai_learns_why_a_file_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="invalid id"):
        client.files.retrieve("file-abc")
    with pytest.raises(openai.BadRequestError, match="expires_after"):
        client.files.create(
            file=("r", b"x"),
            purpose="batch",
            expires_after={"anchor": "created_at", "seconds": 1},
        )


def test_openai_keeps_files_asynchronously(here: Served, key: str) -> None:
    async def work() -> None:
        async with openai.AsyncOpenAI(base_url=f"{here.url}/v1", api_key=key) as client:
            made = await asyncio.gather(
                *(client.files.create(file=(f"{n}", ROWS * n), purpose="batch") for n in range(5))
            )
            contents = [(await client.files.content(each.id)).content for each in made]
            listed = [each.id async for each in client.files.list(limit=2)]

        assert contents == [ROWS * n for n in range(5)]
        assert set(listed) == {each.id for each in made}

    asyncio.run(work())


def test_anthropic_keeps_files_and_pages_through_them(here: Served, key: str) -> None:
    with anthropic.Anthropic(base_url=here.url, api_key=key, max_retries=0) as client:
        made = [client.beta.files.upload(file=("r.txt", b"text" * n)) for n in range(3)][::-1]
        ids = [each.id for each in made]

        listed = list(client.beta.files.list(limit=2))
        before = client.beta.files.list(limit=1, extra_query={"before_id": ids[2]})
        content = client.beta.files.download(ids[0]).read()
        deleted = client.beta.files.delete(ids[0])

        assert listed == made
        assert [each.id for each in before.data] == [ids[1]]
        assert content == b"text" * 2
        assert (made[0].size_bytes, made[0].type, made[0].filename) == (8, "file", "r.txt")
        assert abs(made[0].created_at.timestamp() - time.time()) < 60
        assert (deleted.id, deleted.type) == (ids[0], "file_deleted")
        assert client.beta.files.retrieve_metadata(ids[1]) == made[1]
        with pytest.raises(anthropic.NotFoundError):
            client.beta.files.retrieve_metadata(ids[0])
