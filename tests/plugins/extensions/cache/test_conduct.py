"""What is kept, for whom, for how long, and what a hit costs."""

import json
from typing import Any

import pytest
from caching_gateway import CachingGateway, chat, outcome, streamed
from fake_vendor import MockResponse

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
OTHER_IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgp="}}
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


@both_ways
def test_the_same_request_is_answered_with_the_same_bytes(
    here: CachingGateway, stream: bool
) -> None:
    first = here.ask(stream=stream)
    here.clock.move(5)
    second = here.ask(stream=stream)

    assert (outcome(first), outcome(second)) == ("miss", "hit")
    assert second.content == first.content
    assert (second.headers["age"], second.headers["content-type"]) == (
        "5",
        first.headers["content-type"],
    )
    assert "age" not in first.headers
    assert len(here.vendor.asked) == 1


@both_ways
def test_a_hit_costs_nothing_and_says_what_it_saved(here: CachingGateway, stream: bool) -> None:
    here.ask(stream=stream)
    here.ask(stream=stream)

    hit, miss = here.rows[:2]
    assert (miss.input_tokens, miss.output_tokens, miss.cost, miss.notes) == (7, 11, 29, ())
    assert (hit.input_tokens, hit.output_tokens, hit.cost, hit.attempts) == (0, 0, 0, 0)
    assert (hit.status, hit.provider, hit.model_sent, hit.connection_id) == ("ok", "v", "m", None)
    assert hit.notes == ("cache", "cache: saved 7 input, 11 output tokens")


def test_a_stream_and_a_whole_answer_are_not_given_for_one_another(here: CachingGateway) -> None:
    assert [outcome(here.ask(stream=stream)) for stream in (False, True, False, True)] == [
        *("miss", "miss"),
        *("hit", "hit"),
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"model": "v/other"},
        {"max_tokens": 9},
        {"tools": [tool("pay")]},
        {"messages": [{"role": "user", "content": [IMAGE]}]},
        {"messages": [{"role": "user", "content": "hi "}]},
        {"user": "ada"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_whatever_differs_makes_another_request(
    here: CachingGateway, other: dict[str, Any]
) -> None:
    here.ask()

    assert outcome(here.ask(**other)) == "miss"


def test_images_and_tools_are_compared_too(here: CachingGateway) -> None:
    def ask(image: Any, name: str) -> str:
        content = [{"type": "text", "text": "what is it?"}, image]
        messages = [{"role": "user", "content": content}]
        return outcome(here.ask(messages=messages, tools=[tool(name)]))

    asked = [(IMAGE, "a"), (OTHER_IMAGE, "a"), (IMAGE, "b"), (IMAGE, "a"), (OTHER_IMAGE, "a")]

    assert [ask(*each) for each in asked] == ["miss", "miss", "miss", "hit", "hit"]


def test_the_order_of_members_makes_no_difference(here: CachingGateway) -> None:
    messages = [{"role": "user", "content": "hi"}]
    for body in (
        {"model": "v/m", "messages": messages, "max_tokens": 5},
        {"max_tokens": 5, "messages": messages, "model": "v/m"},
    ):
        last = here.client.post("/v1/chat/completions", json=body)

    assert outcome(last) == "hit"


def test_an_answer_with_tool_calls_is_kept(here: CachingGateway) -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "pay", "arguments": "{}"}}]
    here.vendor.answer = lambda *_: chat("", "tool_calls", tool_calls=calls)

    first, second = (here.ask(tools=[tool("pay")]) for _ in range(2))

    assert outcome(second) == "hit"
    assert second.json() == first.json()
    assert second.json()["choices"][0]["message"]["tool_calls"] == calls


def test_an_answer_is_given_until_its_time_is_up(here: CachingGateway) -> None:
    here.set(ttlSeconds=60)
    here.ask()
    here.clock.move(59)
    assert outcome(here.ask()) == "hit"
    here.clock.move(1)

    assert outcome(here.ask()) == "miss"


def test_a_shorter_time_counts_for_what_is_kept_already(here: CachingGateway) -> None:
    here.ask()
    here.clock.move(61)
    here.set(ttlSeconds=60)

    assert outcome(here.ask()) == "miss"


