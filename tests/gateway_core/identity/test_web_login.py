"""The assisted login: its host, its grants and its cookies."""

import pytest
from snapshots import Clock

from gateway_core.identity.web_login import (
    GRANT_LIFETIME,
    LIFETIME,
    LONGEST_CAPTURE,
    MOST,
    SignIns,
    is_cookie_text,
    isolated_host,
    login_origin,
)


@pytest.mark.parametrize(
    ("wanted", "public", "origin", "host"),
    [
        ("https://login.example", "", "https://login.example:443", "login.example"),
        ("https://Login.Example/", "", "https://login.example:443", "login.example"),
        ("http://login.example:8080", "https://a.example", "http://login.example:8080", None),
        ("http://localhost:1", "http://127.0.0.1:1", "http://localhost:1", "localhost"),
        ("http://[::1]:80", "https://a.example", "http://[::1]:80", "::1"),
    ],
)
def test_an_origin_of_its_own_turns_assisted_logins_on(
    wanted: str, public: str, origin: str, host: str | None
) -> None:
    assert login_origin(wanted, public) == origin
    assert isolated_host(wanted, public) == host or host is None


@pytest.mark.parametrize(
    ("wanted", "public"),
    [
        (None, ""),
        ("", ""),
        (" ", ""),
        ("login.example", ""),
        ("ftp://login.example", ""),
        ("https://", ""),
        ("https://login.example/path", ""),
        ("https://login.example?x", ""),
        ("https://login.example#x", ""),
        ("https://user@login.example", ""),
        ("https://login.example:99999", ""),
        ("https://[::1", ""),
        ("https://gateway.example", "https://gateway.example"),
        ("https://gateway.example:8443", "https://gateway.example"),
        ("http://GATEWAY.example.", "https://gateway.example"),
        ("http://localhost:20128", ""),
        ("http://127.0.0.1:20128", ""),
        ("http://[::1]", "nonsense"),
    ],
)
def test_any_other_value_leaves_them_off(wanted: str | None, public: str) -> None:
    assert login_origin(wanted, public) == ""
    assert isolated_host(wanted, public) == ""


def test_a_grant_opens_one_browser_once() -> None:
    sign_ins = SignIns(Clock())
    started = sign_ins.start("acme")

    entered = sign_ins.enter(started.grant)

    assert entered is not None
    text, sign_in = entered
    assert sign_in.state == "open"
    assert sign_ins.by_cookie(text, "acme") is sign_ins.by_id(started.id) is sign_in
    assert sign_ins.enter(started.grant) is None


def test_texts_are_long_random_and_different() -> None:
    sign_ins = SignIns(Clock())
    started = [sign_ins.start("acme") for _ in range(50)]
    texts = {text for each in started for text in (each.id, each.grant)}

    assert len(texts) == 100
    assert min(map(len, texts)) * 6 >= 128


def test_a_grant_lasts_two_minutes() -> None:
    clock = Clock()
    sign_ins = SignIns(clock)
    started = sign_ins.start("acme")

    clock.now += GRANT_LIFETIME - 1
    assert sign_ins.is_granted(started.grant)
    clock.now += 1

    assert started.grant_expires_at == clock.now
    assert not sign_ins.is_granted(started.grant)
    assert sign_ins.enter(started.grant) is None


def test_a_sign_in_ends_ten_minutes_after_it_began() -> None:
    clock = Clock()
    sign_ins = SignIns(clock)
    started = sign_ins.start("acme")
    clock.now += GRANT_LIFETIME - 1
    entered = sign_ins.enter(started.grant)
    assert entered is not None

    clock.now += LIFETIME - GRANT_LIFETIME + 1

    assert sign_ins.by_cookie(entered[0], "acme") is None
    assert sign_ins.by_id(started.id) is None


def test_a_text_is_good_for_its_own_purpose_and_provider_only() -> None:
    sign_ins = SignIns(Clock())
    started = sign_ins.start("acme")
    other = sign_ins.start("acme")
    entered = sign_ins.enter(started.grant)
    assert entered is not None
    text = entered[0]

    assert sign_ins.by_cookie(text, "other") is None
    assert sign_ins.by_cookie(None, "acme") is None
    for wrong in ("", started.id, started.grant, other.grant, text + "x"):
        assert sign_ins.by_cookie(wrong, "acme") is None
    for wrong in (text, started.id, other.id):
        assert sign_ins.enter(wrong) is None
    for wrong in (text, started.grant, other.grant):
        assert sign_ins.by_id(wrong) is None


def test_a_sign_in_that_is_over_leaves_no_way_in() -> None:
    sign_ins = SignIns(Clock())
    ended, kept = sign_ins.start("acme"), sign_ins.start("acme")
    entered = sign_ins.enter(ended.grant)
    assert entered is not None

    sign_ins.end(entered[1])

    assert sign_ins.by_id(ended.id) is None
    assert sign_ins.by_cookie(entered[0], "acme") is None
    assert sign_ins.by_id(kept.id) is not None


def test_only_so_many_are_under_way() -> None:
    sign_ins = SignIns(Clock())
    first = sign_ins.start("acme")

    for _ in range(MOST):
        sign_ins.start("acme")

    assert sign_ins.by_id(first.id) is None
    assert not sign_ins.is_granted(first.grant)


def test_nothing_secret_is_in_the_text_of_a_sign_in() -> None:
    sign_ins = SignIns(Clock())
    started = sign_ins.start("acme")
    sign_in = sign_ins.by_id(started.id)
    assert sign_in is not None
    sign_in.captured, sign_in.memory["password"] = "canary", "canary"

    assert "canary" not in repr(sign_in)
    assert started.grant not in repr(started)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("a=1; b=2", True),
        ("x" * LONGEST_CAPTURE, True),
        ("x" * (LONGEST_CAPTURE + 1), False),
        ("", False),
        ("a=1\r\nx: y", False),
        ("a=\x00", False),
        ("a=é", False),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_can_stand_in_a_cookie_header(text: str, is_one: bool) -> None:
    assert is_cookie_text(text) is is_one
