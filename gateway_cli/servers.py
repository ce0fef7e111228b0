"""Which server serves: one that a plugin brings, or hypercorn, which is always installed."""

from pathlib import Path

from gateway_core.config.environment import Environment
from gateway_core.config.errors import ConfigError
from gateway_core.contracts.server import ServerSpec
from gateway_core.plugins.registry import Registry

from .listening import ServerError
from .tls_certificate import Certificate

HYPERCORN = "hypercorn"


def choose_server(registry: Registry, name: str | None = None) -> ServerSpec:
    """The server of that name; without a name a plugin's, and else hypercorn.

    Raises ServerError.
    """
    if name is None:
        name = next(iter(registry.servers), HYPERCORN)
    if name in registry.servers:
        return registry.servers[name]
    if name != HYPERCORN:
        names = ", ".join((*registry.servers, HYPERCORN))
        raise ServerError(
            f"There is no server {name}; choose one of {names}, or install the plugin that "
            f"brings it: pip install model-gateway-server-{name}"
        )
    # Imported only here, because it takes long and another server may serve.
    from .hypercorn_server import HypercornServer

    return ServerSpec(name=HYPERCORN, create=HypercornServer)


def read_certificate(environment: Environment) -> Certificate | None:
    """The certificate to serve with, if one is configured. Raises ConfigError."""
    if environment.tls_cert is None:
        if environment.tls_key is not None:
            raise ConfigError(
                "A TLS key needs its certificate: give --tls-cert or GATEWAY_TLS_CERT."
            )
        return None
    cert = Path(environment.tls_cert).expanduser()
    key = Path(environment.tls_key or environment.tls_cert).expanduser()
    # RFC 7301, section 3.2: the server's preference decides, so HTTP/2 comes first.
    return Certificate(cert, key, ["h2", "http/1.1"] if environment.http2 else ["http/1.1"])
