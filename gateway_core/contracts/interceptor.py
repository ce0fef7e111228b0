"""An object that stands on the path of every inference call: guardrail, cache, telemetry."""

from collections.abc import Mapping
from typing import Any, Protocol

from .provider import Call


class Interceptor(Protocol):
    """Sees a call before it is resolved, and its record after it has ended.

    ``order`` sorts interceptors, lowest first. When ``before`` or ``after``
    raises anything but a GatewayError, the call goes on if ``required`` is
    false and is refused with 500 if it is true; either way it is logged. Each may
    take 5 seconds, or the ``timeout`` that the object has, at most 60. While the object
    has an ``is_idle`` that is true, it sees no calls: it is read again when settings change.
    """

    order: int
    """Where it stands: interceptors are asked from the lowest to the highest."""
    required: bool
    """Whether a call is refused when it fails."""

    async def before(self, call: Call) -> Call:
        """Give the call to go on with, or raise a GatewayError to refuse it."""
        ...

    async def after(self, record: Mapping[str, Any]) -> None:
        """Take the finished call's usage record, off the client's path."""
        ...
