"""A vendor on loopback for tests and for trying things out, in good health or with a fault."""

from .answer import MockAnswer
from .content import CONTENTS, Content, TokenCounts, ToolUse
from .dialect_script import DialectScript
from .dialects import DIALECTS
from .faults import MENU, Fault, UnknownFault, apply_fault
from .frames import Dialect, Frame, whole_only
from .server import MockResponse, MockVendor, ReceivedRequest, Script

__all__ = [
    "CONTENTS",
    "DIALECTS",
    "MENU",
    "Content",
    "Dialect",
    "DialectScript",
    "Fault",
    "Frame",
    "MockAnswer",
    "MockResponse",
    "MockVendor",
    "ReceivedRequest",
    "Script",
    "TokenCounts",
    "ToolUse",
    "UnknownFault",
    "apply_fault",
    "whole_only",
]
