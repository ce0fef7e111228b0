"""A local guess at how hard a request is and how strong a model."""

import pytest
from snapshots import target

from gateway_core import Conversation, Text, Thinking, Tool, Turn
from gateway_core.routing.difficulty import (
    CRITICAL,
    HEAVY,
    LIGHT,
    STANDARD,
    difficulty,
    fit,
    last_words,
    strength,
)


def written(*texts: str, **more: object) -> Conversation:
    turns = tuple(Turn("user", (Text(text=text),)) for text in texts)
    return Conversation(turns=turns, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("received", "level"),
    [
        (written("Hi"), LIGHT),
        (Conversation(), LIGHT),
        (written("x" * 300), STANDARD),
        (written("Hi", tools=(Tool(name="f"),)), STANDARD),
        (written("Please debug this"), STANDARD),
        (written("Prove it, derive it, refactor it"), HEAVY),
        (written("Debug", thinking=Thinking(effort="high")), HEAVY),
        (written("We have a production outage"), CRITICAL),
        (written("We have a production outage", "Thanks"), LIGHT),
    ],
    ids=range(9),
)
def test_a_request_is_as_hard_as_its_last_words(received: Conversation, level: int) -> None:
    assert difficulty(received) == level


@pytest.mark.parametrize(
    ("model", "level"),
    [
        ("gpt-5-mini", LIGHT),
        ("claude-haiku-4", LIGHT),
        ("gemini-2.5-flash", LIGHT),
        ("gemini-2.5-pro", HEAVY),
        ("MiniMax-M2", STANDARD),
        ("claude-opus-4", HEAVY),
        ("gpt-5", STANDARD),
        ("llama-3-8b", LIGHT),
    ],
)
def test_a_models_name_tells_its_strength(model: str, level: int) -> None:
    assert strength(target(model=model)) == level


def test_just_strong_enough_fits_best_then_stronger_then_weaker() -> None:
    models = [target(model=name) for name in ("mini", "gpt", "opus")]

    def best(wanted: int) -> list[str]:
        return [each.model.id for each in sorted(models, key=lambda each: fit(each, wanted))]

    assert best(LIGHT) == ["mini", "gpt", "opus"]
    assert best(STANDARD) == ["gpt", "opus", "mini"]
    assert best(HEAVY) == best(CRITICAL) == ["opus", "gpt", "mini"]


def test_the_last_words_are_the_users() -> None:
    turns = (Turn("user", (Text(text="a"), Text(text="b"))), Turn("assistant", (Text(text="c"),)))

    assert last_words(Conversation(turns=turns)) == "a\nb"
