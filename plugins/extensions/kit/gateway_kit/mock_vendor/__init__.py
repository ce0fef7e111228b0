"""A vendor on loopback for tests and for trying things out, in good health or with a fault."""

from .answer import Scene
from .content import SAYINGS, Called, Content, Counted
from .dialect_script import Answering
from .dialects import DIALECTS
from .faults import MENU, Fault, UnknownFault, spoil
from .frames import Dialect, Frame
from .server import Asked, MockVendor, Said, Script

__all__ = [
    "DIALECTS",
    "MENU",
    "SAYINGS",
    "Answering",
    "Asked",
    "Called",
    "Content",
    "Counted",
    "Dialect",
    "Fault",
    "Frame",
    "MockVendor",
    "Said",
    "Scene",
    "Script",
    "UnknownFault",
    "spoil",
]
