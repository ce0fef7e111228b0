"""What is believed of an OpenID provider, and what is not."""

import base64
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from joserfc import jws, jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey
from joserfc.jws import JWSRegistry

from gateway_core.config.settings import Settings, read_settings
from gateway_dashboard_api.login.oidc_protocol import (
    Journey,
    OidcClient,
    OidcFailed,
    Person,
    active_client,
    authorization_url,
    begin,
    client_of,
    discovery_url,
    read_error,
    read_person,
    read_provider,
    token_form,
)

ISSUER = "https://id.example"
NOW = 1_800_000_000
RSA = RSAKey.generate_key(2048, {"kid": "r", "use": "sig"})
CURVE = ECKey.generate_key("P-256", {"kid": "e", "use": "sig"})
STRANGER = RSAKey.generate_key(2048, {"kid": "r"})
CLIENT = OidcClient(issuer=ISSUER, id="gateway", secret="secret-canary-of-the-client-0123456789")
DOCUMENT = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize?tenant=1",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
    "scopes_supported": ["openid"],
}
PROVIDER = read_provider(msgspec.json.encode(DOCUMENT), ISSUER)
KEYS = msgspec.json.encode(KeySet([RSA, CURVE]).as_dict())
SOUND = {
    "iss": ISSUER,
    "aud": "gateway",
    "sub": "42",
    "iat": NOW,
    "exp": NOW + 300,
    "preferred_username": "ada",
    "email": "ada@id.example",
}


@pytest.fixture(scope="module")
def journey() -> Journey:
    return begin(PROVIDER, CLIENT, "https://gateway.example/back", "/dashboard")


def answer(token: str) -> bytes:
    return msgspec.json.encode({"access_token": "a", "token_type": "Bearer", "id_token": token})


def signed(claims: dict[str, Any], key: Any = RSA, algorithm: str = "RS256", **header: Any) -> str:
    head = {"alg": algorithm, "kid": key.kid, **header}
    return jwt.encode(head, claims, key, algorithms=[algorithm])


def read(token: str, journey: Journey, keys: bytes = KEYS) -> Person:
    return read_person(answer(token), keys, journey, NOW)


@pytest.mark.parametrize(("key", "algorithm"), [(RSA, "RS256"), (RSA, "PS384"), (CURVE, "ES256")])
def test_a_sound_token_says_who_it_is(journey: Journey, key: Any, algorithm: str) -> None:
    token = signed({**SOUND, "nonce": journey.nonce}, key, algorithm)

    assert read(token, journey) == Person("ada", "ada@id.example")


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"email": "e", "name": "n", "given_name": "g"}, "e"),
        ({"name": "n", "given_name": "g"}, "n"),
        ({"given_name": "g", "preferred_username": 7}, "g"),
        ({}, "42"),
    ],
)
def test_the_best_name_is_taken(journey: Journey, claims: dict[str, Any], name: str) -> None:
    plain = {key: SOUND[key] for key in ("iss", "aud", "sub", "iat", "exp")}

    assert read(signed({**plain, **claims, "nonce": journey.nonce}), journey).name == name


def test_a_header_nobody_knows_does_no_harm(journey: Journey) -> None:
    token = signed({**SOUND, "nonce": journey.nonce}, x5t="abc", typ="JWT")

    assert read(token, journey).name == "ada"


def test_a_token_that_makes_conditions_is_refused(journey: Journey) -> None:
    text = msgspec.json.encode({**SOUND, "nonce": journey.nonce})
    head = {"alg": "RS256", "kid": RSA.kid, "crit": ["b64"], "b64": True}
    token = jws.serialize_compact(head, text, RSA, registry=JWSRegistry(strict_check_header=False))

    with pytest.raises(OidcFailed):
        read(token, journey)


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://evil.example"},
        {"iss": f"{ISSUER}/"},
        {"iss": None},
        {"aud": "somebody"},
        {"aud": ["gateway", "somebody"]},
        {"aud": ["gateway", "somebody"], "azp": "somebody"},
        {"azp": "somebody"},
        {"aud": None},
        {"sub": None},
        {"exp": NOW - 61},
        {"exp": None},
        {"iat": NOW + 61},
        {"iat": None},
        {"nbf": NOW + 61},
        {"nonce": "another"},
        {"nonce": None},
        {"nonce": ""},
    ],
    ids=str,
)
def test_a_token_with_one_wrong_claim_is_not_believed(
    journey: Journey, change: dict[str, Any]
) -> None:
    sound = {**SOUND, "nonce": journey.nonce}
    read(signed(sound), journey)
    claims = {key: value for key, value in {**sound, **change}.items() if value is not None}

    with pytest.raises(OidcFailed):
        read(signed(claims), journey)


def test_a_token_of_another_key_is_not_believed(journey: Journey) -> None:
    with pytest.raises(OidcFailed):
        read(signed({**SOUND, "nonce": journey.nonce}, STRANGER), journey)


def test_the_client_secret_signs_nothing(journey: Journey) -> None:
    key = OctKey.import_key(CLIENT.secret.encode(), {"kid": "o"})
    keys = msgspec.json.encode({"keys": [key.as_dict(private=True), RSA.as_dict()]})

    with pytest.raises(OidcFailed):
        read(signed({**SOUND, "nonce": journey.nonce}, key, "HS256"), journey, keys)


