"""Servers whose models only they know themselves: the operator's nodes, and local servers."""

from urllib.parse import urlsplit

from gateway_core.contracts.provider import ProviderSpec

HERE = ("localhost", "127.0.0.1", "::1")


def is_own_server(spec: ProviderSpec) -> bool:
    """Whether only the provider itself knows its models: a node, or a server on this machine."""
    return spec.is_node or is_local(spec)


def is_local(spec: ProviderSpec) -> bool:
    """Whether it runs on this machine and needs no key."""
    is_here = urlsplit(spec.base_url or "").hostname in HERE
    return is_here and spec.auth.type in ("none", "optional")
