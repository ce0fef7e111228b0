"""Everything that can go wrong, as one tree.

A class is named after the condition, carries its status and code, and words
its message for the client. How it looks on the wire is the client format's
business (``ClientSide.write_error``).

GatewayError
├── BadRequest (400)      NotAChatModel, NotOfKind, NoProviderForKind
│   └── Unsendable        KeptElsewhere, PartUnsupported, MediaUnreachable, MediaForbidden
├── Unauthorized (401)    MissingKey, InvalidKey
├── Forbidden (403)       LocalOnly
├── NotFound (404)        UnknownRoute, UnknownModel, NoCredentials
├── MethodNotAllowed (405)
├── Conflict (409)
├── BodyTooLarge (413)
├── UnsupportedMedia (415)
├── LimitExceeded (429)
├── Unavailable (503)     AllAccountsCooling, NothingToTry, EmptyCombo
└── UpstreamError         the vendor's answer, classified
    ├── AnswerFailed      the model's own turn failed
    ├── PluginBroken      a plugin's own code failed on this request
    └── TransportError    the vendor could not be reached or broke off
        ├── TooSlow       the vendor's time ran out
        └── HostRefused   a plugin's code wanted to send somewhere else
"""

INVALID = "invalid_request_error"


class GatewayError(Exception):
    """A condition the client is told about.

    ``message`` is for the client; ``retry_after`` is in seconds; ``code``
    replaces the class's own code where the condition has a finer one; ``param``
    names the member that is refused, for formats that have a place for it.
    """

    status: int = 500
    """The HTTP status."""
    type: str = "server_error"
    """The word for its family, in formats that have one."""
    code: str | None = "internal_server_error"
    """The word for the condition itself."""
    param: str | None = None
    """The member of the request that is refused, as the client wrote its place."""

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        code: str | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = retry_after
        if code is not None:
            self.code = code
        if param is not None:
            self.param = param


class BadRequest(GatewayError):
    """The request makes no sense; the message says which part."""

    status = 400
    type = INVALID
    code = "bad_request"


class Unsendable(BadRequest):
    """A part of the conversation cannot be sent to the model asked; another one may take it."""

    code = "unsupported_parameter"


class PartUnsupported(Unsendable):
    """The vendor's format has no place for a part of the conversation.

    A format raises it with the neutral word for the part (a kind of media, or the type of a
    foreign part); what the client is answered has the client's own word and the target's name.
    """

    def __init__(self, part: str, target: str = "this model") -> None:
        super().__init__(
            f"'{part}' cannot be sent to {target}, which takes nothing of the kind. "
            "Leave it out, or ask a model that takes it.",
            param=part,
        )
        self.part = part


class MediaUnreachable(Unsendable):
    """A medium that the client named by its address could not be fetched for the vendor."""

    code = "media_unreachable"


class MediaForbidden(Unsendable):
    """A medium's address is not one that a request may send the gateway to."""

    status = 403
    code = "media_forbidden"


class KeptElsewhere(Unsendable):
    """A part of the conversation is kept by a vendor that is not the one asked."""

    def __init__(self, member: str, target: str) -> None:
        super().__init__(
            f"'{member}' stands for input that a vendor keeps, and {target} cannot look it up. "
            "Leave it out and send the whole conversation in the request.",
            param=member,
        )


class NotAChatModel(BadRequest):
    """A chat endpoint was asked for a model that is for other work."""

    def __init__(self, model: str) -> None:
        super().__init__(
            f"{model} is not a chat model and cannot be used on chat endpoints",
            code="model_not_supported",
            param="model",
        )


class NotOfKind(BadRequest):
    """A model was named for work that it does not do."""

    def __init__(self, model: str, kind: str) -> None:
        super().__init__(
            f"{model} is not a model for {kind}", code="model_not_supported", param="model"
        )


class NoProviderForKind(BadRequest):
    """No connected provider does this kind of work."""

    code = "no_provider_for_kind"


class Unauthorized(GatewayError):
    """The caller is not known."""

    status = 401
    type = "authentication_error"
    code = "invalid_api_key"


class MissingKey(Unauthorized):
    """Keys are required and none was sent."""

    def __init__(self) -> None:
        super().__init__("Missing API key")


class InvalidKey(Unauthorized):
    """An unknown, paused or expired key; the client does not learn which."""

    def __init__(self) -> None:
        super().__init__("Invalid API key")


class Forbidden(GatewayError):
    """The caller is known and may not do this."""

    status = 403
    type = "permission_error"
    code = "forbidden"


