"""Turns bodies into changes of nodes. Pure: no database and no network."""

import re
from collections.abc import Iterable, Mapping

from msgspec import UNSET

from gateway_administration.stores.nodes import NewNode, NodeChange
from gateway_core.contracts.errors import BadRequest
from gateway_core.contracts.wire import WireFormat
from gateway_core.routing.snapshot_loader import COMPATIBLE, node_format
from gateway_core.storage.stores.nodes import Node
from gateway_core.upstream.transport import MalformedUrl
from gateway_core.upstream.transport.urls import parse

from ..accounts.owners import usual_endings
from ..accounts.probes import custom
from ..destinations import clean_base_url
from ..requests import Text, strip
from .bodies import NodeBody

USUAL_TYPE = "openai-compatible"
OTHER_WORD = {"systemone-compatible": custom.DECISION}
API_TYPES = ("chat", "responses")
RESERVED = frozenset({"auto"})
"""Prefixes with another meaning."""
LONGEST_NAME = 200
LONGEST_ICON = 128 * 1024
_PREFIX = re.compile(r"[^\s/*]{1,64}")
"""Without a star, which means something in the patterns of keys."""
_ICON_DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=]+")
Formats = Mapping[str, WireFormat]


def new_node(body: NodeBody, formats: Formats) -> NewNode:
    """Build the node that a body describes. Raises BadRequest."""
    type_ = type_of(strip(body.type), formats)
    api_type = api_type_of(type_, body.api_type)
    wire = wire_of(type_, api_type, formats)
    return NewNode(
        type=type_,
        name=name_of(body.name),
        prefix=prefix_of(body.prefix),
        api_type=api_type,
        base_url=base_url_of(type_, strip(body.base_url), wire),
        icon_url=icon_of(body.icon_url),
        data={"modelId": strip(body.model_id)} if strip(body.model_id) else {},
    )


def change(before: Node, body: NodeBody, formats: Formats) -> NodeChange:
    """Build the change that a body describes. Raises BadRequest."""
    if body.type is not UNSET and OTHER_WORD.get(strip(body.type), strip(body.type)) != before.type:
        raise BadRequest("The type of a node cannot be changed")
    api_type = before.api_type
    if body.api_type is not UNSET:
        api_type = api_type_of(before.type, body.api_type)
    wire = wire_of(before.type, api_type, formats)
    base_url, data = strip(body.base_url), dict(before.data)
    if body.model_id is not UNSET:
        data["modelId"] = strip(body.model_id)
    return NodeChange(
        name=UNSET if body.name is UNSET else name_of(body.name),
        prefix=UNSET if body.prefix is UNSET else prefix_of(body.prefix),
        api_type=api_type,
        base_url=UNSET if body.base_url is UNSET else base_url_of(before.type, base_url, wire),
        icon_url=UNSET if body.icon_url is UNSET else icon_of(body.icon_url),
        data={name: value for name, value in data.items() if value},
    )


def known_types(formats: Formats) -> tuple[str, ...]:
    """Return every type that the installed formats support."""
    vendors = (wire for wire in formats.values() if wire.vendor is not None)
    names = (name for wire in vendors for name in (wire.id, *wire.also_called))
    return (*(f"{name}{COMPATIBLE}" for name in names), *custom.TYPES)


def type_of(text: str, formats: Formats) -> str:
    type_ = OTHER_WORD.get(text, text) or USUAL_TYPE
    known = known_types(formats)
    if type_ not in known:
        raise BadRequest(f"Invalid type: {', '.join(known)} are possible")
    return type_


def api_type_of(type_: str, text: Text) -> str | None:
    """Return the API of an endpoint whose type leaves a choice."""
    if type_ != USUAL_TYPE:
        return None
    word = strip(text) or API_TYPES[0]
    if word not in API_TYPES:
        raise BadRequest(f"Invalid API type: {' or '.join(API_TYPES)}")
    return word


def wire_of(type_: str, api_type: str | None, formats: Formats) -> WireFormat | None:
    """The format of a node; ``None`` for one that is not for chat. Raises BadRequest."""
    if type_ in custom.TYPES:
        return None
    wire = node_format(type_, api_type, formats)
    if wire is None:
        raise BadRequest("The wire format of this type is not installed")
    return wire


def name_of(text: Text) -> str:
    name = strip(text)
    if not name or len(name) > LONGEST_NAME:
        raise BadRequest("Name is required" if not name else "The name is too long")
    return name


def prefix_of(text: Text) -> str:
    prefix = strip(text)
    if not prefix:
        raise BadRequest("Prefix is required")
    if not _PREFIX.fullmatch(prefix) or not prefix.isprintable():
        raise BadRequest("A prefix is at most 64 characters, without space, slash or star")
    return prefix


def base_url_of(type_: str, text: str, wire: WireFormat | None) -> str:
    """Clean and check a base URL. Raises BadRequest."""
    if type_ == custom.EMBEDDING:
        return _whole(clean_base_url(text, (custom.EMBEDDING_PATH,)))
    if wire is None:
        return _whole(clean_base_url(text or custom.DECISION_URL))
    return _whole(clean_base_url(text or wire.base_url or "", usual_endings(wire)))


def _whole(url: str) -> str:
    if not url:
        raise BadRequest("Base URL is required")
    try:
        parse(url)
    except MalformedUrl as error:
        raise BadRequest(error.message) from None
    return url


def icon_of(text: Text) -> str | None:
    """Check an icon: a URL, or a small image as a data URL. Raises BadRequest."""
    icon = strip(text)
    if not icon:
        return None
    if len(icon) <= LONGEST_ICON and _ICON_DATA.fullmatch(icon):
        return icon
    try:
        parse(icon)
    except MalformedUrl:
        raise BadRequest("Invalid icon URL") from None
    return icon


def is_free(prefix: str, own: str | None, names: Mapping[str, str], nodes: Iterable[Node]) -> bool:
    """Whether no other provider, alias or node uses this prefix."""
    if prefix in RESERVED or names.get(prefix, own) != own:
        return False
    return all(prefix not in (node.id, node.prefix) for node in nodes if node.id != own)
