"""Debugging translation: how a request would leave, what a vendor answers (A.10, P.7).

Served only when ENABLE_TRANSLATOR is true; otherwise these paths are not there.
"""

from collections.abc import AsyncGenerator, Iterable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import GatewayError, NotFound
from gateway_core.contracts.exchange import UpstreamResponse
from gateway_core.http.operations import STREAM, Guarded
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import NO_STORE, flat_error, json_answer
from gateway_core.identity.access import Access
from gateway_core.pipeline.send import send as send_request
from gateway_core.routing.snapshot import Account
from gateway_core.upstream.redaction import MASK, secrets_of

from ..admin_context import AdminContext
from ..endpoint import Handler, endpoint
from ..requests import read_json
from ..streams import Frames
from .bodies import SendBody, TranslateBody
from .drafts import Draft, account_for, mask_credential, read_draft
from .views import Translated

PATH = "/api/translator"
ERROR_LIMIT = 64 * 1024
"""Bytes of a vendor's error that are passed on."""
SAFE_TYPES = ("application/json", STREAM, "application/x-ndjson", "text/plain")
EXAMPLE = {
    "provider": "echo",
    "body": {"model": "echo", "messages": [{"role": "user", "content": "Hello"}]},
}


def routes(admin: AdminContext) -> list[Guarded]:
    operator = Access.OPERATOR
    return [
        endpoint(
            admin,
            "POST",
            f"{PATH}/translate",
            if_enabled(translate),
            "translate the request",
            access=operator,
            body=TranslateBody,
            answer=Translated,
            example={"step": 1, **EXAMPLE},
        ),
        endpoint(
            admin,
            "POST",
            f"{PATH}/send",
            if_enabled(send),
            "send the request",
            access=operator,
            body=SendBody,
            example=EXAMPLE,
        ),
    ]


def if_enabled(handler: Handler) -> Handler:
    """Answer 404 while the translator is off; errors get ``success: false`` too."""

    async def guarded(admin: AdminContext, request: Request) -> Response:
        if not admin.core.environment.enable_translator:
            raise NotFound("Not found")
        try:
            return await handler(admin, request)
        except GatewayError as error:
            return flat_error(error.message, error.status, request_id_of(request), success=False)

    return guarded


async def translate(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, TranslateBody)
    draft = _draft(admin, body)
    if body.step == 1:
        result = {
            "provider": draft.target.provider.id,
            "model": draft.target.model.id,
            "sourceFormat": draft.translation.client.id,
            "targetFormat": draft.vendor.id,
        }
    else:
        result = _request(admin, draft, whole=body.step == 3)
    return json_answer(Translated(success=True, result=result))


def _draft(admin: AdminContext, body: TranslateBody | SendBody) -> Draft:
    return read_draft(
        admin.snapshot,
        body.provider.strip(),
        body.model.strip(),
        body.source_format.strip(),
        body.body,
        int(admin.core.clock()),
    )


def _request(admin: AdminContext, draft: Draft, *, whole: bool) -> dict[str, Any]:
    """Return the request that would be sent, with the secret masked."""
    outgoing = draft.open(mask_credential(admin.snapshot, draft.target)).request
    try:
        body = msgspec.json.decode(outgoing.body)
    except msgspec.DecodeError:
        body = outgoing.body.decode("utf-8", "replace")
    if not whole:
        return {"body": body}
    return {"url": outgoing.url, "headers": dict(outgoing.headers), "body": body}


async def send(admin: AdminContext, request: Request) -> Response:
    """Stream the vendor's response; an error is passed on without the account's secrets."""
    body: SendBody = await read_json(request, SendBody)
    draft = _draft(admin, body)
    account = account_for(admin.snapshot, draft.target)
    outgoing = draft.open(account.credential).request
    response = await send_request(admin.core, draft.target.provider, account, outgoing)
    if not 200 <= response.status < 300:
        return await _refusal(response, account)
    answer = Frames(_pieces(response))
    answer.headers["content-type"] = _type(response)
    return answer


async def _pieces(response: UpstreamResponse) -> AsyncGenerator[bytes, None]:
    try:
        while chunk := await response.next():
            yield chunk
    finally:
        await response.aclose()


async def _refusal(response: UpstreamResponse, account: Account) -> Response:
    body = bytearray()
    try:
        while len(body) < ERROR_LIMIT and (chunk := await response.next()):
            body += chunk
    finally:
        await response.aclose()
    text = mask_secrets(
        bytes(body[:ERROR_LIMIT]).decode("utf-8", "replace"), secrets_of(account.credential)
    )
    return Response(text, response.status, {**NO_STORE, "content-type": _type(response)})


def mask_secrets(text: str, secrets: Iterable[str]) -> str:
    """Replace each secret by a mask."""
    for secret in sorted(secrets, key=len, reverse=True):
        if secret:
            text = text.replace(secret, MASK)
    return text


def _type(response: UpstreamResponse) -> str:
    """Return the vendor's content type, or plain text for types a browser would execute."""
    content_type = response.headers.get("content-type", "")
    plain = content_type.partition(";")[0].strip().lower()
    return content_type if plain in SAFE_TYPES else "text/plain; charset=utf-8"
