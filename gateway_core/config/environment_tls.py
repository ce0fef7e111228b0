"""The process variables about serving over TLS."""

from typing import Annotated

from .environment_proxies import ProxyVariables
from .variable import SWITCH, TEXT, variable


class TlsVariables(ProxyVariables, frozen=True, kw_only=True):
    """What is served with which certificate."""

    tls_cert: Annotated[
        str | None,
        variable(
            "GATEWAY_TLS_CERT",
            "A file with a certificate and those that vouch for it, in PEM format; with it the "
            "gateway serves over TLS only.",
            TEXT,
        ),
    ] = None
    tls_key: Annotated[
        str | None,
        variable(
            "GATEWAY_TLS_KEY",
            "The file with the certificate's key, in PEM format and without a password.",
            TEXT,
            shown_default="the file of the certificate",
        ),
    ] = None
    http2: Annotated[
        bool,
        variable(
            "GATEWAY_HTTP2",
            "Speak HTTP/2 with clients that offer it over TLS.",
            SWITCH,
            shown_default="true",
        ),
    ] = True
