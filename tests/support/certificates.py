"""Certificates for a gateway that serves over TLS, and clients that trust them."""

import ssl
from pathlib import Path
from typing import NamedTuple

import trustme


class Issued(NamedTuple):
    """Files with a certificate for this machine, its key, and the certificate authority."""

    cert: Path
    key: Path
    authority: Path

    @property
    def options(self) -> tuple[str, ...]:
        """The options to serve with it."""
        return "--tls-cert", str(self.cert), "--tls-key", str(self.key)

    def trusting(self, *protocols: str) -> ssl.SSLContext:
        """A client's side of TLS, which offers these protocols."""
        context = ssl.create_default_context(cafile=self.authority)
        if protocols:
            context.set_alpn_protocols(list(protocols))
        return context


def issue(folder: Path) -> Issued:
    authority = trustme.CA()
    made = authority.issue_cert("127.0.0.1", "localhost")
    issued = Issued(folder / "cert.pem", folder / "key.pem", folder / "authority.pem")
    made.cert_chain_pems[0].write_to_path(issued.cert)
    made.private_key_pem.write_to_path(issued.key)
    authority.cert_pem.write_to_path(issued.authority)
    return issued
