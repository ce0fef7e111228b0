"""Signing: the account's keys sign every request; a Bedrock API key rides along as it is.

The signing library is large, so it is read when the first request needs it,
off the event loop.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from gateway_core import Credential, Transport, UpstreamError, UpstreamRequest, UpstreamResponse

from .addresses import region_of

SERVICE = "bedrock"
_SIGNED = ("content-type",)
"""Only what the transport sends just as it stands; the host and the time are added."""

Sign = Callable[[UpstreamRequest, Mapping[str, Any], str], dict[str, str]]


class SigV4:
    """Adds an ``authorization`` header and sends the request on."""

    name = "sigv4"

    def __init__(self) -> None:
        self._sign: Sign | None = None

    async def send(
        self, request: UpstreamRequest, credential: Credential, transport: Transport
    ) -> UpstreamResponse:
        """Raises TransportError, and UpstreamError for an account without a usable key."""
        keys = keys_of(credential)
        if keys is not None:
            if self._sign is None:
                self._sign = await asyncio.to_thread(load_signer)
            added = self._sign(request, keys, region_of(credential))
        elif credential.secret:
            # https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html
            added = {"authorization": f"Bearer {credential.secret}"}
        else:
            raise UpstreamError("The account has neither access keys nor an API key", status=401)
        return await transport.send(replace(request, headers={**request.headers, **added}))


def keys_of(credential: Credential) -> Mapping[str, Any] | None:
    """The access key's id, its secret and its session, or ``None`` for an account with an API key.

    The secret access key stands beside its id, or is the account's secret.
    """
    data = credential.data
    secret = data.get("secretAccessKey") or credential.secret
    if not data.get("accessKeyId") or not secret:
        return None
    token = data.get("sessionToken") or None
    return {"access_key": data["accessKeyId"], "secret_key": secret, "token": token}


def load_signer() -> Sign:
    """Read the signing library and give the function that makes a request's headers."""
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    def sign(request: UpstreamRequest, keys: Mapping[str, Any], region: str) -> dict[str, str]:
        signed = {name: request.headers[name] for name in _SIGNED if name in request.headers}
        aws = AWSRequest(request.method, request.url, headers=signed, data=request.body)
        SigV4Auth(Credentials(**keys), SERVICE, region).add_auth(aws)
        return {name.lower(): value for name, value in aws.headers.items()}

    return sign