@pytest.mark.parametrize(
    ("headers", "outcomes"),
    [
        ({"cache-control": "no-store"}, ["bypass", "bypass", "miss"]),
        ({"x-gateway-cache": "bypass"}, ["bypass", "bypass", "miss"]),
        ({"cache-control": "no-cache"}, ["miss", "miss", "hit"]),
        ({"cache-control": "max-age=0"}, ["miss", "miss", "hit"]),
        ({"cache-control": "max-age=soon"}, ["miss", "miss", "hit"]),
        ({"x-gateway-cache": "refresh"}, ["miss", "miss", "hit"]),
        ({"cache-control": "max-age=10, private"}, ["miss", "hit", "hit"]),
        ({"x-gateway-cache": "use"}, ["miss", "hit", "hit"]),
    ],
    ids=lambda value: next(iter(value.values())) if isinstance(value, dict) else None,
)
def test_headers_say_what_a_client_wants(
    here: CachingGateway, headers: dict[str, str], outcomes: list[str]
) -> None:
    asked = [here.ask(headers=each) for each in (headers, headers, {})]

    assert [outcome(each) for each in asked] == outcomes


def test_a_client_may_want_a_young_answer(here: CachingGateway) -> None:
    here.ask()
    here.clock.move(30)

    assert outcome(here.ask(headers={"cache-control": "max-age=31"})) == "hit"
    assert outcome(here.ask(headers={"cache-control": "max-age=30"})) == "miss"
    assert here.ask().headers["age"] == "0"


@pytest.mark.parametrize(
    "headers", [{"x-gateway-cache": "only"}, {"cache-control": "only-if-cached"}], ids=str
)
def test_a_client_may_want_no_vendor(here: CachingGateway, headers: dict[str, str]) -> None:
    refused = here.ask(headers=headers)
    here.ask()

    assert (refused.status_code, refused.json()["error"]["code"]) == (504, "answer_not_kept")
    assert outcome(here.ask(headers=headers)) == "hit"
    assert len(here.vendor.asked) == 1


def test_an_unknown_word_is_refused(here: CachingGateway) -> None:
    refused = here.ask(headers={"x-gateway-cache": "maybe"})

    assert refused.status_code == 400
    assert "bypass, refresh, only" in refused.json()["error"]["message"]


@pytest.mark.parametrize("temperature", [0, 0.3, None])
def test_a_sampled_answer_is_kept_where_the_operator_says_so(
    here: CachingGateway, temperature: float | None
) -> None:
    more = {} if temperature is None else {"temperature": temperature}
    usual = [outcome(here.ask(**more)) for _ in range(2)]
    here.set(maxTemperature=0.3)
    allowed = [outcome(here.ask("there", **more)) for _ in range(2)]

    assert usual == (["bypass", "bypass"] if temperature else ["miss", "hit"])
    assert allowed == ["miss", "hit"]


@pytest.mark.parametrize(
    "broken",
    [
        chat("half", "length"),
        chat("", "content_filter"),
        MockResponse((b'{"error": {"message": "no"}}',), status=400),
        MockResponse((b'{"choices": [',)),
        MockResponse((b'{"choices": []}',)),
        streamed("half", finish="length"),
    ],
    ids=["length", "filter", "refused", "broken", "empty", "other kind"],
)
def test_what_is_no_whole_answer_is_not_kept(here: CachingGateway, broken: MockResponse) -> None:
    here.vendor.answer = lambda *_: broken
    here.ask()
    here.clock.move(100)  # An account that has failed has rested by then.
    here.vendor.answer = lambda *_: chat("whole")

    assert outcome(here.ask()) == "miss"


@pytest.mark.parametrize(
    "broken",
    [
        streamed("half", cut=True).pieces[:1],
        streamed("half").pieces[:1],
        [*streamed("half").pieces[:1], b'data: {"error": {"message": "overloaded"}}\n\n'],
    ],
    ids=["cut", "no end", "error"],
)
def test_a_stream_that_broke_off_is_not_kept(here: CachingGateway, broken: Any) -> None:
    here.vendor.answer = lambda *_: MockResponse.stream(*broken)
    here.ask(stream=True)
    here.clock.move(100)
    here.vendor.answer = lambda *_: streamed("whole")

    assert outcome(here.ask(stream=True)) == "miss"
    assert outcome(here.ask(stream=True)) == "hit"


@both_ways
def test_an_answer_above_the_limit_is_not_kept(here: CachingGateway, stream: bool) -> None:
    here.set(maxAnswerKilobytes=4)
    text = "x" * 5000
    here.vendor.answer = lambda *_: streamed(text) if stream else chat(text)

    assert [outcome(here.ask(stream=stream)) for _ in range(2)] == ["miss", "miss"]


