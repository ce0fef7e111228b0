"""A client's socket and a vendor's, with messages passed on between them.

    client ──▶ models checked and renamed ──▶ limits ──▶ vendor
    client ◀── usage in the ledger ◀── limits ◀───────── vendor

One message is held in each direction, and the next one is read when the other side has taken it.
"""

import asyncio
import logging
from time import monotonic

from msgspec import Struct
from msgspec.json import encode

from gateway_core.contracts.errors import BadRequest, Forbidden, GatewayError, Unauthorized
from gateway_core.contracts.exchange import SocketClosed
from gateway_core.contracts.provider import Target
from gateway_core.contracts.sockets import SocketEvent, SocketReader, Spent
from gateway_core.contracts.usage import Usage
from gateway_core.identity.keys import Key
from gateway_core.metering.request_record import RequestRecord
from gateway_core.pipeline.context import Collaborators
from gateway_core.routing.snapshot import Account
from gateway_core.upstream.transport.websocket import VendorSocket
from gateway_formats.json_text import Edit, JsonText
from gateway_formats.model_fields import find_models

from .admission import identify
from .relay_plan import Way, named_target, permit, plain_model
from .socket import ClientSocket, Closed

FORMAT = "realtime"
"""What the ledger calls the dialects of sockets."""
STALLED = 60.0
"""Seconds in which a client must take a message."""
SETTLING = 5.0
"""Seconds for the end of a response whose client has left."""
REMEMBERED = 1024
"""Ids of responses that are counted already."""

NORMAL, GOING_AWAY, BAD_DATA, POLICY = 1000, 1001, 1007, 1008
FAILED, OVERLOADED, DENIED = 1011, 1013, 4001
REASON = 123
"""Longest reason of a close frame, bytes: RFC 6455, section 5.5."""

log = logging.getLogger(__name__)


class Ended(Exception):
    """Both sockets are to be closed."""

    def __init__(self, code: int, reason: str = "", onward: int = NORMAL) -> None:
        """``code`` is for the client, ``onward`` for the vendor."""
        super().__init__(reason)
        self.code, self.reason, self.onward = code, short(reason), onward


class Parties(Struct, frozen=True):
    """Who talks to whom."""

    path: str
    way: Way
    key: Key | None
    account: Account
    vendor: VendorSocket
    reader: SocketReader


