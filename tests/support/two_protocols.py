"""Two made-up versions of the hook protocol, for what only shows where there is more than one.

The second is the present interface. The first has no ``ProviderSpec.hosts``, no
``register_settings`` and no argument ``settings``, and its argument ``host`` goes after the second.
"""

import pytest
from gateway_kit import compatibility, interface
from gateway_kit.interface import Book, Interface, Release
from msgspec.structs import replace

from gateway_core.plugins import protocol

FIRST_RELEASE = "0.0.1"
SECOND_RELEASE = "0.0.2"


def book_of_two(present: Interface) -> Book:
    """Both interfaces, and a release of each."""
    spec = {name: kind for name, kind in present.names["ProviderSpec"].items() if name != "hosts"}
    first = replace(
        present,
        names={**present.names, "ProviderSpec": spec},
        hooks={
            name: {argument: kind for argument, kind in shape.items() if argument != "settings"}
            for name, shape in present.hooks.items()
            if name != "register_settings"
        },
    )
    return Book(
        protocols={"1": first.digest, "2": present.digest},
        releases={
            FIRST_RELEASE: Release(speaks=(1,), interface=first.digest),
            SECOND_RELEASE: Release(speaks=(1, 2), interface=present.digest),
        },
        interfaces={first.digest: first, present.digest: present},
    )


def speak_two_protocols(monkeypatch: pytest.MonkeyPatch) -> Book:
    """Make the gateway of this test speak both, the second as the current one."""
    present = interface.interface_of(protocol.CURRENT)
    assert present is not None
    book = book_of_two(present)
    monkeypatch.setattr(interface, "book", lambda: book)
    monkeypatch.setattr(protocol, "SUPPORTED", (1, 2))
    for module in (protocol, compatibility):
        monkeypatch.setattr(module, "CURRENT", 2)
        monkeypatch.setattr(module, "ARGUMENTS", {"host": (1,), "settings": (2,)})
    return book
