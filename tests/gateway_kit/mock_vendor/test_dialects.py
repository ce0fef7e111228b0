"""The mock vendor's answers are read as what was meant, by readers that share nothing with it."""

import json

import plain_readers
import pytest
from gateway_kit.installed_formats import build_registry, format_plugins
from gateway_kit.mock_vendor import CONTENTS, DIALECTS, MockAnswer
from gateway_kit.mock_vendor.answer import unescape
from gateway_kit.mock_vendor.format_dialect import dialect_from_format

REGISTRY = build_registry(format_plugins())
WAYS = [(wire, stream) for wire in plain_readers.WHOLE for stream in (False, True)]


@pytest.mark.parametrize("saying", CONTENTS)
@pytest.mark.parametrize(("wire", "stream"), WAYS)
def test_an_answer_says_what_was_meant(wire: str, stream: bool, saying: str) -> None:
    content = CONTENTS[saying]
    body = MockAnswer(dialect=DIALECTS[wire], content=content, stream=stream).body()

    found = plain_readers.read(wire, body, stream=stream)

    assert content.usage is not None
    assert found.text == content.words
    assert found.calls == [(call.name, call.arguments) for call in content.calls]
    assert (found.input_tokens, found.output_tokens) == (
        content.usage.input,
        content.usage.output,
    )


@pytest.mark.parametrize("saying", ["text", "tools"])
@pytest.mark.parametrize(("wire", "stream"), WAYS)
def test_a_format_without_words_here_is_spoken_by_its_own_client_side(
    wire: str, stream: bool, saying: str
) -> None:
    dialect = dialect_from_format(REGISTRY.formats[wire])
    assert dialect is not None
    body = MockAnswer(dialect=dialect, content=CONTENTS[saying], stream=stream).body()

    found = plain_readers.read(wire, body, stream=stream)

    assert found.text == CONTENTS[saying].words
    assert len(found.calls) == len(CONTENTS[saying].calls)


@pytest.mark.parametrize(("wire", "thinks"), [("claude", True), ("openai-completions", False)])
def test_only_a_format_with_a_place_for_thinking_is_asked_to_think(wire: str, thinks: bool) -> None:
    dialect = dialect_from_format(REGISTRY.formats[wire])

    assert dialect is not None
    assert dialect.thinks is thinks


@pytest.mark.parametrize(
    "text", ["plain", 'a "b" \\ \n', "é", "\\u00e9", "😀", "\\😀\\", "\x7f\u2028", '{"a":"é"}']
)
def test_escapes_are_sent_as_characters(text: str) -> None:
    nested = json.dumps({"outer": json.dumps(text), "text": text}).encode()

    sent = unescape(nested)

    assert json.loads(sent) == json.loads(nested)
    assert all(char in sent.decode() for char in text if not char.isascii())


def test_half_of_a_character_stays_an_escape() -> None:
    assert unescape(rb'"\ud83d" \ude00 \\ud83d\ude00') == rb'"\ud83d" \ude00 \\ud83d\ude00'
