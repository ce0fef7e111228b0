"""Whether a vendor lets an account in.

A list of models is asked for first, because it costs nothing. Where that list
is open to everybody it proves nothing about a key, so then, and where there is
no list, a model has to answer one word.
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
from gateway_core.pipeline.context import Core
from gateway_core.routing.plan import Member
from gateway_core.routing.snapshot import Account
from gateway_core.upstream.redaction import secrets_of

from .discovery import Fetched, fetch, list_request, read_refusal
from .findings import Finding, build_finding, shows_admission
from .greeting import greet_account
from .model_list import NotAList, read_page

LIMIT = 15.0
"""Seconds for one account."""


class Proof(Struct, frozen=True):
    """``method`` says how: ``models``, ``chat``, ``embeddings`` or ``decision``."""

    method: str
    dimensions: int | None = None
    """Of an embedding."""


class Checked(Struct, frozen=True):
    """``proof`` is there when the finding is good."""

    finding: Finding
    proof: Proof | None = None


class Subject(Struct, frozen=True, kw_only=True):
    """What is looked at: an account at a provider, with the way to speak to it."""

    spec: ProviderSpec
    wire: WireFormat
    account: Account
    model: str | None = None
    """The model to greet where one has to be; ``None`` takes what the provider is known for."""
    trusting: bool = False
    """Whether a list that is open to everybody is enough, as long as no model is named."""


async def check(core: Core, subject: Subject, path: str, limit: float) -> Checked:
    """Look at an account. ``path`` is the management route that asks."""
    return await time_proof(_prove(core, subject, path), subject.account.credential, limit)


async def time_proof(proving: Awaitable[Proof], credential: Credential, limit: float) -> Checked:
    """Await a proof for so many seconds and say what came of it."""
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


async def _prove(core: Core, subject: Subject, path: str) -> Proof:
    """Raises GatewayError unless the account is let in."""
    fetched, proves = await _list(core, subject)
    has_list = fetched is not None and fetched.is_good
    if proves or (has_list and subject.trusting and subject.model is None):
        return Proof("models")
    rows = core.snapshot.models.get(subject.spec.id) or subject.spec.models
    known = next((row.id for row in rows if row.kind is Kind.LLM), None)
    model = subject.model or known or _listed_model(fetched)
    if model is None:
        if has_list:
            return Proof("models")
        if fetched is not None:
            raise read_refusal(subject.wire, fetched)
        raise BadRequest("There is no model to test with: give one, or set a default model")
    await _greet(core, subject, model, path)
    return Proof("chat")


async def _list(core: Core, subject: Subject) -> tuple[Fetched | None, bool]:
    """The vendor's list, and whether it was given for the sake of the key.

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


async def _greet(core: Core, subject: Subject, model: str, path: str) -> None:
    spec, account = subject.spec, subject.account
    rows = core.snapshot.models.get(spec.id, spec.models)
    row = next((row for row in rows if row.id == model and row.kind is Kind.LLM), Model(model))
    trace = RequestRecord(core.new_id(), path, spec.format, core.clock())
    trace.model = model
    try:
        await greet_account(core, account, Member(Target(spec, row), model), trace)
    except GatewayError as error:
        trace.failed(error)
        if not shows_admission(error):
            raise
    finally:
        trace.over = time.monotonic()
        trace.connection_id = account.id or None
        core.ledger.record(trace)


def _listed_model(fetched: Fetched | None) -> str | None:
    if fetched is None or not fetched.is_good:
        return None
    try:
        models = read_page(fetched.body).models
    except NotAList:
        return None
    return models[0].id if models else None


def default_model(data: Mapping[str, Any]) -> str | None:
    """The model that a connection's record says to use."""
    model = data.get("defaultModel")
    return model if isinstance(model, str) and model else None
