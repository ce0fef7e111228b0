"""The gateway's only door to the network out.

Network ──▶ Direct ──▶ Pool ──▶ Connection ──▶ Reader ──▶ Answer
   │           └─▶ Dialler ──▶ Guard (resolves, checks addresses)
   └──────▶ Proxied (proxies and HTTP/2, over the engine of httpx2)
"""

from .addresses import Policy
from .answers import Answer, arrived, is_over, read_all
from .direct import Begun
from .failures import AddressForbidden, MalformedRequest, MalformedUrl
from .fields import Fields
from .heads import Lasting
from .limits import BODY_BYTES, Counts, Limits
from .network import Network

__all__ = [
    "BODY_BYTES",
    "AddressForbidden",
    "Answer",
    "Begun",
    "Counts",
    "Fields",
    "Lasting",
    "Limits",
    "MalformedRequest",
    "MalformedUrl",
    "Network",
    "Policy",
    "arrived",
    "is_over",
    "read_all",
]