class Relay:
    """One session between a client and a vendor."""

    def __init__(self, core: Collaborators, client: ClientSocket, parties: Parties) -> None:
        self._core, self._client, self._parties = core, client, parties
        self._vendor, self._service = parties.vendor, parties.way.service
        self._key = parties.key
        self._reader = parties.reader
        self._target = parties.way.target
        self._named: dict[str, Target] = {}
        """The models that events have named, by their places."""
        self._is_asked = False
        """The client has asked for a response, which the vendor has not announced yet."""
        self._record: RequestRecord | None = None
        """Of the response that runs."""
        self._is_refused = False
        """The limits have refused what the reader takes to be running."""
        self._counted: dict[str, None] = {}
        self._stopping = asyncio.Event()
        client.on_stop(self._stopping.set)

    async def run(self, first: str | bytes | None = None) -> None:
        """Pass messages on until one side closes. ``first`` was received already."""
        loop = asyncio.get_running_loop()
        pumps = [
            loop.create_task(self._to_vendor(first)),
            loop.create_task(self._to_client()),
            loop.create_task(self._until_stopped()),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            end = await first_end(pumps)
            try:
                await self._settle()
                if not self._is_refused:
                    self._count(self._reader.close())
            finally:
                self._forget()
                await self._vendor.close(end.onward)
                await self._client.close(end.code, end.reason)

    # From the client to the vendor.

    async def _to_vendor(self, first: str | bytes | None) -> None:
        if self._service.opening is not None:
            await self._send_on(self._service.opening(self._target.model.id))
        message = first
        while True:
            if message is None:
                received = await self._client.receive()
                if isinstance(received, Closed):
                    raise Ended(received.code, onward=onward(received.code))
                message = received
            checked = await self._checked(message)
            if checked is not None:
                await self._send_on(checked)
            message = None

    async def _send_on(self, message: str | bytes) -> None:
        if not await self._vendor.send(message):
            raise Ended(OVERLOADED, "The provider does not take what is sent")

    async def _checked(self, message: str | bytes) -> str | bytes | None:
        """A message as it may be sent on; ``None`` for one that is refused."""
        if isinstance(message, str) or not self._service.takes_binary:
            message = self._with_plain_models(message)
        event = self._reader.read_client(message)
        self._count(event.spent)
        if event.begins:
            refused = await self._begin(is_asked=event.begins == "asked")
            if refused is not None:
                write = self._service.write_error
                if event.begins == "running" or write is None or is_denial(refused):
                    raise await self._refuse(refused)
                await self._client.send(write(refused.type, refused.code, refused.message))
                return None
        return message

    def _with_plain_models(self, message: str | bytes) -> str | bytes:
        """An event whose models are checked and have the vendor's names. Raises Ended."""
        try:
            text = JsonText(message.encode() if isinstance(message, str) else message)
            fields = list(find_models(text, self._service.model_fields))
        except BadRequest as error:
            raise Ended(BAD_DATA, error.message) from None
        if not fields:
            return message
        edits = []
        try:
            # The key may have been changed since the last event.
            self._key = identify(self._core, self._client).key
            for field in fields:
                name = text.read(field.span)
                if isinstance(name, str) and (plain := self._allow(field.place, name)) != name:
                    edits.append(Edit(field.span.begin, field.span.end, encode(plain)))
        except (Unauthorized, Forbidden) as error:
            raise Ended(DENIED, error.message) from None
        if not edits:
            return message
        renamed = text.edited(edits)
        return renamed.decode() if isinstance(message, str) else renamed

    def _allow(self, field: str, name: str) -> str:
        """The vendor's name of a model that the caller may use. Raises Forbidden."""
        service, spec = self._service, self._target.provider
        plain = plain_model(self._core.snapshot, spec, service.model_prefix, name)
        target = named_target(
            self._core, spec, service.kind, plain.removeprefix(service.model_prefix)
        )
        permit(self._core, self._key, target, name)
        self._named[field] = target
        if field == service.session_model:
            self._target = target
        return plain

    # From the vendor to the client.

    async def _to_client(self) -> None:
        while True:
            message = await self._vendor.receive()
            if isinstance(message, SocketClosed):
                raise Ended(passed_on(message.code), message.reason)
            await self._account(self._reader.read_vendor(message))
            try:
                async with asyncio.timeout(STALLED):
                    await self._client.send(message)
            except TimeoutError:
                raise Ended(OVERLOADED, "The client does not take what is sent") from None
            if self._stopping.is_set() and not self._is_busy:
                raise Ended(GOING_AWAY, "The gateway is stopping")

    async def _account(self, event: SocketEvent) -> None:
        """Count what a message of the vendor reports, before the client sees it. Raises Ended."""
        if event.begins:
            refused = await self._begin(is_asked=False)
            if refused is not None:
                raise await self._refuse(refused)
        self._count(event.spent)

    async def _until_stopped(self) -> None:
        """Raise Ended when the gateway stops and no response runs; one that does may end."""
        await self._stopping.wait()
        if not self._is_busy:
            raise Ended(GOING_AWAY, "The gateway is stopping")
        await asyncio.Event().wait()

    # Limits and the ledger.

    @property
    def _is_busy(self) -> bool:
        """A response runs, or is asked for."""
        return self._record is not None or self._is_asked

    async def _begin(self, *, is_asked: bool) -> GatewayError | None:
        """Admit a response; why not, where it is refused."""
        # What was asked for, and admitted, is announced by the vendor when it begins.
        if is_asked or not self._is_asked:
            try:
                await self._admit()
            except GatewayError as error:
                return error
        self._is_asked = is_asked
        if self._record is None and not is_asked:
            self._record = self._new_record()
        return None

    async def _admit(self) -> None:
        """Check the key again, which may have been changed or used up. Raises GatewayError."""
        self._key = identify(self._core, self._client).key
        permit(self._core, self._key, self._target, self._parties.way.requested)
        in_common = self._core.state.group_limits
        if self._key is not None and in_common is not None:
            await in_common.check(self._key, is_open=True)
        if self._key is not None and self._key.has_limits:
            await self._core.limits.admit(self._key)

    async def _refuse(self, error: GatewayError) -> Ended:
        self._is_refused = True
        write = self._service.write_error
        if write is not None:
            await self._client.send(write(error.type, error.code, error.message))
        return Ended(DENIED if is_denial(error) else POLICY, error.message)

    def _new_record(self) -> RequestRecord:
        core, parties = self._core, self._parties
        record = RequestRecord(core.new_id(), parties.path, FORMAT, core.clock(), self._key)
        record.model, record.stream = parties.way.requested, True
        record.target, record.connection_id = self._target, parties.account.id
        record.upstream_format, record.attempts = FORMAT, 1
        core.in_flight.begin(record)
        return record

    def _count(self, spent: Spent | None) -> None:
        """Write a response into the ledger, once."""
        if spent is None or spent.id in self._counted:
            return
        if len(self._counted) >= REMEMBERED:
            del self._counted[next(iter(self._counted))]
        self._counted[spent.id] = None
        side = next((self._named[field] for field in spent.fields if field in self._named), None)
        record = None if side is not None else self._record
        if record is None:
            record = self._new_record()
        else:
            self._record = None
        record.target, record.usage = side or self._target, spent.usage
        self._write(record)

    def _write(self, record: RequestRecord) -> None:
        record.over = monotonic()
        self._core.in_flight.end(record)
        self._core.ledger.record(record)

    def _forget(self) -> None:
        """A response that nothing is known of but its beginning."""
        if self._record is not None:
            record, self._record = self._record, None
            record.status, record.usage = "upstream_cut", Usage(estimated=True)
            self._write(record)

    async def _settle(self) -> None:
        """Hear how a response ends whose client has left, because it is paid for all the same."""
        if not self._is_busy or self._vendor.closed is not None:
            return
        try:
            async with asyncio.timeout(SETTLING):
                if self._service.cancel is not None:
                    await self._vendor.send(self._service.cancel)
                while self._is_busy:
                    message = await self._vendor.receive()
                    if isinstance(message, SocketClosed):
                        return
                    event = self._reader.read_vendor(message)
                    if event.begins and self._is_asked:
                        self._is_asked, self._record = False, self._new_record()
                    self._count(event.spent)
        except TimeoutError:
            log.debug("a provider did not say what a response had used")


def is_denial(error: GatewayError) -> bool:
    """Whether the caller may not go on at all."""
    return isinstance(error, Unauthorized | Forbidden)


async def first_end(pumps: list["asyncio.Task[None]"]) -> Ended:
    """Stop what still runs; how the session has ended."""
    for pump in pumps:
        pump.cancel()
    results = await asyncio.gather(*pumps, return_exceptions=True)
    ends = [each for each in results if isinstance(each, Ended)]
    for error in results:
        if isinstance(error, Exception) and not isinstance(error, Ended):
            log.error("a relayed socket failed", exc_info=error)
            return Ended(FAILED, "The session failed")
    return ends[0] if ends else Ended(GOING_AWAY, "The gateway is stopping")


def passed_on(code: int) -> int:
    """The code with which a client's socket is closed after a vendor's."""
    return code if 1000 <= code < 5000 and not 1004 <= code <= 1006 else FAILED


def onward(code: int) -> int:
    """The code with which a vendor's socket is closed after a client's."""
    return code if code in (NORMAL, GOING_AWAY) or 3000 <= code < 5000 else NORMAL


def short(reason: str) -> str:
    """A reason that fits into a close frame."""
    return reason.encode()[:REASON].decode(errors="ignore")
