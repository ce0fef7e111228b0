"""A wire format: eight verbs, four for the client's side and four for the vendor's.

                client side                 vendor side
    request     read_request   ──▶ hub ──▶  write_request
    reply       write_reply    ◀── hub ◀──  read_reply
    stream      stream_writer  ◀── hub ◀──  stream_reader
    error       write_error    ◀── hub ◀──  read_error

and a ninth, ``relay``, for a call whose both sides speak this format. A format
that no vendor speaks has no vendor side, and the other way round.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Raw, Struct

from .conversation import NO_SPELLING, Conversation, Losses, Reply
from .errors import GatewayError, UpstreamError
from .events import ReplyFailed, StreamEvent
from .exchange import ServiceExchange
from .kinds import Kind
from .native import BodyShape
from .provider import Call, FormPart, Service, Target
from .usage import Usage


class Intake(Struct, frozen=True):
    """The little of a request that routing needs; ``model`` is empty when none was named."""

    model: str
    """The model as the client named it; empty when it named none."""
    stream: bool
    """Whether a streamed answer is wanted."""
    urls: tuple[str, ...] = ()
    """Addresses that a vendor is asked to fetch; the call is refused unless each is public."""


class Counting(Struct, frozen=True, kw_only=True):
    """How an endpoint that counts tokens instead of generating does so."""

    path: Callable[[str], str]
    """The vendor's path for a model, below its base URL."""
    estimate: Callable[[bytes], bytes]
    """The whole answer's body, by heuristic, for a vendor that cannot count."""


Fallback = Literal["models", "accounts", "never"]
"""What may be asked after a failure: the next model, the next account of the model, nobody."""


class Endpoint(Struct, frozen=True, kw_only=True):
    """A client path that speaks this format.

    ``{model}`` in ``path`` matches any run of characters, slashes too.
    """

    path: str
    """From the root, such as ``/v1/messages``."""
    read: Callable[[Mapping[str, str], Mapping[str, str], Mapping[str, Raw]], Intake]
    """Parameters of path and query, headers, and the body's top-level members or plain form
    fields to an :class:`Intake`. Raises BadRequest when they make no sense."""
    kind: str = Kind.LLM
    """What kind of work it asks for. Any kind but chat is served by the ``Service`` of the
    kind and ``action`` that a vendor declares."""
    counting: Counting | None = None
    """Given when the endpoint counts tokens and generates nothing."""
    json_only: bool = False
    """Anything but JSON is refused with 415 before the body is read."""

    # What follows is for kinds other than chat.
    action: str = ""
    """Which endpoint of its kind it is, where there are several: ``edit``, ``translation``."""
    title: str = ""
    """The work in words, for errors: ``audio translations``; empty takes the kind."""
    method: Literal["GET", "POST"] = "POST"
    """The HTTP method."""
    wrong_method: str = ""
    """The message of a 400 for another method, where the path would be an unknown endpoint then;
    empty for a 405."""
    query: tuple[str, ...] = ()
    """Names of query parameters that are read."""
    forward: tuple[str, ...] = ()
    """Client headers, lower case, that go to the vendor."""
    defaults: Mapping[str, Raw] = {}
    """Members that a body gets which does not name them."""
    body: BodyShape = "json"
    """What the client sends."""
    form_limit: int | None = None
    """Largest form, bytes, whose files are on disk; ``None`` takes the operator's limit of any
    body."""
    files: tuple[str, ...] = ()
    """Files that a form has to have."""
    route: str | None = None
    """The word of ``settings.mediaRoutes`` whose models serve a call that names no model, or
    ``auto``; the connected models of the kind serve it where nothing is saved. ``None`` where a
    model has to be named."""
    fallback: Fallback = "models"
    """After a failure of a call that named no model, which others may be asked. ``never`` also
    holds for a call that named one: nothing is sent twice."""
    cooldown: str = ""
    """The name under which an account rests after a failure, with ``{provider}`` in it; empty
    takes the model's. With a name of its own, a failure leaves the account's other work alone."""
    no_combos: str = ""
    """The message with which combos are refused; empty where they are served."""
    chosen_by: Literal["model", "account", "provider"] = "model"
    """What the vendor is found by: the model; the account that the client pins, or the only one
    there is; or the provider, whose name ``read`` gives as the model."""
    shows_account: bool = False
    """The answer names its account in ``x-gateway-connection-id``, for calls that follow."""
    timeout: float | None = None
    """Seconds for one model, unless its service has a time of its own; ``None`` takes a combo's
    limit."""
    is_timeout_general: bool = False
    """``timeout`` also goes before the times of services."""
    timeout_status: int = 504
    """The status when that time is up."""
    forbids_disabled: bool = False
    """A provider that the operator has switched off is refused with 403."""
    answer_limit: int | None = None
    """Largest answer that is read whole, bytes; ``None`` takes the usual limit."""
    sample: Mapping[str, Any] | tuple[FormPart, ...] | None = None
    """A small request without its model, by which an operator tests a model of the kind: the
    members of JSON, or the parts of a form. ``None`` where a test would make no sense."""
    answer: Callable[[Call, Target, ServiceExchange], ServiceExchange] | None = None
    """Wraps a vendor's exchange where the client is to get the answer in another shape."""


