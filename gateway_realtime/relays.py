"""Opens relayed sessions: from a client's handshake to the vendor's."""

import asyncio
from time import monotonic

from gateway_core.contracts.errors import (
    BadRequest,
    GatewayError,
    HostRefused,
    TransportError,
    UpstreamError,
)
from gateway_core.identity.keys import Key
from gateway_core.metering.request_record import RequestRecord
from gateway_core.pipeline.context import Collaborators
from gateway_core.routing.failure_rules import classify
from gateway_core.routing.snapshot import Account
from gateway_core.upstream.redaction import redact, secrets_of
from gateway_core.upstream.transport.websocket import HANDSHAKE, VendorSocket
from gateway_formats.json_text import JsonText
from gateway_formats.model_fields import find_models

from .admission import SUBPROTOCOLS, identify, is_foreign_page
from .handshake import connect, handshake
from .relay import DENIED, FAILED, FORMAT, POLICY, Parties, Relay, is_denial, short
from .relay_plan import CHAT_PATH, NATIVE, Way, accounts_for, find_way, native_service, permit
from .socket import ClientSocket, Closed


class Relays:
    """Serves the sockets that vendors declare."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core

    async def serve(self, client: ClientSocket, path: str) -> bool:
        """Serve a socket from its handshake on. False, and nothing has happened, where its caller
        is to be refused, and for a model that has no socket and may do without."""
        core = self._core
        try:
            key = identify(core, client).key
        except Exception:  # Whoever admits callers finds the same, and says so.
            return False
        if is_foreign_page(core, client):
            return False
        name = client.query.get("model", "")
        try:
            is_late = not name and path.startswith(NATIVE) and is_named_later(core, path)
            way = None if is_late else find_way(core.snapshot, path, name)
            if way is None and not is_late:
                if path == CHAT_PATH:
                    return False
                raise BadRequest(
                    f"{name} is no model with a socket" if name else "Missing model",
                    code="model_not_supported",
                    param="model",
                )
            accounts = await self._admit(client, key, way)
        except GatewayError as error:
            await client.deny(error)
            return True
        await client.accept(next((s for s in client.subprotocols if s in SUBPROTOCOLS), None))
        first: str | bytes | None = None
        if way is None:
            try:
                way, first = await self._named_way(client, path)
                accounts = await self._admit(client, key, way)
            except GatewayError as error:
                await refuse(client, error)
                return True
            except ClientLeft:
                return True
        await self._relay(client, path, way, key, accounts, first)
        return True

    async def _admit(self, client: ClientSocket, key: Key | None, way: Way | None) -> list[Account]:
        """The accounts for a caller that may use a model. Raises GatewayError."""
        if way is None:
            return []
        permit(self._core, key, way.target, way.requested)
        accounts = accounts_for(self._core, key, way.target, client.headers)
        in_common = self._core.state.group_limits
        if key is not None and in_common is not None:
            await in_common.check(key, is_open=True)
        if key is not None and key.has_limits:
            # Only a look: each response of the session is admitted, and counted, by itself.
            await self._core.limits.admit(key)
            self._core.limits.withdraw(key)
        return accounts

    async def _named_way(self, client: ClientSocket, path: str) -> tuple[Way, str | bytes]:
        """The way that the first message names. Raises GatewayError, ClientLeft."""
        _, service = native_service(self._core.snapshot, path)
        try:
            async with asyncio.timeout(HANDSHAKE):
                first = await client.receive()
        except TimeoutError:
            raise BadRequest("Missing gateway model identity") from None
        if isinstance(first, Closed):
            raise ClientLeft
        text = JsonText(first.encode() if isinstance(first, str) else first)
        named = {f.place: text.read(f.span) for f in find_models(text, service.model_fields)}
        name = named.get(service.session_model or "")
        return find_native(self._core, path, name if isinstance(name, str) else ""), first

    async def _relay(
        self,
        client: ClientSocket,
        path: str,
        way: Way,
        key: Key | None,
        accounts: list[Account],
        first: str | bytes | None,
    ) -> None:
        # Made first: it is a plugin's code, and may fail.
        reader = way.service.reader(client.query)
        try:
            account, vendor = await self._connect(client, way, accounts)
        except GatewayError as error:
            self._write_failure(path, way, key, error)
            await client.close(FAILED, short(error.message))
            return
        parties = Parties(path, way, key, account, vendor, reader)
        await Relay(self._core, client, parties).run(first)

    async def _connect(
        self, client: ClientSocket, way: Way, accounts: list[Account]
    ) -> tuple[Account, VendorSocket]:
        """The first account whose vendor opens a socket. Raises UpstreamError."""
        core, target = self._core, way.target
        offered = [each for each in way.service.subprotocols if each in client.subprotocols]
        end = monotonic() + HANDSHAKE
        failure = UpstreamError("Provider account unavailable", status=503)
        for account in accounts:
            request = handshake(
                way.service, target, account.credential, client.headers, client.query
            )
            try:
                async with asyncio.timeout(end - monotonic()):
                    vendor = await connect(core, target.provider, account, request, offered)
            except TimeoutError:
                raise TransportError(
                    "The provider did not open a socket in time", status=504
                ) from None
            except HostRefused as error:  # No fault of the account: it gets no rest.
                failure = error
                continue
            except UpstreamError as error:
                error.message = redact(error.message, secrets_of(account.credential))
                failure = error
                rest = classify(error, target.provider, core.snapshot.settings)
                core.cooldowns.record_failure(account.id, target.model.id, error, rest)
                if rest.retry:
                    continue
                break
            core.cooldowns.record_success(account.id, target.model.id)
            core.round_robin.used(target.provider.id, account.id, None)
            return account, vendor
        raise failure

    def _write_failure(self, path: str, way: Way, key: Key | None, error: GatewayError) -> None:
        core = self._core
        record = RequestRecord(core.new_id(), path, FORMAT, core.clock(), key)
        record.model, record.stream, record.target = way.requested, True, way.target
        record.upstream_format, record.attempts = FORMAT, 1
        record.failed(error)
        record.over = monotonic()
        core.ledger.record(record)


class ClientLeft(Exception):
    """The client has closed its socket before it named a model."""


def is_named_later(core: Collaborators, path: str) -> bool:
    """Whether the first message at a path names the model."""
    return native_service(core.snapshot, path)[1].begins_with_model


def find_native(core: Collaborators, path: str, name: str) -> Way:
    way = find_way(core.snapshot, path, name)
    assert way is not None
    return way


async def refuse(client: ClientSocket, error: GatewayError) -> None:
    """Close a socket whose handshake is over."""
    await client.close(DENIED if is_denial(error) else POLICY, short(error.message))
