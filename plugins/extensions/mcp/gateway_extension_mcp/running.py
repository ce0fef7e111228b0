"""What of this plugin runs in each gateway, by the host that the gateway gives it."""

from typing import TYPE_CHECKING

from gateway_core import Host

if TYPE_CHECKING:
    from .tools import Tools

_running: "dict[Host, Tools]" = {}


def tools_of(host: Host) -> "Tools":
    """The tools of a gateway, made once."""
    from .tools import Tools

    return _running.setdefault(host, Tools(host))


async def close(host: Host) -> None:
    """Close every connection of a gateway that stops."""
    tools = _running.pop(host, None)
    if tools is not None:
        await tools.links.aclose()
