"""The versions of the hook protocol, and which of them a plugin speaks.

A plugin's module says ``GATEWAY_PROTOCOL = 1``; one that says nothing speaks
the first version too. From the second version on, the gateway understands the
current one and the one before. Where they differ, a hook has arguments that only
some versions know, and the plugin takes those of its own.
"""

from collections.abc import Iterable, Mapping

MARK = "GATEWAY_PROTOCOL"
"""The name in a plugin's module that says which version it speaks."""
CURRENT = 1
"""The version that new plugins are written for."""
SUPPORTED = (1,)
"""The versions that this gateway understands."""
UNSAID = 1
"""What a plugin without the mark speaks."""
ARGUMENTS: Mapping[str, tuple[int, ...]] = {}
"""Arguments of hooks that not every version has, to the versions that have them."""
POLICY = "docs/compatibility.md"


class ProtocolMismatch(ValueError):
    """A plugin speaks a version that is not understood, or not the one that it says."""


def protocol_of(plugin: object) -> int:
    """The version that a plugin says it speaks. Raises ProtocolMismatch."""
    protocol = getattr(plugin, MARK, UNSAID)
    if type(protocol) is not int:
        raise ProtocolMismatch(f"{MARK} is to be a whole number, not {type(protocol).__name__}")
    if protocol not in SUPPORTED:
        raise ProtocolMismatch(unsupported(protocol, SUPPORTED))
    return protocol


def unsupported(protocol: int, speaks: Iterable[int]) -> str:
    """Why a plugin of this version is refused by a gateway that speaks those, and what to do."""
    known = sorted(speaks)
    older = protocol < known[0]
    advice = "install a newer version of the plugin" if older else "update the gateway"
    return f"it speaks hook protocol {protocol}, and the gateway speaks {listed(known)}: {advice}"


def remarks(protocol: int, taken: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Notes about the arguments that a plugin's hooks take.

    ``taken`` holds the arguments by hook. An argument that is older than the
    version raises ProtocolMismatch; a newer one works with a note, and so does
    one that goes with its version.
    """
    notes = []
    limited = {argument for arguments in taken.values() for argument in arguments}
    for argument in sorted(limited & ARGUMENTS.keys()):
        hooks = " and ".join(hook for hook in sorted(taken) if argument in taken[hook])
        usage = f"{argument}, asked for by {hooks},"
        first, last = min(ARGUMENTS[argument]), max(ARGUMENTS[argument])
        if protocol > last:
            raise ProtocolMismatch(f"{usage} is not in hook protocol {protocol}; see {POLICY}")
        if protocol < first:
            advice = f"say {MARK} = {first}; see {POLICY}"
            notes.append(f"{usage} came with hook protocol {first}: {advice}")
        elif last < CURRENT:
            end = f"hook protocol {protocol}, which goes when hook protocol {CURRENT + 1} comes"
            notes.append(f"speaks {end}: {usage} goes with it; see {POLICY}")
    return notes


def listed(words: Iterable[object]) -> str:
    """Words as a sentence has them."""
    *first, last = map(str, words)
    return f"{', '.join(first)} and {last}" if first else last
