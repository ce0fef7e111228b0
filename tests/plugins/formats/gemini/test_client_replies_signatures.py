"""Proofs of thinking, carried through a client of this dialect and back."""

import base64
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from gateway_core import (
    Choice,
    ClientSide,
    Conversation,
    Foreign,
    Losses,
    Media,
    Reasoning,
    Reply,
    Text,
    ToolCall,
)
from gateway_core.contracts.seal import is_marked
from gateway_formats.fold import unfold

Read = Callable[..., Conversation]

ASKED = Conversation(model="m")
SIGNED = Reasoning(text="I think", signature="proof", origin="anthropic")
REDACTED = Reasoning(sealed="blob", origin="anthropic")
LONG = Reasoning(text="thinking " * 400, signature="x" * 300, origin="anthropic")
CALL = ToolCall(id="1", name="f", arguments="{}")
SIGNED_CALL = ToolCall(id="1", name="f", arguments="{}", signature="c2ln", origin="google")


def reply(*parts: Any) -> Reply:
    return Reply(id="i", model="m", choices=(Choice(parts=parts),))


def written_whole(client: ClientSide, *parts: Any) -> list[dict[str, Any]]:
    body = msgspec.json.decode(client.write_reply(reply(*parts), ASKED, Losses()))
    return [body["candidates"][0]["content"]]


def written_in_frames(client: ClientSide, *parts: Any) -> list[dict[str, Any]]:
    """Every frame's content, as the vendor's library keeps them in its history."""
    writer = client.stream_writer(ASKED, Losses())
    stream = b"".join(writer.feed([event]) for event in unfold(reply(*parts))) + writer.close()
    found = [frame.removeprefix(b"data: ") for frame in stream.split(b"\r\n\r\n")[:-1]]
    return [msgspec.json.decode(frame)["candidates"][0]["content"] for frame in found]


def without_thoughts(contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Some agents keep no thinking parts."""
    return [
        {**content, "parts": [part for part in content["parts"] if not part.get("thought")]}
        for content in contents
    ]


def url_safe(contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The Python library writes the base64 of its bytes in the other alphabet."""
    for content in contents:
        for part in content["parts"]:
            if "thoughtSignature" in part:
                plain = base64.b64decode(part["thoughtSignature"], validate=True)
                part["thoughtSignature"] = base64.urlsafe_b64encode(plain).decode()
    return contents


def unpadded(contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for content in contents:
        for part in content["parts"]:
            if "thoughtSignature" in part:
                part["thoughtSignature"] = part["thoughtSignature"].rstrip("=")
    return contents


WRITERS = [written_whole, written_in_frames]
CHANGES = [list, url_safe, unpadded]


def returned(read: Read, contents: list[dict[str, Any]]) -> tuple[Any, ...]:
    hello = {"role": "user", "parts": [{"text": "hi"}]}
    body = {"contents": [hello, *contents, hello]}
    return read(body).turns[1].parts


TURNS: list[tuple[Any, ...]] = [
    (SIGNED, CALL),
    (SIGNED, SIGNED_CALL),
    (SIGNED, REDACTED, CALL, ToolCall(id="2", name="g", arguments="{}")),
    (REDACTED, Text(text="answer")),
    (LONG, Text(text="answer"), CALL),
    (Reasoning(text="free"), SIGNED, Text(text="answer")),
    (Text(text="well"), SIGNED, Text(text="answer")),
    (SIGNED, Media(kind="image", media_type="image/png", data="AAAA")),
    (
        SIGNED,
        Foreign(dialect="gemini", type="executableCode", raw=Raw(b'{"executableCode":1}')),
    ),
    (Text(text="answer", signature="~>?", origin="openai"),),
    (Text(text="only"), SIGNED),
    (SIGNED,),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("parts", TURNS)
def test_thinking_comes_back_as_it_went(
    client: ClientSide, read: Read, write: Any, change: Any, parts: tuple[Any, ...]
) -> None:
    contents = change(write(client, *parts))

    assert is_marked(msgspec.json.encode(contents))
    assert returned(read, contents) == parts


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("parts", TURNS)
def test_thinking_comes_back_from_clients_that_keep_none_of_it(
    client: ClientSide, read: Read, write: Any, parts: tuple[Any, ...]
) -> None:
    found = returned(read, without_thoughts(write(client, *parts)))

    # Where it stood among texts that touch is all that such a client can lose.
    assert thinking_in(found) == thinking_in(parts)
    assert "".join(text_in(found)) == "".join(text_in(parts))
    assert [part for part in found if not isinstance(part, Reasoning | Text)] == [
        part for part in parts if not isinstance(part, Reasoning | Text)
    ]


def thinking_in(parts: tuple[Any, ...]) -> list[Reasoning]:
    return [part for part in parts if isinstance(part, Reasoning)]


def text_in(parts: tuple[Any, ...]) -> list[str]:
    return [part.text for part in parts if isinstance(part, Text)]


@pytest.mark.parametrize("write", WRITERS)
def test_an_own_signature_of_a_vendor_comes_back_with_its_name(
    client: ClientSide, read: Read, write: Any
) -> None:
    contents = write(client, Reasoning(text="hm"), SIGNED_CALL)

    assert returned(read, contents) == (Reasoning(text="hm"), SIGNED_CALL)


def test_nothing_is_sealed_where_there_is_no_proof(client: ClientSide) -> None:
    contents = written_whole(client, Reasoning(text="hm"), Text(text="a"), CALL)

    assert "thoughtSignature" not in str(contents)


def test_the_slot_is_base64_as_the_vendor_s_library_insists(client: ClientSide) -> None:
    [content] = written_whole(client, SIGNED, CALL)

    value = content["parts"][-1]["thoughtSignature"]
    assert base64.b64decode(value, validate=True).startswith(b"_gwS1_")


@pytest.mark.parametrize("damage", ["!", "=x", "\u00e4"])
def test_a_damaged_seal_is_no_signature(client: ClientSide, read: Read, damage: str) -> None:
    [content] = written_whole(client, SIGNED, CALL)
    content["parts"][-1]["thoughtSignature"] += damage

    *_, call = returned(read, [content])

    assert call == CALL


def test_members_of_another_dialect_do_not_ride_along(client: ClientSide, read: Read) -> None:
    odd = Reasoning(text="a", signature="s", origin="o", extra={"x": Raw(b"[1]")})

    parts = returned(read, written_whole(client, odd, CALL))

    assert parts == (Reasoning(text="a", signature="s", origin="o"), CALL)
