"""The gateway's only door to the network out.

Network ──▶ Direct ──▶ Pool ──▶ Connection ──▶ Reader ──▶ Answer
   │           └─▶ Dialler ──▶ Guard (resolves, checks addresses)
   └──────▶ Proxied (proxies and HTTP/2, over the engine of httpx2)
"""

from .addresses import AddressPolicy
from .answers import UpstreamAnswer, arrived, is_over, read_all
from .direct import SentRequest
from .failures import AddressForbidden, MalformedRequest, MalformedUrl
from .fields import Fields
from .limits import BODY_BYTES, ConnectionCounts, TransportLimits
from .network import Network

__all__ = [
    "BODY_BYTES",
    "AddressForbidden",
    "AddressPolicy",
    "ConnectionCounts",
    "Fields",
    "MalformedRequest",
    "MalformedUrl",
    "Network",
    "SentRequest",
    "TransportLimits",
    "UpstreamAnswer",
    "arrived",
    "is_over",
    "read_all",
]
