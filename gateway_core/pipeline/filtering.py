"""Where filters see answers, and others than vendors give them. Without either there is none."""

from typing import Protocol

from ..contracts.asgi import Header
from ..contracts.errors import GatewayError
from ..contracts.exchange import UpstreamRequest, UpstreamResponse
from .attempt import Attempt
from .client_response import ClientResponse
from .request_run import RequestRun


class RunFiltering(Protocol):
    """The filters of one request's answer."""

    async def send(self, attempt: Attempt, request: UpstreamRequest, /) -> UpstreamResponse:
        """As ``send`` does, or answer in the vendor's place."""

    async def begin(self) -> tuple[Header, ...]:
        """Filter until there is something to send; give its headers. Raises a filter's refusal."""

    async def stream(self, client: ClientResponse) -> None:
        """Send the rest of a stream, up to what the run holds back for its end."""


class Filtering(Protocol):
    """Has the translation of a run hold its answers back for the filters that want them."""

    def attach(self, run: RequestRun) -> RunFiltering: ...


class NoFiltering:
    """Stands where plugins brought filters that nothing runs: no answer may pass unseen."""

    def attach(self, run: RequestRun) -> RunFiltering:
        raise GatewayError("The filters of answers are not running")