class LocalOnly(Forbidden):
    """Only a caller on this machine may do this."""

    def __init__(self) -> None:
        super().__init__("Local only: CLI token required")


class NotFound(GatewayError):
    """What was named does not exist."""

    status = 404
    type = INVALID
    code = "not_found"


class UnknownRoute(NotFound):
    """Nobody serves this path."""

    type = "not_found"
    code = "unknown_route"

    def __init__(self, path: str) -> None:
        super().__init__(f"There is no route {path}")
        self.path = path


class UnknownModel(NotFound):
    """The catalog has no such model."""

    code = "model_not_found"


class NoCredentials(NotFound):
    """The provider is known but no account at it is saved."""

    code = "no_credentials"

    def __init__(self, provider: str) -> None:
        super().__init__(
            f"No active credentials for provider: {provider}. "
            "Add an account with POST /api/connections or set the provider's environment variable."
        )


class MethodNotAllowed(GatewayError):
    """The path exists, but not with this method."""

    status = 405
    type = INVALID
    code = "method_not_allowed"


class Conflict(GatewayError):
    """What is asked for contradicts what is there."""

    status = 409
    type = INVALID
    code = "conflict"


class BodyTooLarge(GatewayError):
    """The request body passes its limit."""

    status = 413
    type = INVALID
    code = "body_too_large"


class UnsupportedMedia(GatewayError):
    """The request body is of a type or coding that is not taken here."""

    status = 415
    type = INVALID
    code = "unsupported_media_type"


class LimitExceeded(GatewayError):
    """A limit is reached; ``retry-after`` says until when."""

    status = 429
    type = "rate_limit_error"
    code = "rate_limit_exceeded"


class Unavailable(GatewayError):
    """This cannot be done right now."""

    status = 503
    code = "service_unavailable"


class NothingToTry(Unavailable):
    """A combo or a virtual model has no member that could be asked."""


class EmptyCombo(NothingToTry):
    """A combo, by name, that has no members."""

    def __init__(self, combo: str) -> None:
        super().__init__(f'Combo "{combo}" has no models')
        self.combo = combo


_MEANINGS = {
    401: (Unauthorized.type, Unauthorized.code),
    402: ("billing_error", "payment_required"),
    403: (Forbidden.type, "insufficient_quota"),
    404: (INVALID, "model_not_found"),
    429: (LimitExceeded.type, LimitExceeded.code),
    502: (GatewayError.type, "bad_gateway"),
    504: (GatewayError.type, "gateway_timeout"),
}
"""Type and code of a refusal, by its status."""


class AllAccountsCooling(Unavailable):
    """Every account of every target is cooling down; ``status`` is the last one seen."""

    def __init__(self, message: str, *, status: int, retry_after: float | None) -> None:
        super().__init__(message, retry_after=retry_after)
        self.status = status
        self.type, self.code = _MEANINGS.get(status, (self.type, self.code))


class UpstreamError(GatewayError):
    """A vendor refused or failed.

    ``status`` is the vendor's own when it is an error status, else 502.
    ``kind`` and ``code`` are the vendor's words for the condition, where it
    had any. ``request_id`` is the vendor's correlation id.
    """

    status = 502
    type = "upstream_error"
    code = "bad_gateway"

    def __init__(
        self,
        message: str,
        *,
        status: int = 502,
        kind: str | None = None,
        code: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, retry_after=retry_after, code=code)
        self.status = status if 400 <= status < 600 else 502
        self.kind = kind
        self.request_id = request_id


class TransportError(UpstreamError):
    """No answer, or one that broke off: 502, or 504 when time ran out.

    ``sent`` is true when the vendor may have begun to work on the request.
    """

    def __init__(self, message: str, *, status: int = 502, sent: bool = True) -> None:
        code = {504: "gateway_timeout", 408: "request_timeout"}.get(status, "bad_gateway")
        super().__init__(message, status=status, code=code)
        self.sent = sent


class TooSlow(TransportError):
    """The vendor took longer than it may. A slow model is no fault of the account, so none is
    rested."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=504)


class AnswerFailed(UpstreamError):
    """The vendor answered, and says that the model's turn failed. No account is at fault, so none
    is rested; another try may do better."""


class PluginBroken(UpstreamError):
    """A plugin's own code failed on this request. No account is at fault, so none is rested."""

    code = "plugin_failed"

    def __init__(self, message: str) -> None:
        super().__init__(message, code="plugin_failed")


class HostRefused(TransportError):
    """A plugin's code asked for a host that it does not declare; nothing was sent.

    No account is at fault, so none is rested.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, sent=False)
        self.code = "host_refused"
