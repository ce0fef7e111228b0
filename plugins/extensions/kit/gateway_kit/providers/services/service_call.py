"""Opening a service's exchange as the gateway would, and carrying an answer through it."""

import re
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gateway_core import (
    Call,
    Credential,
    FormPart,
    Model,
    Service,
    ServiceExchange,
    Step,
    Target,
    UpstreamRequest,
)
from gateway_kit.case import Case, CaseFailed, Run, expect
from gateway_kit.json_bodies import decode_members
from gateway_providers.services import BytesService, JsonService

from ..service_samples import JSON, SAMPLES, ServiceSample
from ..subject import ProviderUnderTest

CREATED = re.compile(rb'"created":\d+')
"""When an answer was made, which is another second for another exchange."""
CLIENT_KEY = "sk-client-7733"
COOKIE = "client-cookie-7733"


class ServiceCall(Struct, frozen=True, kw_only=True):
    """One service of a vendor, a model of its kind, and a sample request and answer."""

    subject: ProviderUnderTest
    service: Service
    model: Model
    sample: ServiceSample
    is_answered: bool = True
    """Whether the sample's answers are in the vendor's own words."""
    is_usual: bool = True
    """Whether the sample is the usual one of its kind."""

    def case(self, name: str, advice: str, run: Run) -> Case:
        where = f"{self.subject.spec.id}: {name_of(self.service)}"
        return Case(name=f"{where}: {name}", advice=advice, run=run)

    @property
    def credential(self) -> Credential:
        account = self.subject.account
        return Credential(connection_id="kit", secret=account.secret, data=account.data)

    def call(self) -> Call:
        """The client's call, with all that a client may have sent along."""
        named = f"{self.subject.spec.id}/{self.model.id}"
        body = self.sample.request.replace(b"MODEL", named.encode())
        form = tuple(
            replace(part, content=named.encode()) if part.name == "model" else part
            for part in self.sample.form
        )
        fields = {p.name: Raw(msgspec.json.encode(text_of(p))) for p in form if not p.filename}
        return Call(
            kind=self.service.kind,
            format="openai",
            model=named,
            stream=self.sample.stream,
            body=b"" if form else body,
            members=fields or decode_members(body),
            action=self.service.action,
            form=form,
            path=self.sample.path,
            headers={
                "content-type": self.sample.request_type,
                "authorization": f"Bearer {CLIENT_KEY}",
                "x-api-key": CLIENT_KEY,
                "cookie": f"session={COOKIE}",
            },
        )

    def open(self) -> ServiceExchange:
        """Raises whatever the adapter raises."""
        return self.service.adapter.open(
            self.call(), Target(self.subject.spec, self.model), self.credential
        )

    def steps(self, exchange: ServiceExchange) -> Iterator[Step]:
        """What is asked after each answer but the last. Raises CaseFailed where nothing is."""
        for reply in self.sample.before:
            feed_all(exchange, (reply,), JSON)
            failure, step = exchange.failure, exchange.following
            expect(failure is None, f"{reply!r} is a failure: {failure and failure.message}")
            if step is None:
                raise CaseFailed(f"nothing is asked after {reply!r}")
            yield step

    def answering(self) -> ServiceExchange:
        """An exchange that waits for the last answer. Raises CaseFailed."""
        exchange = self.open()
        for _ in self.steps(exchange):
            pass
        return exchange

    def request(self) -> UpstreamRequest:
        """The request to the vendor. Raises CaseFailed."""
        request: object = self.open().request
        expect(isinstance(request, UpstreamRequest), f"request is {type(request).__name__}")
        assert isinstance(request, UpstreamRequest)
        return request


def name_of(service: Service) -> str:
    """The kind, with the action behind a slash where it is not the kind's main one."""
    return f"{service.kind}/{service.action}" if service.action else str(service.kind)


def text_of(part: FormPart) -> str:
    return part.content.decode() if isinstance(part.content, bytes) else ""


class ServiceResult(Struct, frozen=True):
    """What became of an answer."""

    body: bytes
    exchange: ServiceExchange


def feed_all(exchange: ServiceExchange, pieces: Iterable[bytes], media_type: str) -> ServiceResult:
    """Feed the vendor's bytes in these pieces. Raises CaseFailed for output that is no bytes."""
    exchange.read_head({"content-type": media_type})
    outputs: list[object] = [exchange.feed(piece) for piece in pieces]
    outputs.append(exchange.close())
    for each in outputs:
        expect(isinstance(each, bytes), f"feed or close gave {type(each).__name__}, not bytes")
    return ServiceResult(b"".join(each for each in outputs if isinstance(each, bytes)), exchange)


def service_calls(subject: ProviderUnderTest) -> Iterator[ServiceCall]:
    """The services whose kind takes a single request.

    Only a sample of its own says what a vendor answers whose words are translated.
    """
    samples: dict[str, ServiceSample | None] = {**SAMPLES, **subject.samples}
    for service in subject.spec.services:
        name = name_of(service)
        if service.is_assumed:
            continue
        is_translated = isinstance(service.adapter, JsonService | BytesService)
        sample = samples.get(name)
        if sample is not None:
            models = [each for each in subject.spec.models if each.kind == service.kind]
            yield ServiceCall(
                subject=subject,
                service=service,
                model=models[0] if models else Model("maker/model-1", kind=service.kind),
                sample=sample,
                is_answered=not is_translated or name in subject.samples,
                is_usual=name not in subject.samples,
            )
