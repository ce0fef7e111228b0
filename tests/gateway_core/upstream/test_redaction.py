import time

import pytest

from gateway_core import Credential
from gateway_core.metering.request_log_entry import Cut, Excerpt
from gateway_core.upstream.redaction import hidden, redact, secrets_of, texts

BOMBS = ("eyJ-", "eyJa.-", "sk-", "bearer ", "key: ", "://a:b", "/home", "-eyJ.eyJ")
"""Texts that begin like secrets over and over, for patterns that look ahead at each beginning."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Incorrect API key provided: my-own-key.", "Incorrect API key provided: ***."),
        ("first line\nsecond my-own-key", "first line"),
        ("\n\n  spaced  \n", "spaced"),
        ("", ""),
        ("Bearer abcdefgh12345678 is wrong", "Bearer *** is wrong"),
        ("sk-proj-abcdefgh1234 is wrong", "sk-*** is wrong"),
        ("token=abc&next=1", "token=***&next=1"),
        ("api_key: abc", "api_key: ***"),
        ("the token eyJhbGciOi.eyJzdWIi.sig is old", "the token *** is old"),
        ("cut off: eyJhbGciOiJIUzI1NiJ9", "cut off: ***"),
        ("via http://me:word@proxy:1/", "via http://***@proxy:1/"),
        ("no file /home/somebody/.config/x", "no file <path>"),
        ("see https://docs.example/home/keys", "see https://docs.example/home/keys"),
        ("max_tokens: 1 is too small", "max_tokens: 1 is too small"),
    ],
)
def test_a_vendors_words_are_told_without_secrets(text: str, shown: str) -> None:
    assert redact(text, ["my-own-key", "abc"]) == shown


def test_a_secret_within_another_leaves_nothing_of_it() -> None:
    assert redact("it was secret-key-long", ["secret-key", "secret-key-long"]) == "it was ***"


def test_a_long_text_is_cut() -> None:
    assert len(redact("word " * 1000)) == 500


def test_every_secret_of_an_account_is_known() -> None:
    data = {"region": "eu", "cookie": "a-cookie", "deep": {"clientSecret": ["one", {"x": "two"}]}}
    credential = Credential(connection_id="c", secret="a-key", data=data)

    assert sorted(secrets_of(credential)) == ["a-cookie", "a-key", "one", "two"]
    assert list(texts({"a": 1, "b": None})) == []


@pytest.mark.parametrize("word", BOMBS)
def test_a_text_made_to_take_long_takes_no_longer(word: str) -> None:
    text = word * (150_000 // len(word))
    began = time.thread_time()

    hidden(text)

    assert time.thread_time() - began < 2


@pytest.mark.parametrize("word", BOMBS)
def test_nor_does_it_in_the_details_of_a_request(word: str) -> None:
    body = Excerpt(200_000, (word * (150_000 // len(word))).encode())
    cut = Cut(
        longest=200_000,
        secrets=(),
        request=({}, body),
        tools=b"",
        provider_request=None,
        provider_response=None,
        response=None,
    )
    began = time.thread_time()

    cut.written("id", "2026-01-01T00:00:00.000Z")

    assert time.thread_time() - began < 2
