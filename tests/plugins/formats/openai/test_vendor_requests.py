"""A conversation's settings, written for a vendor, and what gets lost on the way."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    Conversation,
    Output,
    Sampling,
    Target,
    Text,
    Turn,
)

Tell = Callable[..., tuple[dict[str, Any], list[str]]]

Aim = Callable[..., Target]

HI = Turn("user", (Text(text="hi"),))


def talk(*turns: Turn, **members: Any) -> Conversation:
    return Conversation(turns=turns or (HI,), **members)


def user(*parts: Any) -> Conversation:
    return talk(Turn("user", parts))


def test_one_system_message_holds_all_instructions(tell: Tell) -> None:
    body, lost = tell(talk(instructions=(Text(text="a"), Text(text="b"))))

    assert body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "a\n\nb"},
            {"role": "user", "content": "hi"},
        ],
    }
    assert lost == []


def test_a_vendor_may_want_developer_messages(tell: Tell, aim: Aim) -> None:
    conversation = talk(HI, Turn("system", (Text(text="b"),)), instructions=(Text(text="a"),))

    body, _ = tell(conversation, aim(system_role="developer"))

    assert [message["role"] for message in body["messages"]] == ["developer", "user", "developer"]


@pytest.mark.parametrize(
    ("model", "options", "name"),
    [
        ("llama-3", {}, "max_tokens"),
        ("gpt-4o", {}, "max_tokens"),
        ("gpt-5-mini", {}, "max_completion_tokens"),
        ("openai/gpt-5.6-sol", {}, "max_completion_tokens"),
        ("gpt-10", {}, "max_completion_tokens"),
        ("o3", {}, "max_completion_tokens"),
        ("gpt-oss-120b", {}, "max_tokens"),
        ("olmo-2", {}, "max_tokens"),
        ("o3", {"max_tokens": True}, "max_tokens"),
        ("llama-3", {"max_tokens": False}, "max_completion_tokens"),
        ("o3", {"max_tokens": "max_tokens"}, "max_tokens"),
    ],
)
def test_the_limit_has_the_name_the_vendor_knows(
    tell: Tell, aim: Aim, model: str, options: dict[str, str | bool], name: str
) -> None:
    body, _ = tell(talk(sampling=Sampling(max_tokens=5)), aim(model, **options))

    assert body[name] == 5
    assert len({"max_tokens", "max_completion_tokens"} & body.keys()) == 1


def test_sampling_is_written_under_its_own_names(tell: Tell) -> None:
    sampling = Sampling(
        temperature=0.0,
        top_p=0.5,
        seed=0,
        stop=("a", "b"),
        presence_penalty=0.1,
        frequency_penalty=0.2,
        candidates=2,
        logprobs=True,
        top_logprobs=0,
    )

    body, lost = tell(talk(sampling=sampling))

    assert {name: body[name] for name in body if name not in ("model", "messages")} == {
        "temperature": 0.0,
        "top_p": 0.5,
        "seed": 0,
        "stop": ["a", "b"],
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "n": 2,
        "logprobs": True,
        "top_logprobs": 0,
    }
    assert lost == []


def test_members_that_not_every_vendor_takes_are_lost_unless_it_says_so(
    tell: Tell, aim: Aim
) -> None:
    conversation = talk(sampling=Sampling(top_k=4, min_p=0.1), cache_key="k")

    plain, lost = tell(conversation)
    rich, nothing = tell(conversation, aim(top_k=True, min_p=True, prompt_cache_key=True))

    assert not {"top_k", "min_p", "prompt_cache_key"} & plain.keys()
    assert lost == ["top_k", "min_p", "cache_key"]
    assert (rich["top_k"], rich["min_p"], rich["prompt_cache_key"]) == (4, 0.1, "k")
    assert nothing == []


def test_what_this_dialects_client_said_is_meant_for_the_vendor(tell: Tell, aim: Aim) -> None:
    conversation = talk(
        sampling=Sampling(top_k=4, stop=tuple("abcde")), cache_key="k", dialect="openai"
    )

    body, lost = tell(conversation)
    refused, noted = tell(conversation, aim(top_k=False))

    assert (body["top_k"], body["prompt_cache_key"], len(body["stop"])) == (4, "k", 5)
    assert lost == []
    assert "top_k" not in refused
    assert noted == ["top_k"]


def test_more_than_four_stop_sequences_are_cut(tell: Tell) -> None:
    body, lost = tell(talk(sampling=Sampling(stop=tuple("abcde"))))

    assert body["stop"] == ["a", "b", "c", "d"]
    assert lost == ["stop"]


def test_a_stream_asks_for_usage_unless_the_vendor_refuses(tell: Tell, aim: Aim) -> None:
    received, _ = tell(talk(stream=True, stream_usage=False))
    refused, _ = tell(talk(stream=True), aim(no_stream_usage=True))

    assert (received["stream"], received["stream_options"]) == (True, {"include_usage": True})
    assert refused["stream"] is True
    assert "stream_options" not in refused
    assert "stream" not in tell(talk())[0]


def test_the_form_of_the_answer_is_written(tell: Tell) -> None:
    output = Output(schema=Raw(b'{"type": "object"}'), strict=True, description="d")

    body, lost = tell(talk(output=output))

    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "response",
            "description": "d",
            "schema": {"type": "object"},
            "strict": True,
        },
    }
    assert lost == []


def test_a_vendor_without_schemas_is_told_in_words(tell: Tell, aim: Aim) -> None:
    output = Output(schema=Raw(b'{"type":"object"}'))

    body, lost = tell(talk(output=output), aim(json_schema=False))

    assert body["response_format"] == {"type": "json_object"}
    assert '{"type":"object"}' in body["messages"][0]["content"]
    assert lost == ["output_schema"]


def test_json_mode_is_not_asked_for_without_the_word(tell: Tell) -> None:
    silent, _ = tell(talk(output=Output()))
    spoken, _ = tell(talk(Turn("user", (Text(text="as JSON"),)), output=Output()))
    own, _ = tell(talk(output=Output(), dialect="openai"))

    assert "JSON" in silent["messages"][0]["content"]
    assert len(spoken["messages"]) == 1
    assert len(own["messages"]) == 1


@pytest.mark.parametrize(
    ("tier", "dialect", "sent", "lost"),
    [
        ("auto", "claude", "auto", []),
        ("standard_only", "claude", "default", []),
        ("batch", "claude", None, ["service_tier"]),
        ("on_demand", "openai", "on_demand", []),
    ],
)
def test_the_service_tier_is_sent_when_it_is_known_here(
    tell: Tell, tier: str, dialect: str, sent: str | None, lost: list[str]
) -> None:
    body, noted = tell(talk(service_tier=tier, dialect=dialect))

    assert body.get("service_tier") == sent
    assert noted == lost


def test_another_dialects_long_user_id_is_shortened_the_same_way_each_time(tell: Tell) -> None:
    long = "user_" + "x" * 100

    first = tell(talk(user=long, dialect="claude"))[0]["user"]
    again = tell(talk(user=long, dialect="claude"))[0]["user"]

    assert first == again
    assert len(first) == 64
    assert tell(talk(user=long, dialect="openai"))[0]["user"] == long
    assert tell(talk(user="u", dialect="claude"))[0]["user"] == "u"
