"""The mock vendor's answers are read as what was meant, by readers that share nothing with it."""

import naive
import pytest
from gateway_kit.installed_formats import format_plugins, registry_of
from gateway_kit.mock_vendor import DIALECTS, SAYINGS, Scene
from gateway_kit.mock_vendor.format_dialect import spoken_by

REGISTRY = registry_of(format_plugins())
WAYS = [(wire, stream) for wire in naive.WHOLE for stream in (False, True)]


@pytest.mark.parametrize("saying", SAYINGS)
@pytest.mark.parametrize(("wire", "stream"), WAYS)
def test_an_answer_says_what_was_meant(wire: str, stream: bool, saying: str) -> None:
    content = SAYINGS[saying]
    body = Scene(dialect=DIALECTS[wire], content=content, stream=stream).body()

    found = naive.read(wire, body, stream=stream)

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
    dialect = spoken_by(REGISTRY.formats[wire])
    assert dialect is not None
    body = Scene(dialect=dialect, content=SAYINGS[saying], stream=stream).body()

    found = naive.read(wire, body, stream=stream)

    assert found.text == SAYINGS[saying].words
    assert len(found.calls) == len(SAYINGS[saying].calls)


@pytest.mark.parametrize(("wire", "thinks"), [("claude", True), ("openai-completions", False)])
def test_only_a_format_with_a_place_for_thinking_is_asked_to_think(wire: str, thinks: bool) -> None:
    dialect = spoken_by(REGISTRY.formats[wire])

    assert dialect is not None
    assert dialect.thinks is thinks
