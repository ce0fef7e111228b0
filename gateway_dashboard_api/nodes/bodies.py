"""The bodies of requests about nodes: which members may be written."""

from msgspec import UNSET, Struct

from ..requests import Text


class NodeBody(Struct, frozen=True, kw_only=True, rename="camel"):
    name: Text = UNSET
    prefix: Text = UNSET
    type: Text = UNSET
    api_type: Text = UNSET
    base_url: Text = UNSET
    icon_url: Text = UNSET
    model_id: Text = UNSET


class NodeCandidateBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """A node that is not saved, to be looked at."""

    base_url: str | None = None
    api_key: str | None = None
    type: str | None = None
    api_type: str | None = None
    model_id: str | None = None
