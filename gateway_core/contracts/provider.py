"""A vendor, declared. Data first; code only where the vendor insists.

The manifest, the catalog, routing and the dashboard are all derived from
these values. Nothing here is looked up by name: an adapter or executor is a
field, so an editor can jump to it and a type checker can check it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from msgspec import Raw, Struct

from .conversation import Conversation
from .exchange import (
    FileContent,
    ServiceExchange,
    SocketTransport,
    UpstreamRequest,
    UpstreamResponse,
)
from .model import Model
from .native import Operation
from .sockets import SocketService
from .web_login import WebLogin

RESPONSES = "openai-responses"
"""The format that ``ProviderSpec.responses_url`` is about."""


class Auth(Struct, frozen=True, kw_only=True):
    """How a credential rides on a request. ``None`` asks for the usual answer.

    Usual is what the wire format declares: a bearer token for most,
    ``x-api-key`` for messages, ``x-goog-api-key`` for generative content.
    """

    type: str | None = None
    """``apikey``, ``oauth``, ``optional`` (a key may be saved), ``none`` (a saved key is not
    sent) or another word."""
    header: str | None = None
    """The header that carries the secret, in lower case."""
    scheme: str | None = None
    """``bearer``, ``raw``, or ``query`` for a key that the plugin puts into the URL."""
    prefix: str | None = None
    """Written before the secret, with one space between."""


class OAuth(Struct, frozen=True, kw_only=True):
    """A login flow. Never leaves the process: the manifest shows only that it exists."""

    flow: str
    """``pkce`` for a browser that comes back, ``device`` for a code that is typed in, ``key`` for
    a browser that comes back with what is exchanged, once, for a plain key."""
    authorize_url: str
    """Where the operator's browser is sent."""
    token_url: str
    """Where codes and refresh tokens are exchanged."""
    client_id: str
    """The vendor's id of this application."""
    client_secret: str | None = None
    """Of an application that the vendor calls confidential; ``None`` for a public one."""
    scopes: tuple[str, ...] = ()
    """What is asked for, in the vendor's words."""
    device_url: str | None = None
    """Where codes to type in are had (RFC 8628); ``None`` where the vendor has none."""
    revoke_url: str | None = None
    """Where tokens are revoked (RFC 7009); ``None`` where they only expire."""
    client_auth: Literal["basic", "post"] = "post"
    """How a secret is shown: in a header or among the form's members."""
    parameters: Mapping[str, str] = {}
    """Further parameters of the address that the browser is sent to."""
    auth: Auth | None = None
    """How a token rides on a request, where it is not as a key does."""

    def __repr__(self) -> str:
        return f"OAuth({self.flow!r}, {self.token_url!r})"


class AccountField(Struct, frozen=True, kw_only=True):
    """A member of an account's data that the vendor needs or takes, as a form asks for it."""

    name: str
    """Its key in ``providerSpecificData``; a secret's, as ``clientSecret``, is stored encrypted."""
    title: str
    """As people write it."""
    about: str = ""
    """What it is and where it is found; empty where the title says it all."""
    type: Literal["text", "url", "document"] = "text"
    """``document`` is a JSON document, or its text."""
    needed: bool = False
    """No call can be made without it, unless the account has a ``baseUrl``."""
    default: str | None = None
    """What counts where it is left out."""
    examples: tuple[str, ...] = ()
    """Values that a form may offer; any other is taken too."""
    pattern: str | None = None
    """What a value has to match, as ``pattern`` of JSON Schema; any other is refused."""


class Target(Struct, frozen=True):
    """Which model at which provider, once resolution is over."""

    provider: "ProviderSpec"
    """The vendor."""
    model: Model
    """The vendor's model; its ``id`` is what is sent."""

    def __str__(self) -> str:
        """As clients know it."""
        return f"{self.provider.shown}/{self.model.id}"


class Credential(Struct, frozen=True, kw_only=True, weakref=True):
    """One account's secret and the vendor data stored beside it."""

    connection_id: str
    """The account's id in this gateway."""
    secret: str | None = None
    """The key or token; ``None`` for an account without one."""
    data: Mapping[str, Any] = {}
    """``providerSpecificData``: ``baseUrl``, ``region``, ``apiVersion`` and the like."""
    auth: Auth | None = None
    """How this secret rides, where it is not as others of its vendor do."""

    def __repr__(self) -> str:
        return f"Credential({self.connection_id!r})"