def test_a_public_key_is_no_shared_secret(journey: Journey) -> None:
    claims = msgspec.json.encode({**SOUND, "nonce": journey.nonce})
    key = OctKey.import_key(msgspec.json.encode(RSA.as_dict()), {"kid": "r"})
    token = signed(msgspec.json.decode(claims), key, "HS256")

    with pytest.raises(OidcFailed):
        read(token, journey)


def test_an_unsigned_token_is_not_believed(journey: Journey) -> None:
    parts = [{"alg": "none"}, {**SOUND, "nonce": journey.nonce}]
    coded = [base64.urlsafe_b64encode(msgspec.json.encode(p)).rstrip(b"=").decode() for p in parts]

    with pytest.raises(OidcFailed):
        read(".".join([*coded, ""]), journey)


@pytest.mark.parametrize(
    "tokens", [b"", b"[]", b"{}", b'{"id_token": 7}', b'{"id_token": "a.b.c"}', b"\xff"]
)
def test_an_answer_without_a_token_is_refused(journey: Journey, tokens: bytes) -> None:
    with pytest.raises(OidcFailed):
        read_person(tokens, KEYS, journey, NOW)


@pytest.mark.parametrize(
    "keys",
    [
        *(b"", b"[]", b"{}", b'{"keys": 7}', b'{"keys": []}', b'{"keys": ["x", null]}'),
        b'{"keys": [{"kty": "RSA", "n": "x"}]}',
        msgspec.json.encode({"keys": [{**RSA.as_dict(), "use": "enc"}]}),
    ],
)
def test_a_key_set_of_no_use_is_refused(journey: Journey, keys: bytes) -> None:
    with pytest.raises(OidcFailed):
        read(signed({**SOUND, "nonce": journey.nonce}), journey, keys)


def test_the_browser_is_sent_with_state_nonce_and_challenge(journey: Journey) -> None:
    url = urlsplit(authorization_url(journey, "openid email", "the-state"))
    query = {name: values[0] for name, values in parse_qs(url.query).items()}

    assert f"{url.scheme}://{url.netloc}{url.path}" == f"{ISSUER}/authorize"
    challenge = query.pop("code_challenge")
    assert query == {
        "tenant": "1",
        "response_type": "code",
        "client_id": "gateway",
        "redirect_uri": "https://gateway.example/back",
        "scope": "openid email",
        "state": "the-state",
        "nonce": journey.nonce,
        "code_challenge_method": "S256",
    }
    assert journey.verifier not in url.query
    assert len(challenge) == 43


def test_journeys_are_random_and_tell_nothing_of_themselves(journey: Journey) -> None:
    other = begin(PROVIDER, CLIENT, "", "/")

    assert (len(journey.verifier), len(journey.nonce)) == (43, 22)
    assert other.nonce != journey.nonce
    assert other.verifier != journey.verifier
    assert journey.verifier not in repr(journey)
    assert CLIENT.secret not in repr(CLIENT)


def test_a_code_is_shown_with_the_secret_and_the_verifier() -> None:
    form = parse_qs(token_form(CLIENT, "the code", "https://g/back", "v").decode())

    assert {name: values[0] for name, values in form.items()} == {
        "grant_type": "authorization_code",
        "code": "the code",
        "redirect_uri": "https://g/back",
        "client_id": "gateway",
        "client_secret": CLIENT.secret,
        "code_verifier": "v",
    }


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": None},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
)
def test_a_discovery_document_that_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    whole = {**DOCUMENT, **change}
    body = msgspec.json.encode({key: value for key, value in whole.items() if value is not None})

    with pytest.raises(OidcFailed):
        read_provider(body, ISSUER)


def test_a_slash_at_the_end_of_the_issuer_changes_nothing() -> None:
    assert discovery_url(ISSUER) == discovery_url(f"{ISSUER}/")
    assert read_provider(msgspec.json.encode(DOCUMENT), f"{ISSUER}/") == PROVIDER


@pytest.mark.parametrize(
    ("body", "error"),
    [(b'{"error": "invalid_grant"}', "invalid_grant"), (b"[]", ""), (b"<html>", ""), (b"7", "")],
)
def test_a_providers_own_word_for_a_failure_is_read(body: bytes, error: str) -> None:
    assert read_error(body) == error


def settings(**changes: Any) -> Settings:
    stored = {
        "oidcIssuerUrl": ISSUER,
        "oidcClientId": "gateway",
        "oidcClientSecret": "secret-canary",
        **changes,
    }
    return read_settings(stored)


@pytest.mark.parametrize(("mode", "offered"), [("password", False), ("oidc", True), ("both", True)])
def test_it_is_offered_where_the_mode_says_so(mode: str, offered: bool) -> None:
    assert (active_client(settings(authMode=mode)) is not None) is offered


@pytest.mark.parametrize("name", ["oidcIssuerUrl", "oidcClientId", "oidcClientSecret"])
def test_it_is_not_offered_while_something_is_missing(name: str) -> None:
    assert client_of(settings()) is not None
    assert client_of(settings(**{name: ""})) is None
