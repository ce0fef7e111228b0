"""Answers to questions that mean the same."""

import pytest
from caching_gateway import CachingGateway, chat, outcome

VECTORS = {
    "What is the capital of France?": [1.0, 0.0, 0.0],
    "Which city is France's capital?": [0.98, 0.199, 0.0],
    "How tall is the Eiffel tower?": [0.0, 1.0, 0.0],
}
FIRST, SAME, OTHER = VECTORS


@pytest.fixture
def similar(here: CachingGateway) -> CachingGateway:
    here.set(embeddingModel="v/e", similarFor=["v/m"], similarThreshold=0.95)
    here.vendor.vectors = dict(VECTORS)
    return here


def test_a_similar_question_gets_the_same_answer(similar: CachingGateway) -> None:
    first, second, third = (similar.ask(text) for text in (FIRST, SAME, OTHER))

    assert [outcome(each) for each in (first, second, third)] == ["miss", "hit", "miss"]
    assert second.content == first.content
    assert similar.vendor.compared == [FIRST, SAME, OTHER]
    hit = similar.rows[1]
    assert (hit.cost, hit.notes[:2]) == (0, ("cache: similar by 0.980", "cache"))


def test_the_threshold_counts(similar: CachingGateway) -> None:
    similar.set(embeddingModel="v/e", similarFor=["v/m"], similarThreshold=0.99)

    assert [outcome(similar.ask(text)) for text in (FIRST, SAME)] == ["miss", "miss"]


def test_everything_else_has_to_be_equal(similar: CachingGateway) -> None:
    similar.ask(FIRST)
    system = [{"role": "system", "content": "Be rude."}, {"role": "user", "content": SAME}]

    assert outcome(similar.ask(SAME, max_tokens=5)) == "miss"
    assert outcome(similar.ask(SAME, stream=True)) == "miss"
    assert outcome(similar.ask(messages=system)) == "miss"
    assert outcome(similar.ask(SAME, key=similar.key("another"))) == "miss"
    assert outcome(similar.ask(SAME)) == "hit"


def test_it_is_done_where_it_is_switched_on_only(similar: CachingGateway) -> None:
    for _ in range(2):
        similar.ask(FIRST, model="v/other")
    similar.set(similarFor=["v/m"])
    similar.ask(FIRST)

    assert similar.vendor.compared == []


def test_the_same_question_is_not_compared(similar: CachingGateway) -> None:
    similar.ask(FIRST)
    similar.ask(FIRST)

    assert similar.vendor.compared == [FIRST]


def test_a_similar_answer_is_given_until_its_time_is_up(similar: CachingGateway) -> None:
    similar.ask(FIRST)
    similar.clock.move(3601)

    assert outcome(similar.ask(SAME)) == "miss"


def test_an_embedding_that_fails_stops_no_request(similar: CachingGateway) -> None:
    similar.set(embeddingModel="v/nothing", similarFor=["*"])

    assert [outcome(similar.ask(FIRST)) for _ in range(2)] == ["miss", "hit"]


def test_only_what_the_user_says_last_is_compared(similar: CachingGateway) -> None:
    def ask(first: str, last: str) -> str:
        texts = [("user", first), ("assistant", "Yes?"), ("user", last)]
        return outcome(similar.ask(messages=[{"role": r, "content": t} for r, t in texts]))

    similar.vendor.answer = lambda *_: chat("Paris")

    assert [ask("a", FIRST), ask("a", SAME), ask("b", SAME)] == ["miss", "hit", "miss"]