def credential_header(
    auth: Auth, credential: Credential, *, usual: str = "authorization", prefix: str = "Bearer"
) -> Mapping[str, str]:
    """The header that carries the account's secret; none without a secret, and none to a vendor
    that takes no credential, whatever was saved for it.

    ``usual`` and ``prefix`` are what the wire format declares.
    """
    auth = credential.auth or auth
    # An account without a key (a local server) must not send an empty credential.
    if not credential.secret or auth.type == "none" or auth.scheme == "query":
        return {}
    header = auth.header.lower() if auth.header else None
    if auth.scheme == "bearer":
        return {header or "authorization": f"Bearer {credential.secret}"}
    if auth.scheme == "raw":
        return {header or usual: credential.secret}
    word = auth.prefix if auth.prefix is not None or header else prefix
    return {header or usual: f"{word} {credential.secret}" if word else credential.secret}


class FormPart(Struct, frozen=True, kw_only=True):
    """One part of a multipart body (RFC 7578)."""

    name: str
    """The field's name."""
    content: bytes | FileContent
    """A long part is in a temporary file, which is removed when the request is over."""
    filename: str | None = None
    """The last component of the file's name; ``None`` for a plain field."""
    media_type: str | None = None
    """Of a file, as the client named it."""


class Call(Struct, kw_only=True):
    """What the client sent, read no further than routing needs."""

    kind: str
    """What kind of work is asked for."""
    format: str
    """The client's wire format."""
    model: str
    """As the client named it, before aliases and combos."""
    stream: bool
    """Whether the client wants a streamed answer."""
    body: bytes
    """The body, byte for byte."""
    members: Mapping[str, Raw] = {}
    """The body's top-level members, their values undecoded; empty for a body that is not JSON."""
    headers: Mapping[str, str] = {}
    """Names in lower case."""
    path: Mapping[str, str] = {}
    """Parameters of the client's path, and those of its query that the endpoint declares."""
    action: str = ""
    """Which of the kind's endpoints was called, such as ``edit``; empty for the main one."""
    form: tuple[FormPart, ...] = ()
    """The parts of a multipart body. ``members`` holds its plain fields as JSON strings, and
    ``body`` is empty."""
    key_id: str | None = None
    """The id of the caller's key, for interceptors and filters; ``None`` without one."""
    conversation: Conversation | None = None
    """What is sent in the place of the body, once an interceptor has set it."""
    reader: "Callable[[Call], Conversation | None] | None" = None
    """Reads the conversation; the gateway sets it for interceptors and filters."""
    noter: "Callable[[str], None] | None" = None
    """Keeps notes, as ``reader``."""

    def read_conversation(self) -> Conversation | None:
        """The call in neutral form; ``None`` where it is no chat. Raises BadRequest."""
        if self.conversation is not None or self.reader is None:
            return self.conversation
        return self.reader(self)

    def note(self, text: str) -> None:
        """Put a note of at most 300 characters into the call's row of the ledger, once."""
        if self.noter is not None:
            self.noter(text)


class Adapter(Protocol):
    """Speaks one service kind to one vendor."""

    def open(self, call: Call, target: Target, credential: Credential) -> ServiceExchange:
        """Begin one attempt. Raises BadRequest for a call that this vendor cannot serve."""
        ...


class Executor(Protocol):
    """Carries a request by other means than one plain HTTP exchange.

    It may sign, fetch a token first, or reshape; every byte still leaves
    through the ``transport`` it is handed, more than once if need be, but for what has
    ``request.once``. What it leaves out of a chat request it names with ``request.losses``.
    """

    name: str
    """What the manifest and the log call it."""

    async def send(
        self, request: UpstreamRequest, credential: Credential, transport: SocketTransport
    ) -> UpstreamResponse: ...


class Service(Struct, frozen=True):
    """A kind of work this provider does besides chat."""

    kind: str
    """The kind of work."""
    adapter: Adapter
    """Who speaks it."""
    action: str = ""
    """Which endpoint of the kind it serves, such as ``edit``; empty for the main one."""
    timeout: float | None = None
    """Seconds for a call, where the vendor needs more or less than the endpoint gives it."""
    is_assumed: bool = False
    """The vendor does not say that it has it: others of its format do. Lists leave it out."""


