"""Parts of a client's turns, and what the hub makes of them."""

from typing import Any

import pytest
from claude_blocks import Ask, answered, loaded, text, user

from gateway_core import Citation, Foreign, Media, Reasoning, Text, seal, seal_id

IMAGES = [
    (
        {"type": "base64", "media_type": "image/png", "data": "QUJD"},
        Media(kind="image", media_type="image/png", data="QUJD"),
    ),
    ({"type": "url", "url": "https://a/b"}, Media(kind="image", url="https://a/b")),
    (
        {"type": "file", "file_id": "f1"},
        Media(kind="image", file_id="f1", origin="~claude"),
    ),
]


@pytest.mark.parametrize(("source", "media"), IMAGES, ids=["inline", "url", "file"])
def test_images(ask: Ask, source: Any, media: Media) -> None:
    assert ask(messages=user({"type": "image", "source": source})).turns[0].parts == (media,)


DOCUMENTS = [
    (
        {"type": "base64", "media_type": "application/pdf", "data": "QUJD"},
        Media(kind="document", media_type="application/pdf", data="QUJD", name="t"),
    ),
    (
        {"type": "text", "media_type": "text/plain", "data": "words"},
        Media(kind="document", media_type="text/plain", text="words", name="t"),
    ),
    ({"type": "url", "url": "https://a/b"}, Media(kind="document", url="https://a/b", name="t")),
    (
        {"type": "file", "file_id": "f1"},
        Media(kind="document", file_id="f1", origin="~claude", name="t"),
    ),
]


@pytest.mark.parametrize(("source", "media"), DOCUMENTS, ids=["inline", "text", "url", "file"])
def test_documents(ask: Ask, source: Any, media: Media) -> None:
    block = {"type": "document", "source": source, "title": "t"}

    assert ask(messages=user(block)).turns[0].parts == (media,)


def test_a_document_of_blocks_keeps_its_text_for_others_and_its_blocks_for_its_own(
    ask: Ask,
) -> None:
    source = {"type": "content", "content": [text("one"), text("two")]}

    (part,) = (
        ask(
            messages=user(
                {
                    "type": "document",
                    "source": source,
                    "citations": {"enabled": True},
                    "context": "c",
                }
            )
        )
        .turns[0]
        .parts
    )

    assert isinstance(part, Media)
    assert part.text == "one\n\ntwo"
    assert loaded(dict(part.extra)) == {
        "source": source,
        "citations": {"enabled": True},
        "context": "c",
    }


def test_a_search_result_is_a_text_document_to_others(ask: Ask) -> None:
    block = {"type": "search_result", "source": "s", "title": "t", "content": [text("found")]}

    (part,) = ask(messages=user(block)).turns[0].parts

    assert isinstance(part, Media)
    assert (part.kind, part.text, part.name) == ("document", "found", "t")
    assert loaded(dict(part.extra)) == {"search_result": block}


def test_thinking_that_the_client_brings_is_its_dialects_own(ask: Ask) -> None:
    turns = ask(
        messages=answered(
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "thinking", "thinking": "no proof", "signature": ""},
            {"type": "redacted_thinking", "data": "xyz"},
        )
    ).turns

    assert turns[1].parts == (
        Reasoning(text="hm", signature="sig", origin="~claude"),
        Reasoning(text="no proof"),
        Reasoning(sealed="xyz", origin="~claude"),
    )


def test_sealed_thinking_is_opened_again(ask: Ask) -> None:
    packed = Reasoning(sealed="enc", id="rs_1", summary=True, origin="gpt")
    turns = ask(
        messages=answered(
            {"type": "thinking", "thinking": "hm", "signature": seal("gemini", "s:1")},
            {
                "type": "thinking",
                "thinking": "short",
                "signature": seal_id("", "gpt", None, (packed,)),
            },
            {"type": "redacted_thinking", "data": seal("other", "abc")},
            {"type": "redacted_thinking", "data": seal_id("", "gpt", None, (packed,))},
        )
    ).turns

    assert turns[1].parts == (
        Reasoning(text="hm", signature="s:1", origin="gemini"),
        Reasoning(text="short", sealed="enc", id="rs_1", summary=True, origin="gpt"),
        Reasoning(sealed="abc", origin="other"),
        Reasoning(sealed="enc", id="rs_1", summary=True, origin="gpt"),
    )


def test_a_damaged_seal_leaves_the_words(ask: Ask) -> None:
    turns = ask(
        messages=answered({"type": "thinking", "thinking": "hm", "signature": "_gwS1_??"})
    ).turns

    assert turns[1].parts == (Reasoning(text="hm"),)


@pytest.mark.parametrize(
    "kind",
    [
        "server_tool_use",
        "web_search_tool_result",
        "mcp_tool_use",
        "compaction",
        "container_upload",
        "block_of_next_year",
    ],
)
def test_blocks_that_only_this_dialect_knows_are_carried_whole(ask: Ask, kind: str) -> None:
    block = {"type": kind, "id": "x", "anything": [1, {"a": None}]}

    (part,) = ask(messages=answered(block)).turns[1].parts

    assert isinstance(part, Foreign)
    assert (part.dialect, part.type) == ("claude", kind)
    assert loaded({"raw": part.raw}) == {"raw": block}


def test_an_image_or_document_source_of_a_new_kind_is_carried_whole(ask: Ask) -> None:
    blocks = [{"type": kind, "source": {"type": "new"}} for kind in ("image", "document")]

    assert [type(part) for part in ask(messages=user(*blocks)).turns[0].parts] == [Foreign] * 2


def test_citations_keep_the_vendors_own_object(ask: Ask) -> None:
    own = {
        "type": "char_location",
        "cited_text": "words",
        "document_index": 2,
        "document_title": "T",
        "start_char_index": 0,
        "end_char_index": 5,
    }
    found = {
        "type": "web_search_result_location",
        "url": "https://a",
        "title": "A",
        "cited_text": "w",
        "encrypted_index": "e",
    }
    borrowed = {**found, "encrypted_index": ""}

    (part,) = ask(messages=answered(text("x", citations=[own, found, borrowed]))).turns[1].parts

    assert isinstance(part, Text)
    first, second, third = part.citations
    assert (first.quote, first.document, first.title, first.url) == ("words", 2, "T", None)
    assert (second.url, second.title, second.dialect) == ("https://a", "A", "claude")
    assert loaded({"1": first.raw, "2": second.raw}) == {"1": own, "2": found}
    assert third == Citation(url="https://a", title="A", quote="w")