def test_tools_that_vendors_run_are_run_again(here: CachingGateway) -> None:
    hosted = {"type": "web_search_preview"}
    here.vendor.answer = lambda *_: chat("found")
    body = {"model": "v/m", "messages": [{"role": "user", "content": "hi"}], "tools": [hosted]}
    asked = [here.client.post("/v1/chat/completions", json=body) for _ in range(2)]
    conversation = {**body, "web_search_options": {}, "tools": []}
    again = [here.client.post("/v1/chat/completions", json=conversation) for _ in range(2)]

    assert [outcome(each) for each in (*asked, *again)] == ["bypass"] * 4


def test_only_the_models_that_are_named_are_cached(here: CachingGateway) -> None:
    here.set(models=["v/o*"])

    assert "x-gateway-cache" not in here.ask().headers
    assert outcome(here.ask(model="v/other")) == "miss"


def test_two_keys_have_nothing_in_common(here: CachingGateway) -> None:
    one, two = here.key("one"), here.key("two")

    outcomes = [outcome(here.ask(key=key)) for key in (one, two, one, two)]

    assert outcomes == ["miss", "miss", "hit", "hit"]


def test_answers_may_be_shared_by_all(here: CachingGateway) -> None:
    here.set(scope="all")
    one, two = here.key("one"), here.key("two")

    assert [outcome(here.ask(key=key)) for key in (one, two, "")] == ["miss", "hit", "hit"]


def test_answers_may_be_shared_by_the_keys_of_a_group(here: CachingGateway) -> None:
    here.set(scope="group")
    one, two, alone = here.key("one"), here.key("two"), here.key("alone")
    ids = {row["name"]: row["id"] for row in here.operator.get("/api/keys").json()["keys"]}
    made = here.operator.post(
        "/api/key-groups", json={"name": "team", "keyIds": [ids["one"], ids["two"]]}
    )
    assert made.status_code == 201, made.text

    outcomes = [outcome(here.ask(key=key)) for key in (one, two, alone, alone)]

    assert outcomes == ["miss", "hit", "miss", "hit"]


def test_an_alias_is_what_it_stands_for(here: CachingGateway) -> None:
    def point_to(model: str) -> None:
        made = here.operator.put("/api/models/alias", json={"alias": "mine", "model": model})
        assert made.status_code in (200, 201), made.text

    point_to("v/m")
    outcomes = [outcome(here.ask(model=model)) for model in ("v/m", "mine")]
    point_to("v/other")

    assert [*outcomes, outcome(here.ask(model="mine"))] == ["miss", "hit", "miss"]


def test_policy_and_limits_come_before_a_hit(here: CachingGateway) -> None:
    here.set(scope="all")
    here.ask()
    denied = here.key("denied", policy={"allowedModels": ["v/other"]})
    limited = here.key("limited", policy={"rpmLimit": 2})

    refused = here.ask(key=denied)
    statuses = [here.ask(key=limited).status_code for _ in range(3)]

    assert refused.status_code == 403
    assert statuses == [200, 200, 429]
    assert here.rows[0].notes == ()
    assert len(here.vendor.asked) == 1


def test_nothing_is_kept_while_it_is_off(here: CachingGateway) -> None:
    here.set(enabled=False)
    core = here.served.gateway.core

    assert "x-gateway-cache" not in here.ask().headers
    assert (core.interceptors.active, core.state.filtering) == ((), None)


def test_another_format_finds_the_same_request(here: CachingGateway) -> None:
    asked = {"max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    first = here.client.post("/v1/messages", json={"model": "v/m", **asked})
    body = here.vendor.asked[0]
    second = here.client.post("/v1/chat/completions", json={**body, "model": "v/m"})

    assert outcome(first) == "miss"
    assert outcome(second) == "hit"
    assert second.json()["choices"][0]["message"]["content"] == "answer 1"


def test_what_is_stored_cannot_be_read(here: CachingGateway) -> None:
    here.vendor.answer = lambda *_: chat("an unmistakable answer")
    here.ask("an unmistakable question")
    folder = here.served.gateway.core.data_dir.path / "plugin-data"

    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())

    assert len(kept) > 1000
    assert b"unmistakable" not in kept


def test_the_settings_are_shown_as_a_form(here: CachingGateway) -> None:
    shown = here.operator.get("/api/plugins/extension-cache/settings").json()

    assert set(json.dumps(shown).split('"')) >= {"ttlSeconds", "scope", "similarThreshold"}