class ProviderSpec(Struct, frozen=True, kw_only=True):
    """Everything the gateway knows about a vendor before anyone logs in."""

    id: str
    """Its name in ``id/model``: lower-case letters, digits, ``-``, ``_`` and ``.``."""
    name: str
    """As people write it."""
    is_node: bool = False
    """True for an endpoint of the operator's own, whose id no client knows."""
    alias: str | None = None
    """A short name that may stand for the id; the manifest shows it."""
    aliases: tuple[str, ...] = ()
    """Further names that may stand for the id."""
    beginnings: tuple[str, ...] = ()
    """A model id without a prefix that begins like this is taken to be this
    vendor's; the empty one claims whatever nobody else does."""

    format: str = "openai"
    """The wire format this vendor speaks."""
    base_url: str | None = None
    """Where the format's paths begin, without a slash at the end."""
    base_url_setting: str | None = None
    """The setting of the gateway that may hold an address in the place of ``base_url``, such as
    ``acmeBaseUrl``. An account's own ``baseUrl`` goes before it."""
    base_urls: tuple[str, ...] = ()
    """Further addresses of the same API, for the manifest and for accounts that choose one."""
    responses_url: str | None = None
    """Where the ``openai-responses`` format's paths begin, when it is spoken too."""
    other_formats: Mapping[str, str] = {}
    """Further wire formats this vendor speaks, each with its base URL.
    A call in one of them is passed through instead of translated."""
    chat_path: str | None = None
    """Replaces the format's own path, for a vendor that has an unusual one."""
    models_url: str | None = None
    """Where the vendor lists its models; ``None`` where there is no such list."""
    probes: tuple[str, ...] = ()
    """Paths below ``base_url`` that only an accepted key may read, where there is no list of
    models: a key is checked by reading all of them, and never through a proxy."""
    url_suffix: str | None = None
    """Put behind every URL, such as a query with a version."""
    hosts: tuple[str, ...] = ()
    """Further hosts that calls may go to, beside those of the URLs declared here:
    ``api.acme.com``, with a port or a scheme where they are not those of https.
    ``*`` stands for letters, digits and hyphens within one label, as in
    ``runtime.*.acme.com``; never in the last two labels."""
    url_builder: Callable[[Target, Credential, str], str] | None = None
    """Gives the URL from the target, the account and the format's path, for a
    vendor whose host or path depends on the account."""
    headers: Mapping[str, str] = {}
    """Sent with every request; names in lower case."""
    timeout_ms: float | None = None
    """Until the first byte of an answer."""
    calls_per_minute: int | None = None
    """What the vendor allows an account; more are refused here, unless a setting says otherwise."""

    auth: Auth = Auth()
    """How a key rides on a request."""
    keys_url: str | None = None
    """The page of the vendor where a person makes a key."""
    account_fields: tuple[AccountField, ...] = ()
    """What an account holds besides its key. ``baseUrl`` need not be named."""
    environment: tuple[str, ...] = ()
    """Process variables that may hold a key, the first that is set wins."""
    environment_data: Mapping[str, str] = {}
    """Process variables to keys of ``providerSpecificData``, for vendors that need more."""
    oauth: OAuth | None = None
    """The login flow of accounts that are no key."""
    web_login: WebLogin | None = None
    """Leads the operator through the vendor's own sign-in, where an account is a cookie."""
    executor: Executor | None = None
    """Sends requests by other means than one plain exchange; ``None`` for the usual one."""
    pool: Mapping[str, int] | None = None
    """Sizes of a session pool in the vendor's words; the manifest shows only that there is one."""

    models: tuple[Model, ...] = ()
    """What is known to be offered; more may be found by asking the vendor."""
    passthrough_models: bool = False
    """Model ids that are not listed are accepted and sent as they stand."""
    default_context: int | None = None
    """Context window of models that name none, tokens."""
    variants: tuple[str, ...] = ()
    """Ends of model ids that choose how a model is served and not which one, such as ``:fast``.
    A model that is denied or disabled is so with each of them."""
    services: tuple[Service, ...] = ()
    """Work other than chat, one adapter for each kind and action."""
    sockets: tuple[SocketService, ...] = ()
    """WebSockets of the vendor that clients may open."""
    native: tuple[Operation, ...] = ()
    """Calls of the native facade that are allowed."""
    native_url: str | None = None
    """The origin of these calls; ``None`` takes that of ``base_url``."""

    drop: tuple[str, ...] = ()
    """Top-level request members this vendor rejects."""
    rename: Mapping[str, str] = {}
    """Top-level request members this vendor calls something else."""
    fixed: Mapping[str, Raw] = {}
    """Top-level members that each chat request has, by the vendor's names, whatever was sent."""
    options: Mapping[str, str | bool] = {}
    """Switches of the wire format, each documented by the format's plugin."""
    free: bool = False
    """True when every model costs nothing, as on the operator's own machine."""

    def service(self, kind: str, action: str = "") -> Service | None:
        """The service for a kind's endpoint; ``None`` where the vendor offers none."""
        for service in self.services:
            if service.kind == kind and service.action == action:
                return service
        return None

    @property
    def shown(self) -> str:
        """Its name in texts for clients."""
        return self.alias if self.is_node and self.alias else self.id

    def without_variant(self, model: str) -> str:
        """The id of the model itself."""
        return next(
            (model.removesuffix(end) for end in self.variants if model.endswith(end)), model
        )

    def further_formats(self) -> Mapping[str, str]:
        """Dialects this vendor speaks besides ``format``, each with its base URL."""
        if self.responses_url is None:
            return self.other_formats
        return {RESPONSES: self.responses_url.removesuffix("/responses"), **self.other_formats}
