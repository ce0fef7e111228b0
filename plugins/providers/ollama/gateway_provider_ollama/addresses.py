"""Where an Ollama server is, from the many ways people write it."""

from urllib.parse import urlsplit

from gateway_core import Credential, Target

LOCAL = "http://localhost:11434"
CLOUD = "https://ollama.com"

_NATIVE = "/api/"
_EVERYWHERE = ("0.0.0.0", "::")
"""What a server listens on, which is no place to call."""


def address(target: Target, credential: Credential, path: str) -> str:
    """The whole URL of a call: the server's own paths at its root, the compatible ones below /v1."""
    root = server(credential)
    return f"{root}{path}" if path.startswith(_NATIVE) else f"{root}/v1{path}"


def server(credential: Credential) -> str:
    """The root of the account's server."""
    own = credential.data.get("baseUrl")
    if isinstance(own, str) and own.strip():
        return normalised(own)
    return CLOUD if credential.secret else LOCAL


def normalised(host: str) -> str:
    """``OLLAMA_HOST`` as a URL: scheme, port and a reachable name are filled in.

    ``0.0.0.0`` → ``http://127.0.0.1:11434``, ``box:8000`` → ``http://box:8000``,
    ``https://box/v1/`` → ``https://box``.
    """
    text = host.strip().strip("\"'")
    scheme, found, rest = text.partition("://")
    if not found:
        scheme, rest = ("https" if text == "ollama.com" else "http"), text
    parts = urlsplit(f"//{_bracketed(rest)}")
    root = f"{scheme}://{_authority(parts.netloc, is_usual_port=bool(found) or rest == 'ollama.com')}"
    return root + parts.path.rstrip("/").removesuffix("/v1").removesuffix("/api")
