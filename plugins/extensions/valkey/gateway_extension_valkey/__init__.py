"""Valkey: limits and rests of accounts that several gateways have in common.

Needs a server that speaks the protocol of Valkey or Redis, version 5 or newer, and does
nothing without its address. See https://valkey.io/topics/eval-intro/ for the scripts, and
``docs/valkey.md`` for what holds while the server is away.
"""

from typing import Annotated

from msgspec import Meta, Struct

from gateway_core import SharedState, hookimpl

GATEWAY_PROTOCOL = 1
SCHEMES = ("redis://", "rediss://", "valkey://", "valkeys://", "unix://")


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the server is, and how long a request waits for it."""

    url: Annotated[
        str,
        Meta(
            description="The server's address, such as valkey://:password@host:6379/0; "
            "empty leaves each process to count for itself.",
            extra={"secret": True, "variable": "GATEWAY_VALKEY_URL"},
        ),
    ] = ""
    prefix: Annotated[
        str,
        Meta(
            description="Begins the name of everything that is kept there. Gateways with the "
            "same prefix count together.",
            pattern="^[A-Za-z0-9_.:-]{1,64}$",
        ),
    ] = "model-gateway"
    wait_ms: Annotated[
        int,
        Meta(
            description="How long a request waits for the server, in milliseconds; after that "
            "each process counts for itself.",
            ge=10,
            le=1000,
        ),
    ] = 100

    def __post_init__(self) -> None:
        if self.url and not self.url.startswith(SCHEMES):
            raise ValueError(f"the address must begin with one of {', '.join(SCHEMES)}")


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def register_shared_state(settings: Settings) -> list[SharedState]:
    if not settings.url:
        return []
    # Imported only here, because most gateways serve alone.
    from .state import ValkeyState

    return [ValkeyState(settings.url, settings.prefix, settings.wait_ms / 1000)]
