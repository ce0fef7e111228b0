"""Signing in with a service account, and what is sent with the other kinds of key."""

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from fake_google import TOKEN_URL, Clock, Google
from gateway_provider_vertex.executor import VertexExecutor

from gateway_core import Credential, UpstreamError, UpstreamRequest

KeyFile = Callable[..., dict[str, Any]]
MODEL_URL = "https://aiplatform.googleapis.com/v1/projects/p/locations/global"


@pytest.fixture
def executor(clock: Clock) -> VertexExecutor:
    return VertexExecutor(clock)


def account(secret: str | None = None, **data: Any) -> Credential:
    return Credential(connection_id="a", secret=secret, data=data)


def request_of(credential: Credential) -> UpstreamRequest:
    """A request as the gateway builds it, with the account's secret for a bearer token."""
    headers = {"content-type": "application/json"}
    if credential.secret is not None:
        headers["authorization"] = f"Bearer {credential.secret}"
    return UpstreamRequest(url=MODEL_URL, headers=headers, body=b'{"a":1}')


def send(executor: VertexExecutor, google: Google, *credentials: Credential) -> None:
    """Send a request for each account, all at once."""

    async def all_at_once() -> None:
        sent = (executor.send(request_of(each), each, google) for each in credentials)
        await asyncio.gather(*sent)

    asyncio.run(all_at_once())


def bearers(google: Google) -> list[str | None]:
    return [request.headers.get("authorization") for request in google.received]


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@pytest.mark.parametrize("place", ["secret", "data", "data as text"])
def test_a_service_account_is_traded_for_a_token(
    executor: VertexExecutor, google: Google, key_file: KeyFile, place: str
) -> None:
    document = msgspec.json.encode(key_file()).decode()
    given = {
        "secret": account(document),
        "data": account(serviceAccount=key_file()),
        "data as text": account(serviceAccount=document),
    }

    send(executor, google, given[place])

    [request] = google.received
    assert request.headers == {
        "content-type": "application/json",
        "authorization": "Bearer token-1",
    }
    assert (request.url, request.body) == (MODEL_URL, b'{"a":1}')


