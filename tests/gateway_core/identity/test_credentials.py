"""From headers to a caller."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parametrize_ids import parametrize_id
from snapshots import Clock

from gateway_core.config.settings import Settings
from gateway_core.contracts.errors import Forbidden, InvalidKey, MissingKey
from gateway_core.identity.caller import Caller, Session
from gateway_core.identity.credentials import (
    CLI_HEADER,
    Identity,
    check_key,
    check_origin,
    cli_token,
    cookie,
    is_same_origin,
    origin_of,
    own_origin,
)
from gateway_core.identity.keys import KeyTable, Mint
from gateway_core.identity.peers import Peer, stamp
from gateway_core.storage.stores.keys import ApiKey

MINT = Mint("a secret", "0123456789abcdef", b"index key", lambda alphabet: alphabet[0])
TOKEN = cli_token("machine", "secret")
GOOD, PAUSED, EXPIRED = MINT.new(), "sk-paused00", "sk-expired0"
CLOCK = Clock()
HERE = ("127.0.0.1", 1)
AWAY = Peer("192.0.2.7", via_proxy=False, is_loopback=False)


def row(text: str, *, is_active: bool = True, expires_at: str | None = None) -> ApiKey:
    return ApiKey(
        id=text,
        name="k",
        machine_id=MINT.machine_id,
        digest=MINT.digest(text).hex(),
        is_active=is_active,
        expires_at=expires_at,
        allowed_combos=(),
        policy={},
        daily_limit_tokens=None,
        provider_connection_ids=(),
        created_at="",
        updated_at="",
        version=1,
    )


def identity() -> Identity:
    keys = KeyTable(MINT)
    expired = row(EXPIRED, expires_at="2020-01-01T00:00:00.000Z")
    keys.take([row(GOOD), row(PAUSED, is_active=False), expired])
    sessions = {"good": Session(name="Ada")}
    return Identity(keys=keys, cli_token=TOKEN, read_session=sessions.get, clock=CLOCK)


def received(
    headers: dict[str, str] | None = None, query: bytes = b"", *, require_login: bool = True
) -> Caller:
    """Who a request from this machine is from."""
    sent = {"host": "127.0.0.1", **(headers or {})}
    scope = {"client": HERE, "headers": [], "query_string": query}
    peer = stamp(scope, sent)
    return identity().operator(scope, sent, peer, Settings(require_login=require_login))


def bearer(text: str) -> dict[str, str]:
    return {"authorization": f"Bearer {text}"}


def test_the_token_of_the_command_line_is_half_a_hash_of_machine_salt_and_secret() -> None:
    wanted = hashlib.sha256(b"machinegateway-cli-authsecret").hexdigest()[:16]

    assert wanted == TOKEN


@pytest.mark.parametrize(
    "shown",
    [
        "",
        TOKEN[:-1],
        TOKEN.upper(),
        TOKEN * 2,
        f" {TOKEN}",
        f"{TOKEN}\x00",
        "é" * 16,
        "0" * 16,
        cli_token("machine", "another secret"),
        cli_token("another machine", "secret"),
    ],
    ids=repr,
)
def test_only_the_very_token_is_the_command_lines(shown: str) -> None:
    assert not received({CLI_HEADER: shown}).is_cli
    assert received({CLI_HEADER: TOKEN}).is_cli


@pytest.mark.parametrize("name", ["cookie", "authorization", "x-api-key"])
def test_the_token_counts_in_its_own_header_only(name: str) -> None:
    assert not received({name: TOKEN}).is_cli
    assert not received(query=f"key={TOKEN}".encode()).is_cli


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        (bearer(GOOD), b""),
        ({"authorization": f"bearer  {GOOD} "}, b""),
        ({"x-api-key": GOOD}, b""),
        ({"x-alt-api-key": GOOD}, b""),
        ({"x-goog-api-key": GOOD}, b""),
        ({}, f"key={GOOD}".encode()),
        ({}, f"a=b&key=&key={GOOD}".encode()),
        ({**bearer("sk-stale000"), "x-api-key": GOOD}, b""),
        ({**bearer(PAUSED), "x-api-key": EXPIRED}, f"key={GOOD}".encode()),
    ],
    ids=parametrize_id,
)
def test_a_good_key_is_found_wherever_it_is_shown(headers: dict[str, str], query: bytes) -> None:
    found = received(headers, query)

    assert found.key is not None
    assert (found.key.id, found.has_shown, found.was_refused) == (GOOD, True, False)


@pytest.mark.parametrize(
    ("headers", "query", "was_refused"),
    [
        ({}, b"", None),
        ({"authorization": f"Basic {GOOD}"}, b"", None),
        ({"authorization": GOOD}, b"", None),
        ({"x-api-key": " "}, b"", None),
        ({}, f"Key={GOOD}".encode(), None),
        (bearer("sk-unknown0"), b"", False),
        (bearer(GOOD[:-1] + "0"), b"", False),
        (bearer(GOOD + "x" * 300), b"", False),
        (bearer(PAUSED), b"", True),
        (bearer(EXPIRED), b"", True),
    ],
    ids=parametrize_id,
)
def test_anything_else_is_no_key(
    headers: dict[str, str], query: bytes, was_refused: bool | None
) -> None:
    found = received(headers, query)

    assert found.key is None
    assert found.has_shown is (was_refused is not None)
    assert found.was_refused is bool(was_refused)


def test_many_other_parameters_hide_no_key_and_break_nothing() -> None:
    others = b"&".join([b"a=b"] * 2000)

    assert received(query=others + f"&key={GOOD}".encode()).key is not None
    assert received(query=b"key=nothing&" + others).key is None


def test_only_so_many_candidates_are_looked_at() -> None:
    many = b"&".join([b"key=sk-x0000000"] * 8)

    assert received(query=many + f"&key={GOOD}".encode()).key is None


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=300))
def test_no_header_makes_the_look_up_fail(text: str) -> None:
    found = received({**bearer(text), "x-api-key": text, CLI_HEADER: text, "cookie": text})

    assert (found.key, found.session, found.is_cli) == (None, None, False)


def test_a_session_is_read_from_its_cookie() -> None:
    found = received({"cookie": "a=b; auth_token=good; c=d"})

    assert found.session is not None
    assert found.session.name == "Ada"
    assert received({"cookie": "auth_token=bad"}).session is None
    assert received({"cookie": "auth_token=" + "x" * 5000}).session is None
    assert received({"cookie": "my_auth_token=good"}).session is None
    assert received({"auth_token": "good"}).session is None


def test_nobodys_session_counts_on_client_routes() -> None:
    headers = {"host": "127.0.0.1", "cookie": "auth_token=good"}

    assert identity().client({"headers": []}, headers, AWAY).session is None


def test_the_dashboard_is_open_on_this_machine_while_no_login_is_required() -> None:
    assert received(require_login=False).is_open
    assert not received(require_login=True).is_open
    assert not received({"host": "rebind.example:20128"}, require_login=False).is_open
    assert not received({"origin": "https://evil.example"}, require_login=False).is_open
    assert not received({"x-forwarded-for": "127.0.0.1"}, require_login=False).is_open


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=1", "1"),
        ("b=2; a=1", "1"),
        ('a="1"', "1"),
        ("b=2", None),
        ("", None),
        ("a", None),
    ],
)
def test_one_cookie_is_read_by_its_name(text: str, value: str | None) -> None:
    assert cookie({"cookie": text}, "a") == value
    assert cookie({}, "a") is None


LOCAL = Caller(peer=AWAY, is_local=True)
REMOTE = Caller(peer=AWAY)


@pytest.mark.parametrize(
    ("caller", "required", "refused"),
    [
        (received(bearer(GOOD)), True, None),
        (Caller(peer=AWAY, is_cli=True), True, None),
        (LOCAL, False, None),
        (received(bearer("sk-placeholder")), False, None),
        (LOCAL, True, MissingKey),
        (received(bearer("sk-placeholder")), True, InvalidKey),
        (received(bearer(PAUSED)), False, InvalidKey),
        (received(bearer(EXPIRED)), False, InvalidKey),
        (received(bearer(EXPIRED)), True, InvalidKey),
        (REMOTE, False, MissingKey),
        (Caller(peer=AWAY, has_shown=True), False, InvalidKey),
    ],
    ids=parametrize_id,
)
def test_whether_a_client_needs_a_key(
    caller: Caller, required: bool, refused: type[Exception] | None
) -> None:
    reported = None
    try:
        check_key(caller, required=required)
    except (MissingKey, InvalidKey) as error:
        reported = type(error)

    assert reported is refused


OWN = "http://127.0.0.1:20128"


@pytest.mark.parametrize(
    ("headers", "is_same"),
    [
        ({}, True),
        ({"origin": OWN}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"origin": ""}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://127.0.0.1"}, False),
        ({"origin": "http://127.0.0.1:20127"}, False),
        ({"origin": "https://127.0.0.1:20128"}, False),
        ({"origin": "http://localhost:20128"}, False),
        ({"origin": "http://127.0.0.1:20128.evil.example"}, False),
        ({"origin": "http://127.0.0.1:20128@evil.example"}, False),
        ({"origin": "http://user@127.0.0.1:20128"}, False),
        ({"origin": "http://[::1"}, False),
    ],
    ids=parametrize_id,
)
def test_a_page_of_another_origin_is_told_apart(headers: dict[str, str], is_same: bool) -> None:
    assert is_same_origin(headers, OWN) is is_same
    assert is_same_origin(headers, OWN, needed=True) is (headers.get("origin") == OWN)


def test_an_origin_that_nobody_can_read_is_nobodys_own() -> None:
    assert not is_same_origin({"origin": "null"}, "")


def test_a_foreign_page_may_not_use_the_operators_cookie() -> None:
    foreign = {"origin": "https://evil.example"}
    person = Caller(peer=AWAY, session=Session())

    check_origin(person, {"origin": OWN}, OWN)
    check_origin(Caller(peer=AWAY), foreign, OWN)
    check_origin(Caller(peer=AWAY, is_cli=True, session=Session()), foreign, OWN)
    with pytest.raises(Forbidden):
        check_origin(person, foreign, OWN)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Gateway.Example", "https://gateway.example:443"),
        ("http://gateway.example/path?x", "http://gateway.example:80"),
        (" http://[::1]:8080 ", "http://[::1]:8080"),
        ("ftp://gateway.example", ""),
        ("gateway.example", ""),
        ("http://user:pw@gateway.example", ""),
        ("http://gateway.example:99999", ""),
        ("", ""),
    ],
)
def test_an_origin_has_one_spelling(url: str, origin: str) -> None:
    assert origin_of(url) == origin


def test_the_gateways_own_origin_is_the_configured_one_or_the_one_asked_for() -> None:
    headers = {"host": "gateway.example:8080"}

    assert own_origin({"scheme": "https"}, headers, "") == "https://gateway.example:8080"
    assert own_origin({}, headers, "https://public.example/") == "https://public.example:443"
