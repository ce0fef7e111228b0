"""The assisted login: its host, its grants and its cookies."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from admin_gateway import opened
from snapshots import Clock

from gateway_core.contracts.errors import GatewayError, NotFound, PluginBroken
from gateway_core.identity.web_login import isolated_host, login_origin
from gateway_core.pipeline.context import Collaborators
from gateway_dashboard_api.accounts.web_login.memory import LONGEST as LONGEST_MEMORY
from gateway_dashboard_api.accounts.web_login.memory import read_memory
from gateway_dashboard_api.accounts.web_login.sign_ins import (
    GRANT_LIFETIME,
    LIFETIME,
    LONGEST_CAPTURE,
    MOST,
    SignIns,
    is_cookie_text,
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


class Refused(GatewayError):
    """What a store says to an account that it does not take."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def core(tmp_path: Path, clock: Clock) -> AsyncIterator[Collaborators]:
    async with opened(tmp_path, {}, clock) as admin:
        yield admin.core


@pytest.fixture
def sign_ins(core: Collaborators, clock: Clock) -> SignIns:
    return SignIns(core, clock)


@pytest.fixture
def elsewhere(core: Collaborators, clock: Clock) -> SignIns:
    """What another process on the database has."""
    return SignIns(core, clock)


async def begun(sign_ins: SignIns) -> tuple[str, str]:
    """The id and the cookie of a sign-in whose browser has come in."""
    started = await sign_ins.start("acme")
    entered = await sign_ins.enter(started.grant)
    assert entered is not None
    return started.id, entered[0]


@pytest.mark.anyio
async def test_of_many_that_come_with_a_grant_one_gets_in(
    sign_ins: SignIns, elsewhere: SignIns
) -> None:
    started = await sign_ins.start("acme")

    tries = await asyncio.gather(*(each.enter(started.grant) for each in [sign_ins, elsewhere] * 4))

    (entered,) = [each for each in tries if each is not None]
    text, sign_in = entered
    assert sign_in.state == "open"
    assert await elsewhere.by_cookie(text, "acme") == (started.id, sign_in)
    assert await elsewhere.by_id(started.id) == sign_in


@pytest.mark.anyio
async def test_of_many_that_finish_one_gets_the_cookies(
    sign_ins: SignIns, elsewhere: SignIns
) -> None:
    id, _ = await begun(sign_ins)
    await sign_ins.note(id, {}, {}, "session=canary")

    async def finish(there: SignIns) -> str:
        try:
            async with there.finishing(id) as (provider, cookies):
                return f"{provider} {cookies}"
        except NotFound:
            return ""

    done = await asyncio.gather(*(finish(each) for each in [sign_ins, elsewhere] * 10))

    assert sorted(done) == [""] * 19 + ["acme session=canary"]


@pytest.mark.anyio
async def test_a_sign_in_whose_account_was_refused_can_be_finished_again(
    sign_ins: SignIns, elsewhere: SignIns, clock: Clock
) -> None:
    id, cookie = await begun(sign_ins)
    await sign_ins.note(id, {}, {}, "session=canary")

    clock.now += LIFETIME - 10
    with pytest.raises(Refused):
        async with sign_ins.finishing(id):
            raise Refused("the name is taken")

    async with elsewhere.finishing(id) as (_, cookies):
        assert cookies == "session=canary"
    assert await sign_ins.by_cookie(cookie, "acme") is None


@pytest.mark.anyio
async def test_a_refusal_makes_no_sign_in_last_longer(sign_ins: SignIns, clock: Clock) -> None:
    id, _ = await begun(sign_ins)
    await sign_ins.note(id, {}, {}, "session=canary")
    clock.now += LIFETIME - 10
    with pytest.raises(Refused):
        async with sign_ins.finishing(id):
            raise Refused("the name is taken")

    clock.now += 10

    assert await sign_ins.by_id(id) is None
    with pytest.raises(NotFound):
        async with sign_ins.finishing(id):
            pass


@pytest.mark.anyio
async def test_pages_that_are_served_at_once_keep_what_the_others_changed(
    sign_ins: SignIns, elsewhere: SignIns
) -> None:
    id, cookie = await begun(sign_ins)
    before = {"jar": {"a": 1, "b": 1}, "gone": b"x"}
    await sign_ins.note(id, {}, before, None)

    await asyncio.gather(
        sign_ins.note(id, before, {"jar": {"a": 2, "b": 1}, "gone": b"x"}, None),
        elsewhere.note(id, before, {"jar": {"a": 1, "b": 1, "c": 1}}, "session=canary"),
        sign_ins.note(id, before, {**before, "form": b"\xff"}, None),
    )

    found = await sign_ins.by_cookie(cookie, "acme")
    assert found is not None
    assert read_memory(found[1].memory) == {"jar": {"a": 2, "b": 1, "c": 1}, "form": b"\xff"}
    assert found[1].captured == "session=canary"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "value", [object(), "x" * LONGEST_MEMORY, 2**70], ids=["object", "long", "number"]
)
async def test_a_plugin_cannot_store_just_anything(sign_ins: SignIns, value: object) -> None:
    id, _ = await begun(sign_ins)

    with pytest.raises(PluginBroken):
        await sign_ins.note(id, {}, {"value": value}, None)

    sign_in = await sign_ins.by_id(id)
    assert sign_in is not None
    assert sign_in.memory == b""


