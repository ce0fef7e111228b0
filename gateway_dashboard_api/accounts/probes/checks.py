"""Checks whether a vendor accepts an account.

A list of models is requested first, because it costs nothing. Where that list
needs no key, or where there is none, a one-token chat request follows.
"""

import asyncio
import time
from collections.abc import Awaitable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gateway_core.contracts.errors import BadRequest, GatewayError, TransportError
from gateway_core.contracts.kinds import Kind
from gateway_core.contracts.model import Model
from gateway_core.contracts.provider import Credential, ProviderSpec, Target
from gateway_core.contracts.wire import WireFormat
from gateway_core.metering.request_record import RequestRecord
from gateway_core.pipeline.context import Collaborators
from gateway_core.routing.plan import Member
from gateway_core.routing.snapshot import Account
from gateway_core.upstream.redaction import secrets_of

from .discovery import Fetched, fetch, list_request, probe, read_refusal
from .findings import Finding, build_finding, shows_admission
from .minimal_call import call_account
from .model_list import NotAList, read_page

LIMIT = 15.0
"""Seconds for one account."""


class Proof(Struct, frozen=True):
    """``method`` says how: ``models``, ``probes``, ``chat``, ``embeddings`` or ``decision``."""

    method: str
    dimensions: int | None = None
    """Of an embedding."""


class Checked(Struct, frozen=True):
    """``proof`` is there when the finding is good."""

    finding: Finding
    proof: Proof | None = None


class Subject(Struct, frozen=True, kw_only=True):
    """What is checked: an account at a provider, with its wire format."""

    spec: ProviderSpec
    wire: WireFormat
    account: Account
    model: str | None = None
    """The model for a test request; ``None`` takes the provider's first chat model."""
    trusting: bool = False
    """Whether a list that needs no key is enough, as long as no model is named."""


async def check(core: Collaborators, subject: Subject, path: str, limit: float) -> Checked:
    """Check an account. ``path`` is the admin route that does so, for the ledger."""
    return await time_proof(_prove(core, subject, path), subject.account.credential, limit)


async def time_proof(proving: Awaitable[Proof], credential: Credential, limit: float) -> Checked:
    """Await a proof for at most ``limit`` seconds and report the result."""
    began = time.monotonic()
    error: GatewayError | None = None
    proof: Proof | None = None
    try:
        async with asyncio.timeout(limit):
            proof = await proving
    except TimeoutError:
        error = TransportError(f"The provider did not answer in {limit:g} s", status=504)
    except GatewayError as caught:
        error = caught
    took = round((time.monotonic() - began) * 1000)
    return Checked(build_finding(error, took, secrets_of(credential)), proof)


async def _prove(core: Collaborators, subject: Subject, path: str) -> Proof:
    """Raises GatewayError unless the vendor accepts the account."""
    if subject.spec.probes:
        probed = await probe(core, subject.account, subject.spec, subject.wire)
        if not probed.is_good:
            raise read_refusal(subject.wire, probed)
        return Proof("probes")
    fetched, proves = await _list(core, subject)
    has_list = fetched is not None and fetched.is_good
    if proves or (has_list and subject.trusting and subject.model is None):
        return Proof("models")
    rows = core.snapshot.models.get(subject.spec.id) or subject.spec.models
    known = next((row.id for row in rows if row.kind == Kind.LLM), None)
    model = subject.model or known or _listed_model(fetched)
    if model is None:
        if has_list:
            return Proof("models")
        if fetched is not None:
            raise read_refusal(subject.wire, fetched)
        raise BadRequest("There is no model to test with: give one, or set a default model")
    await _call_model(core, subject, model, path)
    return Proof("chat")


async def _list(core: Collaborators, subject: Subject) -> tuple[Fetched | None, bool]:
    """Fetch the vendor's list; also returns whether it needs the key.

    Raises UpstreamError when the vendor turns the key down.
    """
    credential = subject.account.credential
    request = list_request(subject.spec, subject.wire, credential)
    if request is None:
        return None, False
    fetched = await fetch(core, subject.account, request, subject.spec)
    if fetched.status in (401, 403):
        raise read_refusal(subject.wire, fetched)
    if not fetched.is_good:
        return fetched, False
    if not credential.secret:
        return fetched, True
    keyless = replace(subject.account, credential=replace(credential, secret=None))
    keyless_request = list_request(subject.spec, subject.wire, keyless.credential) or request
    keyless_answer = await fetch(core, keyless, keyless_request, subject.spec)
    return fetched, not keyless_answer.is_good


async def _call_model(core: Collaborators, subject: Subject, model: str, path: str) -> None:
    spec, account = subject.spec, subject.account
    rows = core.snapshot.models.get(spec.id, spec.models)
    row = next((row for row in rows if row.id == model and row.kind == Kind.LLM), Model(model))
    record = RequestRecord(core.new_id(), path, spec.format, core.clock())
    record.model = model
    try:
        await call_account(core, account, Member(Target(spec, row), model), record)
    except GatewayError as error:
        record.failed(error)
        if not shows_admission(error):
            raise
    finally:
        record.over = time.monotonic()
        record.connection_id = account.id or None
        core.ledger.record(record)


def _listed_model(fetched: Fetched | None) -> str | None:
    if fetched is None or not fetched.is_good:
        return None
    try:
        models = read_page(fetched.body).models
    except NotAList:
        return None
    return models[0].id if models else None


def default_model(data: Mapping[str, Any]) -> str | None:
    """Return the default model of a connection's record."""
    model = data.get("defaultModel")
    return model if isinstance(model, str) and model else None
