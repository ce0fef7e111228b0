"""Beginning a pass-through: the few members of a request that must differ for a vendor."""

from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import Call, Losses, Relay, Target, Usage
from gateway_formats.relay import WholeRelay

from .members import UNREADABLE, encode, is_object
from .replies import read_reply
from .requests import read_request
from .switches import limit_name
from .watch import ChatRelay, ChatWatch, whole_answer
