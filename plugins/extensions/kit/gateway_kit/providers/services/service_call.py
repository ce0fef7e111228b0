"""Opening a service's exchange as the gateway would, and carrying an answer through it."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from gateway_core import (
    Call,
    Credential,
    Exchange,
    Model,
    Service,
    Target,
    UpstreamRequest,
)
from gateway_kit.case import Case, Run, expect
from gateway_kit.json_bodies import decode_members

from ..service_samples import SAMPLES, ServiceSample
from ..subject import ProviderUnderTest

CLIENT_KEY = "sk-client-7733"
COOKIE = "client-cookie-7733"


class ServiceCall(Struct, frozen=True, kw_only=True):
    """One service of a vendor, a model of its kind, and a sample request and answer."""

    subject: ProviderUnderTest
    service: Service
    model: Model
    sample: ServiceSample

    def case(self, name: str, advice: str, run: Run) -> Case:
        where = f"{self.subject.spec.id}: {self.service.kind}"
        return Case(name=f"{where}: {name}", advice=advice, run=run)

    @property
    def credential(self) -> Credential:
        account = self.subject.account
        return Credential(connection_id="kit", secret=account.secret, data=account.data)

    def call(self) -> Call:
        """The client's call, with all that a client may have sent along."""
        named = f"{self.subject.spec.id}/{self.model.id}"
        body = self.sample.request.replace(b"MODEL", named.encode())
        return Call(
            kind=self.service.kind,
            format="openai",
            model=named,
            stream=self.sample.stream,
            body=body,
            members=decode_members(body),
            headers={
                "content-type": self.sample.request_type,
                "authorization": f"Bearer {CLIENT_KEY}",
                "x-api-key": CLIENT_KEY,
                "cookie": f"session={COOKIE}",
            },
        )

    def open(self) -> Exchange:
        """Raises whatever the adapter raises."""
        return self.service.adapter.open(
            self.call(), Target(self.subject.spec, self.model), self.credential
        )

    def request(self) -> UpstreamRequest:
        """The request to the vendor. Raises CaseFailed."""
        request: object = self.open().request
        expect(isinstance(request, UpstreamRequest), f"request is {type(request).__name__}")
        assert isinstance(request, UpstreamRequest)
        return request


class ServiceResult(Struct, frozen=True):
    """What became of an answer."""

    body: bytes
    exchange: Exchange


def feed_all(exchange: Exchange, pieces: Iterable[bytes]) -> ServiceResult:
    """Feed the vendor's bytes in these pieces. Raises CaseFailed for output that is no bytes."""
    outputs: list[object] = [exchange.feed(piece) for piece in pieces]
    outputs.append(exchange.close())
    for each in outputs:
        expect(isinstance(each, bytes), f"feed or close gave {type(each).__name__}, not bytes")
    return ServiceResult(b"".join(each for each in outputs if isinstance(each, bytes)), exchange)


def service_calls(subject: ProviderUnderTest) -> Iterator[ServiceCall]:
    """The services whose kind takes a single request."""
    samples = {str(kind): sample for kind, sample in (*SAMPLES.items(), *subject.samples.items())}
    for service in subject.spec.services:
        if service.kind in samples:
            models = [each for each in subject.spec.models if each.kind == service.kind]
            yield ServiceCall(
                subject=subject,
                service=service,
                model=models[0] if models else Model("maker/model-1", kind=service.kind),
                sample=samples[service.kind],
            )