def test_the_statement_is_what_the_vendor_asks_for(
    executor: VertexExecutor,
    google: Google,
    clock: Clock,
    key_file: KeyFile,
    private_key: rsa.RSAPrivateKey,
) -> None:
    send(executor, google, account(serviceAccount=key_file()))

    head, claims, signature = google.statement().split(".")
    private_key.public_key().verify(
        decoded(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256()
    )
    assert msgspec.json.decode(decoded(head)) == {"alg": "RS256", "typ": "JWT", "kid": "key-1"}
    assert msgspec.json.decode(decoded(claims)) == {
        "iss": "robot@project-1.iam.gserviceaccount.com",
        "scope": "https://www.googleapis.com/auth/cloud-platform",
        "aud": TOKEN_URL,
        "iat": int(clock.now),
        "exp": int(clock.now) + 3600,
    }


def test_a_token_is_used_until_a_minute_before_it_expires(
    executor: VertexExecutor, google: Google, clock: Clock, key_file: KeyFile
) -> None:
    robot = account(serviceAccount=key_file())

    for moment in (0, 3539, 1):
        clock.now += moment
        send(executor, google, robot)

    assert bearers(google) == ["Bearer token-1", "Bearer token-1", "Bearer token-2"]


def test_however_many_ask_at_once_one_signs_in(
    executor: VertexExecutor, google: Google, key_file: KeyFile
) -> None:
    send(executor, google, *[account(serviceAccount=key_file())] * 20)

    assert len(google.signed_in) == 1
    assert bearers(google) == ["Bearer token-1"] * 20


def test_when_the_one_who_signs_in_leaves_another_does(
    executor: VertexExecutor, google: Google, key_file: KeyFile
) -> None:
    robot = account(serviceAccount=key_file())

    async def leave_and_stay() -> None:
        google.gate = asyncio.Event()
        leaver = asyncio.create_task(executor.send(request_of(robot), robot, google))
        stayer = asyncio.create_task(executor.send(request_of(robot), robot, google))
        while not google.signed_in:
            await asyncio.sleep(0)
        leaver.cancel()
        google.gate.set()
        await stayer

    asyncio.run(leave_and_stay())

    assert bearers(google) == ["Bearer token-2"]


def test_each_account_has_a_token_of_its_own(
    executor: VertexExecutor, google: Google, key_file: KeyFile
) -> None:
    one, other = key_file(), key_file(client_email="other@project-2.iam.gserviceaccount.com")

    send(executor, google, account(serviceAccount=one))
    send(executor, google, account(serviceAccount=other))
    send(executor, google, account(serviceAccount=one))

    assert bearers(google) == ["Bearer token-1", "Bearer token-2", "Bearer token-1"]


def test_a_token_that_is_no_longer_taken_is_forgotten(
    executor: VertexExecutor, google: Google, key_file: KeyFile
) -> None:
    robot = account(serviceAccount=key_file())
    google.model_status = 401

    send(executor, google, robot)
    send(executor, google, robot)

    assert bearers(google) == ["Bearer token-1", "Bearer token-2"]


def test_a_refused_sign_in_is_the_accounts_fault(
    executor: VertexExecutor, google: Google, key_file: KeyFile
) -> None:
    google.sign_in = (
        400,
        b'{"error":"invalid_grant","error_description":"Invalid JWT Signature."}',
    )

    with pytest.raises(UpstreamError, match=r"Invalid JWT Signature\.") as caught:
        send(executor, google, account(serviceAccount=key_file()))

    assert (caught.value.status, caught.value.code) == (401, "invalid_grant")
    assert google.received == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_haste_and_outages_are_not(
    executor: VertexExecutor, google: Google, key_file: KeyFile, status: int
) -> None:
    google.sign_in = (status, b"<html>")

    with pytest.raises(UpstreamError) as caught:
        send(executor, google, account(serviceAccount=key_file()))

    assert caught.value.status == status


def test_an_answer_that_is_no_token_is_an_error(
    executor: VertexExecutor, google: Google, key_file: KeyFile
) -> None:
    google.sign_in = (200, b'{"id_token": "x"}')

    with pytest.raises(UpstreamError, match="something else"):
        send(executor, google, account(serviceAccount=key_file()))


def test_every_answer_of_the_token_server_is_closed(
    executor: VertexExecutor, google: Google, key_file: KeyFile
) -> None:
    google.sign_in = (500, b"x" * 1000)

    with pytest.raises(UpstreamError):
        send(executor, google, account(serviceAccount=key_file()))

    assert [answer.closed for answer in google.answers] == [True]


def elliptic_key() -> str:
    """A good key, but of another sort."""
    return (
        ec.generate_private_key(ec.SECP256R1())
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        .decode()
    )


@pytest.mark.parametrize("kind", ["nothing", "words", "another sort"])
def test_a_private_key_that_is_none_is_not_repeated(
    executor: VertexExecutor, google: Google, key_file: KeyFile, kind: str
) -> None:
    key = {"nothing": "", "words": "swordfish", "another sort": elliptic_key()}[kind]

    with pytest.raises(UpstreamError, match="private key cannot be used") as caught:
        send(executor, google, account(serviceAccount=key_file(private_key=key)))

    assert caught.value.status == 401
    assert "swordfish" not in caught.value.message
    assert google.signed_in == []


@pytest.mark.parametrize(
    "document", ['{"private_key": "swordfish"}', '{"private_key": swordfish}', "{"]
)
def test_a_key_file_that_is_none_is_not_repeated(
    executor: VertexExecutor, google: Google, document: str
) -> None:
    with pytest.raises(UpstreamError, match="key file") as caught:
        send(executor, google, account(document))

    assert "swordfish" not in caught.value.message
    assert caught.value.__suppress_context__


def test_an_access_token_goes_as_it_is(executor: VertexExecutor, google: Google) -> None:
    send(executor, google, account("ya29.a0Example"))

    assert bearers(google) == ["Bearer ya29.a0Example"]
    assert google.signed_in == []


@pytest.mark.parametrize("key", ["AIzaSyExample", "AQ.Example"])
def test_an_api_key_goes_in_a_header_of_its_own(
    executor: VertexExecutor, google: Google, key: str
) -> None:
    send(executor, google, account(key))

    [request] = google.received
    assert request.headers == {"content-type": "application/json", "x-goog-api-key": key}


def test_without_a_key_nothing_is_shown(executor: VertexExecutor, google: Google) -> None:
    send(executor, google, account())

    assert bearers(google) == [None]
