"""Where an Ollama server is, from the many ways people write it."""

import re

from gateway_core import Credential, Target

LOCAL = "http://localhost:11434"
CLOUD = "https://ollama.com"

_NATIVE = "/api/"
_EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}
"""What a server listens on, which is no place to call, and where it is then."""
_AUTHORITY = re.compile(
    r"(?:\[(?P<six>[^\]]*)\]|(?P<bare>(?:[^:]*:){2,}[^:]*)|(?P<name>[^:]*))(?::(?P<port>\d+))?"
)


def address(target: Target, credential: Credential, path: str) -> str:
    """The whole URL of a call; the compatible endpoints are below ``/v1``, the server's own not."""
    root = server(credential)
    return f"{root}{path}" if path.startswith(_NATIVE) else f"{root}/v1{path}"


def server(credential: Credential) -> str:
    """The root of the account's server, without a slash at the end."""
    own = credential.data.get("baseUrl")
    if isinstance(own, str) and own.strip():
        return normalised(own)
    return CLOUD if credential.secret else LOCAL


def normalised(host: str) -> str:
    """``OLLAMA_HOST`` as a URL with a scheme, a port where it needs one, and a name to call.

    ``0.0.0.0`` is ``http://127.0.0.1:11434``, ``box:8000`` is ``http://box:8000``
    and ``https://box/v1/`` is ``https://box``.
    """
    text = host.strip().strip("\"'")
    scheme, separator, rest = text.rpartition("://")
    authority, _, path = rest.partition("/")
    if authority == "ollama.com" and not separator:
        return CLOUD
    if match := _AUTHORITY.fullmatch(authority):
        name = match["six"] or match["bare"] or match["name"] or ""
        name = _EVERYWHERE.get(name, name)
        usual_port = "" if separator else ":11434"
        port = f":{match['port']}" if match["port"] else usual_port
        authority = f"[{name}]{port}" if ":" in name else f"{name}{port}"
    below = f"/{path}".rstrip("/").removesuffix("/v1").removesuffix("/api")
    return f"{scheme or 'http'}://{authority}{below}"
