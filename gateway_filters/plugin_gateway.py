"""What interceptors and filters may ask of the gateway: models' names, a model's opinion, a place
for what they keep.

One that has a method ``connect`` gets it when the gateway opens, if its plugin comes with the
gateway or is trusted by the operator.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway_core import Call, GatewayError, Kind, Target, Transport
from gateway_core.contracts.errors import UnknownRoute
from gateway_core.http.endpoints import Endpoints
from gateway_core.identity.caller import Caller
from gateway_core.identity.globs import glob
from gateway_core.identity.peers import UNKNOWN, Peer
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.in_process import in_process
from gateway_core.pipeline.plugin_host import own_transport
from gateway_core.pipeline.request_head import EndpointRoute
from gateway_core.plugins.trust import has_precedence
from gateway_core.routing.access_policy import spellings
from gateway_core.routing.model_resolver import resolve
from gateway_core.routing.plan import members_of_combo

from .shelf import FileContents, SharedContents, Shelf
from .sources import AnswerSource

__all__ = ["PluginGateway", "connect_plugins", "glob", "names_of_target"]

CHAT, EMBEDDINGS = "/v1/chat/completions", "/v1/embeddings"
_PEER = Peer(UNKNOWN, via_proxy=False, is_loopback=False)
# The gateway asks on the operator's behalf, so no key is needed.
_CALLER = Caller(peer=_PEER, is_local=True, is_cli=True)

log = logging.getLogger(__name__)


def names_of_target(call: Call, target: Target) -> frozenset[str]:
    """Every name of the model that answers, and the one that the client used."""
    return frozenset(spellings(target.provider, target.model.id, call.model))


class PluginGateway:
    """The gateway, for one plugin."""

    def __init__(
        self, core: Collaborators, plugin: str, sources: list[AnswerSource], shelves: AsyncExitStack
    ) -> None:
        self._core, self._plugin = core, plugin
        self._sources, self._shelves = sources, shelves

    @property
    def settings(self) -> Struct | None:
        """The plugin's settings as they are now: the very same value until they change."""
        return self._core.plugin_settings.current(self._plugin)

    def transport(self) -> Transport:
        """A way out to the hosts that the plugin's settings name."""
        return own_transport(self._core, self._plugin)

    def names_of_call(self, call: Call) -> frozenset[str]:
        """Every name of each model that a call may go to, and the one that the client used; only
        the latter where nothing is known by it."""
        snapshot, names = self._core.snapshot, {call.model}
        wire = snapshot.registry.formats.get(call.format)
        decorated = wire is not None and call.kind == Kind.LLM and wire.decorated_models
        try:
            resolved = resolve(snapshot, call.model, call.kind, decorated=decorated)
        except GatewayError:
            return frozenset(names)
        if resolved.target is not None:
            names |= names_of_target(call, resolved.target)
        elif resolved.combo is not None:
            names.add(resolved.combo.name)
            for member in members_of_combo(snapshot, resolved.combo, call.kind):
                names |= spellings(member.target.provider, member.target.model.id, member.name)
        return frozenset(names)

    def names_of_key(self, call: Call) -> frozenset[str]:
        """The id and the name of the caller's key; nothing without one."""
        if call.key_id is None:
            return frozenset()
        key = self._core.identity.keys.get(call.key_id)
        return frozenset((call.key_id,) if key is None else (call.key_id, key.name))

    async def labels_of_key(self, call: Call) -> tuple[str, ...]:
        """The groups that the caller's key is in, by name; nothing without a key."""
        if call.key_id is None:
            return ()
        # Imported here, as it brings every store of the operator's tools.
        from gateway_administration.stores.key_groups import KeyGroupStore

        return await KeyGroupStore(self._core.stores.database).labels_of(call.key_id)

    def now(self) -> float:
        """Wall clock, seconds."""
        return self._core.clock()

    def answer_with(self, source: AnswerSource) -> None:
        """Ask a source before vendors. To be called while the plugin is being connected."""
        self._sources.append(source)

    def shelf(self, discard: Callable[[Path], None]) -> Shelf:
        """A place for what the plugin keeps: where gateways keep things together, if they do.

        ``discard`` removes a database below the plugin's folder that turns out to be damaged.
        """
        shared, vault = self._core.snapshot.registry.shared_state, self._core.stores.vault
        if shared is not None:
            return Shelf(self._plugin, vault, SharedContents(shared, self._core.clock))
        folder = self._core.data_dir.plugin_folder(self._plugin)
        contents = FileContents(folder / "kept.sqlite", self._core.clock, discard)
        self._shelves.push_async_callback(contents.aclose)
        return Shelf(self._plugin, vault, contents)

    async def embed(self, model: str, text: str, *, timeout: float, note: str) -> Sequence[float]:
        """A text's embedding, by a model of that kind; routed and booked as ``ask_model``'s.

        Raises GatewayError, TimeoutError.
        """
        request = {"model": model, "input": text, "encoding_format": "float"}
        answer = await self._ask(EMBEDDINGS, request, timeout, note)
        try:
            return msgspec.json.decode(answer, type=Embeddings).data[0].embedding
        except (msgspec.DecodeError, IndexError):
            raise GatewayError("The model gave no embedding") from None

    async def ask_model(self, request: Mapping[str, Any], *, timeout: float, note: str) -> bytes:
        """A chat model's whole answer to a request in the chat-completions format.

        It is routed and booked as any call, without a key; its row has the note. Raises
        GatewayError for any other answer, and TimeoutError.
        """
        return await self._ask(CHAT, request, timeout, note)

    async def _ask(self, path: str, request: Mapping[str, Any], timeout: float, note: str) -> bytes:
        core, body = self._core, msgspec.json.encode(request)
        asked = in_process(core, _route(core, path), _CALLER, body, note=note)
        async with asyncio.timeout(timeout), asked as answer:
            content = await answer.body()
        if answer.status != 200:
            raise GatewayError(f"The model answered with status {answer.status}")
        return content


class Embedding(Struct):
    embedding: list[float]


class Embeddings(Struct):
    """A model's answer."""

    data: list[Embedding]


def connect_plugins(core: Collaborators) -> tuple[list[AnswerSource], AsyncExitStack]:
    """Give interceptors and filters the gateway that want it and may have it.

    Gives the sources that they brought, and what closes their shelves.
    """
    sources, shelves = list[AnswerSource](), AsyncExitStack()
    registry, trusted = core.snapshot.registry, core.environment.trust_plugins
    known = {each.name for each in registry.plugins if has_precedence(each)}.union(trusted)
    interceptors = zip(registry.interceptor_plugins, registry.interceptors, strict=True)
    for plugin, each in chain(interceptors, registry.answer_filters):
        connect = getattr(each, "connect", None)
        if plugin not in known or connect is None:
            continue
        try:
            connect(PluginGateway(core, plugin, sources, shelves))
        except Exception:
            log.exception("plugin %s: %s takes no gateway", plugin, type(each).__name__)
    return sources, shelves


def _route(core: Collaborators, path: str) -> EndpointRoute:
    found = Endpoints(core.snapshot.registry.formats.values()).find(path)
    if found is None:
        raise UnknownRoute(path)
    endpoint, wire = found[0].endpoint, found[0].wire
    return EndpointRoute(endpoint, replace(wire, keep_alive=None))
