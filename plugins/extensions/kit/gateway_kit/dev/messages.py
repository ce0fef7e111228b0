"""What the parent and the child process tell one another, as lines of JSON."""

import msgspec
from msgspec import Struct


class ChildOptions(Struct, frozen=True, kw_only=True):
    """What the child is to do; its only argument."""

    target: str
    """The plugin as the author named it."""
    plugins: str
    """The folder of the operator's plugins, where a name may be found."""
    data_dir: str
    """Of the gateway that is served; it is thrown away in the end."""
    port: int
    says: str = "text"
    """What the vendor says."""
    fault: str | None = None
    """The vendor's fault, as ``NAME`` or ``NAME:NUMBER``."""
    wire: str | None = None
    """The vendor's format; ``None`` takes what the plugin declares."""


class MockResponse(Struct, frozen=True):
    """Something for the author to read."""

    text: str
    step: str = ""
    """``sound`` when the plugin was loaded, ``broken`` when it was not, ``serving`` when the
    gateway listens."""


GO = b"go\n"
"""Told to a child that is sound: from now on the data and the port are its own."""
encode = msgspec.json.encode
read_options = msgspec.json.Decoder(ChildOptions).decode
read_message = msgspec.json.Decoder(MockResponse).decode