class KeepAlive(Struct, frozen=True, kw_only=True):
    """What is sent to a client that waits.

    A stream that has one opens early: when the vendor has not answered within
    two seconds, the client gets its 200 and the first of these frames.
    """

    frame: bytes
    """A whole frame, or white space before one, that clients of this format ignore."""
    every: float | None = None
    """Seconds; ``None`` takes the operator's SSE_KEEPALIVE_MS."""
    throughout: bool = False
    """Sent into every silence of the stream, not only before its first byte."""
    spares: tuple[str, str] | None = None
    """A request header, in lower case, and how its value begins for clients that fail on the
    frame: they get none."""


class Grammar(Struct, frozen=True, kw_only=True):
    """What a whole stream of this format looks like, so that tests can check any of them.

    ``words`` turns a stream's bytes into one word per frame, or the word
    ``rubbish``; ``pattern`` is a regular expression over the words joined by
    single spaces, each followed by a space.
    """

    words: Callable[[bytes], list[str]]
    """A stream's bytes to its words."""
    pattern: str
    """A regular expression that a whole sound stream matches."""


class StreamReader(Protocol):
    """Vendor bytes to events, however the bytes are cut. Never raises: see ReplyFailed."""

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]: ...
    def close(self) -> Sequence[StreamEvent]:
        """The bytes have ended; a stream without its proper end gives ReplyFailed."""
        ...


class StreamWriter(Protocol):
    """Events to the client's frames."""

    def feed(self, events: Sequence[StreamEvent]) -> bytes: ...
    def close(self) -> bytes:
        """The frames that end a stream; none after a ReplyFailed."""
        ...


class Relay(Protocol):
    """Watches an answer that passes from a vendor to a client of the same format.

    ``feed`` gives back whole frames only, each as it came, so that what the
    client has is always a beginning of a well-formed stream. For a whole
    (not streamed) answer ``feed`` holds and ``close`` gives.
    """

    @property
    def usage(self) -> Usage | None: ...
    @property
    def started(self) -> bool:
        """True from the first frame that carries part of an answer."""
        ...

    @property
    def ended(self) -> bool:
        """True once the frame that properly ends a stream has passed."""
        ...

    @property
    def characters(self) -> int:
        """Of answer text, thinking and tool arguments seen so far, for an estimate
        when the vendor never reports usage."""
        ...

    @property
    def failure(self) -> ReplyFailed | None: ...

    def feed(self, chunk: bytes) -> bytes: ...
    def close(self) -> bytes: ...
    def fail(self, failure: ReplyFailed) -> bytes:
        """The error frame that ends a stream at this point."""
        ...


class Answered(Exception):
    """A call asks a model nothing, such as one that only has it loaded: the answer is known.

    Only a vendor of the client's own format is asked then. ``write`` gives the whole answer, also
    to a call for a stream, from the time in Unix seconds.
    """

    def __init__(self, write: Callable[[int], bytes]) -> None:
        super().__init__("the answer is known without a vendor")
        self.write = write


class ClientSide(Protocol):
    """What it takes to serve clients that speak this format."""

    def read_request(self, call: Call) -> Conversation:
        """Raises BadRequest, worded for the client, and Answered."""
        ...

    def write_reply(self, reply: Reply, request: Conversation, losses: Losses) -> bytes: ...
    def stream_writer(self, request: Conversation, losses: Losses) -> StreamWriter: ...
    def write_error(self, error: GatewayError, request_id: str) -> bytes: ...


