"""Equal requests at once, and those whose first one comes to nothing."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from caching_gateway import CachingGateway, chat, outcome, streamed, usual
from fake_vendor import MockResponse, ReceivedRequest

BODY = {"model": "v/m", "messages": [{"role": "user", "content": "hi"}], "stream": True}


def patient(received: ReceivedRequest, number: int) -> MockResponse:
    """So slow that all who ask at once have asked by then."""
    answer = usual(received, number)
    answer.delay = 0.4
    return answer


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_fifty_at_once_ask_the_vendor_once(here: CachingGateway, stream: bool) -> None:
    here.vendor.answer = patient
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: here.ask(stream=stream), range(50)))

    assert sorted(outcome(each) for each in answers) == ["hit"] * 49 + ["miss"]
    assert len({each.content for each in answers}) == 1
    assert len(here.vendor.asked) == 1
    assert [row.cost for row in here.rows[:50]].count(0) == 49


def test_where_the_first_one_fails_another_one_asks(here: CachingGateway) -> None:
    def failing_once(received: ReceivedRequest, number: int) -> MockResponse:
        if number == 1:
            return MockResponse((b'{"error": {"message": "no"}}',), status=400, delay=0.4)
        return patient(received, number)

    here.vendor.answer = failing_once
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: here.ask(), range(10)))

    assert sorted(each.status_code for each in answers) == [200] * 9 + [400]
    assert len(here.vendor.asked) == 2


def test_where_the_first_client_leaves_another_one_asks(here: CachingGateway) -> None:
    has_begun = threading.Event()

    def hanging_once(received: ReceivedRequest, number: int) -> MockResponse:
        if number == 1:
            return MockResponse.stream(*streamed("half").pieces[:1], hang=True)
        return usual(received, number)

    here.vendor.answer = hanging_once

    def begin_and_leave() -> None:
        with here.client.stream("POST", "/v1/chat/completions", json=BODY) as answer:
            next(answer.iter_bytes())
            has_begun.set()
            assert not follower_is_done.wait(0.3)

    follower_is_done = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        leader = pool.submit(begin_and_leave)
        has_begun.wait(20)
        follower = pool.submit(here.ask, stream=True)
        leader.result(20)
        answer = follower.result(20)
        follower_is_done.set()

    assert (outcome(answer), len(here.vendor.asked)) == ("miss", 2)
    assert outcome(here.ask(stream=True)) == "hit"


def test_nothing_is_kept_of_an_answer_whose_client_leaves(here: CachingGateway) -> None:
    here.vendor.answer = lambda *_: MockResponse.stream(*streamed("half").pieces[:1], hang=True)
    with here.client.stream("POST", "/v1/chat/completions", json=BODY) as answer:
        next(answer.iter_bytes())
    here.vendor.answer = usual

    assert outcome(here.ask(stream=True)) == "miss"


def test_an_answer_that_is_not_kept_is_still_one_for_all_who_wait(here: CachingGateway) -> None:
    def short(received: ReceivedRequest, number: int) -> MockResponse:
        answer = chat(f"half {number}", "length")
        answer.delay = 0.4
        return answer

    here.vendor.answer = short
    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda _: here.ask(), range(5)))

    assert {each.json()["choices"][0]["message"]["content"] for each in answers} == {"half 1"}
    assert outcome(here.ask()) == "miss"


def test_who_waits_for_an_answer_that_is_too_long_asks_alone(here: CachingGateway) -> None:
    here.set(maxAnswerKilobytes=1)

    def long(received: ReceivedRequest, number: int) -> MockResponse:
        answer = chat("x" * 3000)
        answer.delay = 0.4
        return answer

    here.vendor.answer = long
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: here.ask(), range(4)))

    assert [outcome(each) for each in answers] == ["miss"] * 4
    assert len(here.vendor.asked) == 4


def test_no_question_is_remembered_as_under_way(here: CachingGateway) -> None:
    registry = here.served.gateway.core.snapshot.registry
    cache = next(each for each in registry.interceptors if type(each).__name__ == "AnswerCache")
    for number in range(5):
        here.ask(f"question {number}")
    here.vendor.answer = lambda *_: MockResponse((b"{}",), status=400)
    here.ask("one that fails")

    assert json.dumps(list(cache._flights._under_way)) == "[]"  # type: ignore[attr-defined]
