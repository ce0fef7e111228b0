"""The items of ``input`` to instructions and turns.

A message of a user or a developer is a turn of its own. What the model wrote,
its messages, thinking and calls, is one turn as long as nothing comes between,
and so are the results of tools. An item that only this dialect understands is
kept whole as a foreign part, where it stood.
"""

from collections.abc import Callable
from typing import Literal

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    BadRequest,
    Foreign,
    Media,
    Refusal,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    unseal_id,
)

from .content import read_content
from .dialect import DIALECT, MESSAGE, ON_MESSAGE
from .members import ARRAY, TEXT, Members, decoded, missing, rows, unsupported
from .namespaces import flat_name
from .reasoning import read_reasoning
from .summary import open_summary