class VendorSide(Protocol):
    """What it takes to call vendors that speak this format."""

    def write_request(
        self, conversation: Conversation, target: Target, losses: Losses
    ) -> bytes: ...

    def read_reply(self, body: bytes) -> Reply:
        """Raises UpstreamError for rubbish, and for an error that came with status 200."""
        ...

    def stream_reader(self) -> StreamReader: ...

    def read_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError: ...

    def path(self, model: str, stream: bool) -> str:
        """Where this format's chat call lives below a base URL, with its slash and query."""
        ...

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        """Begin a pass-through.

        ``members`` are the top-level members of the client's body; what has
        to differ for this vendor may be changed in place, value by value.
        """
        ...


def _as_error_event(body: bytes) -> bytes:
    return b"event: error\ndata: %b\n\n" % body


class WireFormat(Struct, frozen=True, kw_only=True):
    """A wire dialect, assembled from its verbs and a few facts."""

    id: str
    """Its name in ``ProviderSpec.format``: lower-case letters, digits and ``-``."""
    dialect: str
    """Formats of one dialect share ``extra`` members and signatures."""
    also_called: tuple[str, ...] = ()
    """Other names under which an operator may ask for a node of this format."""
    endpoints: tuple[Endpoint, ...] = ()
    """Where clients ask; empty for a format that no client speaks."""
    offers: Mapping[str, tuple[Service, ...]] = {}
    """What an operator's own node is taken to offer besides chat, by the type or the format of
    the node."""
    client: ClientSide | None = None
    """What serves clients; ``None`` without a client side."""
    vendor: VendorSide | None = None
    """What calls vendors; ``None`` without a vendor side."""
    vendor_for: Callable[[Conversation], VendorSide] | None = None
    """Gives what calls vendors with this very conversation, where reading the answer depends on
    what was asked; ``None`` where ``vendor`` reads them all."""
    stream_type: str = "text/event-stream; charset=utf-8"
    """Media type of a streamed answer."""
    keep_alive: KeepAlive | None = None
    """What keeps a slow stream open; ``None`` when clients of this format know nothing of the
    kind."""
    grammar: Grammar | None = None
    """What its streams look like; ``None`` when it has none."""
    model_in_body: bool = True
    """False when the vendor's path, not its body, names the model."""
    model_prefix: str = ""
    """What may stand before a model's id and is no part of it, where vendors of this format name
    their models as resources. Their rows and calls go by the id alone."""
    auth_header: str = "authorization"
    """The header in which a vendor of this format looks for its key, in lower case."""
    auth_prefix: str = "Bearer"
    """What stands before the key there, unless the vendor's spec says otherwise."""
    headers: Mapping[str, str] = {}
    """Sent to every vendor of this format; a forwarded client header replaces one."""
    forward: tuple[str, ...] = ()
    """Client headers, lower case, that go to a vendor of this same format."""
    decorated_models: bool = False
    """True when this format's list of models marks their names, so that the marks
    are to be taken off a name that nobody knows."""
    media_names: Mapping[str, str] = {}
    """What clients of this format call each kind of media, where they call it something else."""
    by_value: tuple[str, ...] = ()
    """Kinds of media that vendors of this format take by value and not by address: one that the
    client names by a web address is fetched, and written by value."""
    plain_models: bool = False
    """True when this format's list of models also shows the models of vendors that speak it
    under their own names, without the provider's prefix."""
    late_error: Callable[[bytes], bytes] = _as_error_event
    """Frames an error body for a stream that is open but has shown nothing yet."""
    spelling: Mapping[str, str] = NO_SPELLING
    """What clients of this format call what :class:`Losses` names otherwise, such as
    ``{"stop": "stop_sequences"}``."""
    trailer: Callable[[bytes], bytes] | None = None
    """Frames the value of ``x-gateway-dropped`` for the end of a stream, whose head is out before
    everything is known; ``None`` where clients fail on what they do not know."""
    base_url: str | None = None
    """What a custom node of this format gets when the operator names no URL."""
    options: Mapping[str, tuple[str | bool, ...]] = {}
    """The names of ``ProviderSpec.options`` that this format reads, each with the values that it
    knows; no values for any text."""