@pytest.mark.anyio
async def test_texts_are_long_random_and_different(sign_ins: SignIns) -> None:
    started = [await sign_ins.start("acme") for _ in range(50)]
    texts = {text for each in started for text in (each.id, each.grant)}

    assert len(texts) == 100
    assert min(map(len, texts)) * 6 >= 128


@pytest.mark.anyio
async def test_a_grant_lasts_two_minutes(sign_ins: SignIns, clock: Clock) -> None:
    started = await sign_ins.start("acme")

    clock.now += GRANT_LIFETIME - 1
    assert await sign_ins.is_granted(started.grant)
    clock.now += 1

    assert started.grant_expires_at == clock.now
    assert not await sign_ins.is_granted(started.grant)
    assert await sign_ins.enter(started.grant) is None


@pytest.mark.anyio
async def test_a_sign_in_ends_ten_minutes_after_it_began(sign_ins: SignIns, clock: Clock) -> None:
    started = await sign_ins.start("acme")
    clock.now += GRANT_LIFETIME - 1
    entered = await sign_ins.enter(started.grant)
    assert entered is not None

    clock.now += LIFETIME - GRANT_LIFETIME + 1

    assert await sign_ins.by_cookie(entered[0], "acme") is None
    assert await sign_ins.by_id(started.id) is None


@pytest.mark.anyio
async def test_a_text_is_good_for_its_own_purpose_and_provider_only(sign_ins: SignIns) -> None:
    started = await sign_ins.start("acme")
    other = await sign_ins.start("acme")
    entered = await sign_ins.enter(started.grant)
    assert entered is not None
    text = entered[0]

    assert await sign_ins.by_cookie(text, "other") is None
    assert await sign_ins.by_cookie(None, "acme") is None
    for wrong in ("", started.id, started.grant, other.grant, text + "x"):
        assert await sign_ins.by_cookie(wrong, "acme") is None
    for wrong in (text, started.id, other.id):
        assert await sign_ins.enter(wrong) is None
    for wrong in (text, started.grant, other.grant):
        assert await sign_ins.by_id(wrong) is None


@pytest.mark.anyio
async def test_a_sign_in_that_is_over_leaves_no_way_in(
    sign_ins: SignIns, elsewhere: SignIns
) -> None:
    ended, unused = await begun(sign_ins), await sign_ins.start("acme")
    kept, _ = await begun(sign_ins)

    assert await elsewhere.end(ended[0])
    assert await elsewhere.end(unused.id)

    assert not await sign_ins.end(ended[0])
    assert await sign_ins.by_id(ended[0]) is None
    assert await sign_ins.by_cookie(ended[1], "acme") is None
    assert not await sign_ins.is_granted(unused.grant)
    assert await sign_ins.enter(unused.grant) is None
    assert await sign_ins.by_id(kept) is not None


@pytest.mark.anyio
async def test_only_so_many_are_under_way(
    sign_ins: SignIns, core: Collaborators, clock: Clock
) -> None:
    first = await sign_ins.start("acme")
    clock.now += 1

    for number in range(MOST + 10):
        await begun(sign_ins)
        assert await sign_ins.enter(f"guess {number}") is None
        assert await sign_ins.by_cookie(f"guess {number}", "acme") is None

    assert await sign_ins.by_id(first.id) is None
    assert not await sign_ins.is_granted(first.grant)
    rows = await core.stores.database.fetch("SELECT purpose, count(*) AS n FROM tickets GROUP BY 1")
    assert {row["purpose"]: row["n"] for row in rows} == {
        "web-login": MOST,
        "web-login-grant": 1,
        "web-login-cookie": MOST,
    }


@pytest.mark.anyio
async def test_nothing_secret_is_in_the_text_of_a_sign_in_or_in_the_database(
    sign_ins: SignIns, core: Collaborators
) -> None:
    started = await sign_ins.start("acme")
    await sign_ins.note(started.id, {}, {"password": "canary"}, "canary")

    sign_in = await sign_ins.by_id(started.id)

    assert sign_in is not None
    assert sign_in.captured == "canary"
    assert "canary" not in repr(sign_in)
    assert started.grant not in repr(started)
    rows = str(await core.stores.database.fetch("SELECT * FROM tickets"))
    for secret in ("canary", "acme", started.id, started.grant):
        assert secret not in rows


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
