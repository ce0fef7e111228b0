"""Signing, against an independent reckoning that is itself checked by the published vector."""

import hashlib
import hmac
import inspect
from collections.abc import Mapping
from typing import Any

import pytest
from gateway_provider_bedrock import BEDROCK
from gateway_provider_bedrock.addresses import address

from gateway_core import (
    BadRequest,
    Credential,
    Executor,
    Model,
    Target,
    Transport,
    UpstreamError,
    UpstreamRequest,
    UpstreamResponse,
)

TARGET = Target(BEDROCK, Model("m"))
URL = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.a%3A0/converse"
BODY = b'{"messages":[]}'
HEADERS = {"content-type": "application/json", "authorization": "Bearer from the kernel"}
KEYS = {"accessKeyId": "AKID", "secretAccessKey": "SECRET", "region": "eu-west-1"}


def digest(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(
    path: str, headers: Mapping[str, str], body: bytes, secret: str, region: str, service: str
) -> str:
    """Signature version 4 of a POST, as https://docs.aws.amazon.com/IAM explains it."""
    time = headers["x-amz-date"]
    lines = "".join(f"{name}:{headers[name].strip()}\n" for name in sorted(headers))
    names = ";".join(sorted(headers))
    request = f"POST\n{path}\n\n{lines}\n{names}\n{hashlib.sha256(body).hexdigest()}"
    scope = f"{time[:8]}/{region}/{service}/aws4_request"
    hashed = hashlib.sha256(request.encode()).hexdigest()
    key = f"AWS4{secret}".encode()
    for word in scope.split("/"):
        key = digest(key, word)
    return digest(key, f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{hashed}").hex()


def test_our_reckoning_is_that_of_the_published_vector() -> None:
    headers = {"host": "example.amazonaws.com", "x-amz-date": "20150830T123600Z"}
    secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

    assert (
        signature("/", headers, b"", secret, "us-east-1", "service")
        == "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
    )


class Outbox(Transport):
    """Keeps what is sent and answers nothing."""

    def __init__(self) -> None:
        self.sent: list[UpstreamRequest] = []

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        self.sent.append(request)
        raise ConnectionError


async def headers_for(**account: Any) -> Mapping[str, str]:
    """The headers with which a request of this account leaves."""
    assert BEDROCK.executor is not None
    outbox = Outbox()
    request = UpstreamRequest(url=URL, headers=HEADERS, body=BODY)
    with pytest.raises(ConnectionError):
        await BEDROCK.executor.send(request, Credential(connection_id="c", **account), outbox)
    (sent,) = outbox.sent
    assert (sent.url, sent.body, sent.method) == (URL, BODY, "POST")
    return sent.headers


def run(awaitable: Any) -> Any:
    import asyncio

    return asyncio.run(awaitable)


def test_access_keys_sign_the_request() -> None:
    headers = run(headers_for(data=KEYS))

    signed = {
        "content-type": "application/json",
        "host": "bedrock-runtime.eu-west-1.amazonaws.com",
        "x-amz-date": headers["x-amz-date"],
    }
    expected = signature(
        "/model/us.a%253A0/converse", signed, BODY, "SECRET", "eu-west-1", "bedrock"
    )
    day = headers["x-amz-date"][:8]
    assert headers["authorization"] == (
        f"AWS4-HMAC-SHA256 Credential=AKID/{day}/eu-west-1/bedrock/aws4_request, "
        f"SignedHeaders=content-type;host;x-amz-date, Signature={expected}"
    )


def test_a_session_is_signed_as_well() -> None:
    headers = run(headers_for(data={**KEYS, "sessionToken": "TOKEN"}))

    assert headers["x-amz-security-token"] == "TOKEN"
    assert "x-amz-security-token," in headers["authorization"]


def test_the_secret_may_be_the_accounts_own() -> None:
    data = {"accessKeyId": "AKID"}

    headers = run(headers_for(secret="SECRET", data=data))

    assert "/us-east-1/bedrock/" in headers["authorization"]


@pytest.mark.parametrize("data", [{}, {"region": "eu-west-1"}])
def test_an_api_key_is_a_bearer_token(data: dict[str, Any]) -> None:
    headers = run(headers_for(secret="KEY", data=data))

    assert headers == {"content-type": "application/json", "authorization": "Bearer KEY"}


def test_an_account_without_a_key_is_refused() -> None:
    assert BEDROCK.executor is not None
    credential = Credential(connection_id="c", data={"accessKeyId": "AKID"})

    with pytest.raises(UpstreamError, match="neither access keys nor an API key") as raised:
        run(BEDROCK.executor.send(UpstreamRequest(url=URL), credential, Outbox()))

    assert raised.value.status == 401


def test_the_executor_is_one() -> None:
    executor: Executor | None = BEDROCK.executor

    assert executor is not None
    assert executor.name == "sigv4"
    assert inspect.iscoroutinefunction(executor.send)


def test_no_secret_is_in_what_can_be_printed() -> None:
    credential = Credential(connection_id="c", secret="SECRET", data=KEYS)

    assert "SECRET" not in repr(credential) + repr(BEDROCK.executor)


@pytest.mark.parametrize(
    ("data", "url"),
    [
        ({}, "https://bedrock-runtime.us-east-1.amazonaws.com/p"),
        ({"region": "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com/p"),
        ({"region": "us-gov-west-1"}, "https://bedrock-runtime.us-gov-west-1.amazonaws.com/p"),
        ({"region": "cn-north-1"}, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn/p"),
        ({"baseUrl": "https://box:1/", "region": "eu-west-1"}, "https://box:1/p"),
    ],
)
def test_every_region_has_its_host(data: dict[str, Any], url: str) -> None:
    assert address(TARGET, Credential(connection_id="c", data=data), "/p") == url


@pytest.mark.parametrize("region", ["evil.example/", "us-east-1.evil.example", "US-EAST-1", 7])
def test_a_region_that_is_none_is_refused(region: Any) -> None:
    with pytest.raises(BadRequest, match="not an AWS region"):
        address(TARGET, Credential(connection_id="c", data={"region": region}), "/p")
