"""What can go wrong on the way to a provider, worded for the client.

The sentences are fixed: no address, host or library text reaches a client.
"""

from ...contracts.errors import TooSlow, TransportError


class Stale(TransportError):
    """A kept connection died before a single byte of its answer came back."""

    def __init__(self, *, sent: bool) -> None:
        super().__init__("The provider closed the connection before it answered.", sent=sent)


class MalformedUrl(TransportError):
    """A URL this gateway does not send to."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The provider's URL cannot be used: {why}.", sent=False)


class MalformedRequest(TransportError):
    """A method or header that cannot be put on the wire."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The request cannot be sent to the provider: {why}.", sent=False)


class AddressForbidden(TransportError):
    """A host, address or port that may not be dialled."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The provider's address is not allowed: {why}.", sent=False)


def unresolved() -> TransportError:
    return TransportError("The provider's host name could not be resolved.", sent=False)


def unreachable() -> TransportError:
    return TransportError("The provider could not be reached.", sent=False)


def insecure() -> TransportError:
    return TransportError("A secure connection to the provider could not be made.", sent=False)


def connect_timeout() -> TransportError:
    return TransportError("The provider could not be reached in time.", status=504, sent=False)


def queue_timeout() -> TransportError:
    return TransportError(
        "No connection to the provider became free in time.", status=504, sent=False
    )


def answer_timeout() -> TransportError:
    return TooSlow("The provider did not answer in time.")


def silence() -> TransportError:
    return TooSlow("The provider fell silent in the middle of its answer.")


def unanswered() -> TransportError:
    return TransportError("The provider closed the connection before it answered.")


def broken_off() -> TransportError:
    return TransportError("The provider broke off its answer.")


def garbage() -> TransportError:
    return TransportError("The provider's answer is not valid HTTP.")


def head_too_large() -> TransportError:
    return TransportError("The head of the provider's answer is too large.")


def body_too_large(limit: int) -> TransportError:
    return TransportError(f"The provider's answer is larger than {limit} bytes.")


def miscoded() -> TransportError:
    return TransportError("The provider's answer could not be decompressed.")


def undecodable(coding: str, package: str) -> TransportError:
    return TransportError(
        f"The provider compressed its answer with {coding}, which needs the package {package}."
    )


def abandoned() -> TransportError:
    return TransportError("The answer was closed before it was read to its end.")


def shutting_down(*, sent: bool = False) -> TransportError:
    return TransportError("The gateway is shutting down.", sent=sent)


def proxy_failed() -> TransportError:
    return TransportError("The proxy did not open a way to the provider.", sent=False)
