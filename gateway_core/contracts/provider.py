"""A vendor, declared. Data first; code only where the vendor insists.

The manifest, the catalog, routing and the dashboard are all derived from
these values. Nothing here is looked up by name: an adapter or executor is a
field, so an editor can jump to it and a type checker can check it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Raw, Struct

from .exchange import Exchange, Transport, UpstreamRequest, UpstreamResponse
from .kinds import Kind
from .model import Model
from .web_login import WebLogin

RESPONSES = "openai-responses"
"""The format that ``ProviderSpec.responses_url`` is about."""


class Auth(Struct, frozen=True, kw_only=True):
    """How a credential rides on a request. ``None`` asks for the usual answer.

    Usual is what the wire format declares: a bearer token for most,
    ``x-api-key`` for messages, ``x-goog-api-key`` for generative content.
    """

    type: str | None = None
    """``apikey``, ``oauth``, ``optional`` (a key may be saved), ``none`` or another word."""
    header: str | None = None
    scheme: str | None = None
    """``bearer`` or ``raw``."""
    prefix: str | None = None
    """Written before the secret, with one space between."""


class OAuth(Struct, frozen=True, kw_only=True):
    """A login flow. Never leaves the process: the manifest shows only that it exists."""

    flow: str
    authorize_url: str
    token_url: str
    client_id: str
    client_secret: str | None = None
    scopes: tuple[str, ...] = ()


class Target(Struct, frozen=True):
    """Which model at which provider, once resolution is over."""

    provider: "ProviderSpec"
    model: Model


class Credential(Struct, frozen=True, kw_only=True):
    """One account's secret and the vendor data stored beside it."""

    connection_id: str
    secret: str | None = None
    data: Mapping[str, Any] = {}
    """``providerSpecificData``: ``baseUrl``, ``region``, ``apiVersion`` and the like."""

    def __repr__(self) -> str:
        return f"Credential({self.connection_id!r})"


class Call(Struct, kw_only=True):
    """What the client sent, read no further than routing needs."""

    kind: Kind
    format: str
    """The client's wire format."""
    model: str
    stream: bool
    body: bytes
    members: Mapping[str, Raw] = {}
    """The body's top-level members, their values undecoded; empty for a body that is not JSON."""
    headers: Mapping[str, str] = {}
    """Names in lower case."""
    path: Mapping[str, str] = {}
    """Parameters of the client's path."""


class Adapter(Protocol):
    """Speaks one service kind to one vendor."""

    def open(self, call: Call, target: Target, credential: Credential) -> Exchange: ...


class Executor(Protocol):
    """Carries a request by other means than one plain HTTP exchange.

    It may sign, fetch a token first, or reshape; every byte still leaves
    through the ``transport`` it is handed.
    """

    name: str

    async def send(
        self, request: UpstreamRequest, credential: Credential, transport: Transport
    ) -> UpstreamResponse: ...


class Service(Struct, frozen=True):
    """A kind of work this provider does besides chat."""

    kind: Kind
    adapter: Adapter


class Operation(Struct, frozen=True, kw_only=True):
    """One allowed call of the native facade."""

    method: str
    path: str
    model_field: str | None = "model"
    pinned: bool = False
    uncapped_only: bool = False


class ProviderSpec(Struct, frozen=True, kw_only=True):
    """Everything the gateway knows about a vendor before anyone logs in."""

    id: str
    name: str
    alias: str | None = None
    aliases: tuple[str, ...] = ()
    beginnings: tuple[str, ...] = ()
    """A model id without a prefix that begins like this is taken to be this
    vendor's; the empty one claims whatever nobody else does."""

    format: str = "openai"
    """The wire format this vendor speaks."""
    base_url: str | None = None
    """Where the format's paths begin, without a slash at the end."""
    base_urls: tuple[str, ...] = ()
    responses_url: str | None = None
    """Where the ``openai-responses`` format's paths begin, when it is spoken too."""
    other_formats: Mapping[str, str] = {}
    """Further wire formats this vendor speaks, each with its base URL.
    A call in one of them is passed through instead of translated."""
    chat_path: str | None = None
    """Replaces the format's own path, for a vendor that has an unusual one."""
    models_url: str | None = None
    url_suffix: str | None = None
    url_builder: Callable[[Target, Credential, str], str] | None = None
    """Gives the URL from the target, the account and the format's path, for a
    vendor whose host or path depends on the account."""
    headers: Mapping[str, str] = {}
    """Sent with every request; names in lower case."""
    timeout_ms: float | None = None
    """Until the first byte of an answer."""

    auth: Auth = Auth()
    environment: tuple[str, ...] = ()
    """Process variables that may hold a key, the first that is set wins."""
    environment_data: Mapping[str, str] = {}
    """Process variables to keys of ``providerSpecificData``, for vendors that need more."""
    oauth: OAuth | None = None
    web_login: WebLogin | None = None
    """Leads the operator through the vendor's own sign-in, where an account is a cookie."""
    executor: Executor | None = None
    pool: Mapping[str, int] | None = None

    models: tuple[Model, ...] = ()
    passthrough_models: bool = False
    """Model ids that are not listed are accepted and sent as they stand."""
    default_context: int | None = None
    services: tuple[Service, ...] = ()
    native: tuple[Operation, ...] = ()

    drop: tuple[str, ...] = ()
    """Top-level request members this vendor rejects."""
    rename: Mapping[str, str] = {}
    """Top-level request members this vendor calls something else."""
    options: Mapping[str, str | bool] = {}
    """Switches of the wire format, each documented by the format's plugin."""
    free: bool = False
    """True when every model costs nothing, as on the operator's own machine."""

    def further_formats(self) -> Mapping[str, str]:
        """Dialects this vendor speaks besides ``format``, each with its base URL."""
        if self.responses_url is None:
            return self.other_formats
        return {RESPONSES: self.responses_url.removesuffix("/responses"), **self.other_formats}
