"""Testing a model of a kind other than chat, with the sample request of its endpoint."""

from collections.abc import Mapping

import msgspec
from msgspec import Raw

from gateway_core.contracts.errors import BadRequest
from gateway_core.contracts.provider import Call, FormPart
from gateway_core.contracts.wire import Endpoint, WireFormat
from gateway_core.metering.request_record import RequestRecord
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.dispatch import Job, dispatch
from gateway_core.pipeline.translation import open_service
from gateway_core.routing.account_selection import AccountConstraints
from gateway_core.routing.plan import Plan
from gateway_core.routing.service_plan import build_service_plan
from gateway_core.routing.snapshot import ConfigSnapshot

_encode = msgspec.json.Encoder().encode


def sampled_endpoint(snapshot: ConfigSnapshot, kind: str) -> tuple[WireFormat, Endpoint]:
    """The endpoint by which models of a kind are tested. Raises BadRequest."""
    for wire in snapshot.registry.formats.values():
        for endpoint in wire.endpoints:
            if endpoint.kind == kind and not endpoint.action and endpoint.sample is not None:
                return wire, endpoint
    raise BadRequest(f"Models of kind {kind} cannot be tested")


def sample_call(wire: WireFormat, endpoint: Endpoint, model: str) -> Call:
    """The endpoint's sample as a client would send it."""
    sample = endpoint.sample
    members: Mapping[str, Raw] = {}
    body = b""
    form: tuple[FormPart, ...] = ()
    if isinstance(sample, tuple):
        form = (FormPart(name="model", content=model.encode()), *sample)
        members = {
            part.name: Raw(_encode(part.content.decode()))
            for part in form
            if part.filename is None and isinstance(part.content, bytes)
        }
    elif sample is not None:
        members = {n: Raw(_encode(v)) for n, v in {"model": model, **sample}.items()}
        body = _encode(members)
    return Call(
        kind=endpoint.kind,
        format=wire.id,
        model=model,
        stream=False,
        body=body,
        members=members,
        action=endpoint.action,
        form=form,
    )


async def run_service_test(
    core: Collaborators,
    snapshot: ConfigSnapshot,
    kind: str,
    record: RequestRecord,
    pinned: str | None = None,
    plan: Plan | None = None,
) -> None:
    """Send the sample to a model. Raises GatewayError when it does not answer."""
    wire, endpoint = sampled_endpoint(snapshot, kind)
    call = sample_call(wire, endpoint, record.model)
    if core.interceptors.active:
        call = await core.interceptors.before(call)
    record.format = wire.id
    if plan is None:
        timeout_ms = core.environment.combo_model_timeout_ms
        plan = build_service_plan(snapshot, endpoint, call.model, timeout_ms)
    allowed: tuple[str, ...] = ()
    if plan.combo is not None:
        record.combo_id, record.combo_name = plan.combo.id, plan.combo.name
        allowed = plan.combo.allowed_connection_ids
    job = Job(
        opener=lambda target, credential: open_service(call, target, credential),
        stream=False,
        constraints=AccountConstraints(pinned=pinned, allowed=frozenset(allowed)),
        timeout=plan.timeout,
        is_service=True,
    )
    attempt = await dispatch(core, snapshot, plan.members, job, record)
    # That it begins to answer is proof enough; the rest of a recording need not come.
    if attempt.response is not None:
        await attempt.response.aclose()
    attempt.leave()
    record.upstream_format = attempt.exchange.upstream_format
    record.add_usage(attempt.exchange.usage)
