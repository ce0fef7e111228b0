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


def spoken_by(plugin: object) -> int:
    """The version that a plugin says it speaks. Raises ProtocolMismatch."""
    said = getattr(plugin, MARK, UNSAID)
    if type(said) is not int:
        raise ProtocolMismatch(f"{MARK} is to be a whole number, not {type(said).__name__}")
    if said not in SUPPORTED:
        raise ProtocolMismatch(unsupported(said, SUPPORTED))
    return said


def unsupported(said: int, speaks: Iterable[int]) -> str:
    """Why a plugin of this version is refused by a gateway that speaks those, and what to do."""
    known = sorted(speaks)
    older = said < known[0]
    advice = "install a newer version of the plugin" if older else "update the gateway"
    return f"it speaks hook protocol {said}, and the gateway speaks {listed(known)}: {advice}"


def remarks(protocol: int, taken: Mapping[str, tuple[str, ...]]) -> list[str]:
    """What to tell about the arguments that a plugin's hooks take.

    ``taken`` holds the arguments by hook. An argument that is older than the
    version raises ProtocolMismatch; a newer one works and is told, and so is
    one that goes with its version.
    """
    odd = {argument for arguments in taken.values() for argument in arguments} & ARGUMENTS.keys()
    told = (
        _remark(protocol, argument, [hook for hook in sorted(taken) if argument in taken[hook]])
        for argument in sorted(odd)
    )
    return [remark for remark in told if remark]


def _remark(protocol: int, argument: str, hooks: Iterable[str]) -> str:
    """What to tell of one argument; empty when it belongs to the version. See remarks."""
    versions = ARGUMENTS[argument]
    seen = f"{argument}, asked for by {' and '.join(hooks)},"
    if protocol > max(versions):
        raise ProtocolMismatch(f"{seen} is not in hook protocol {protocol}; see {POLICY}")
    if protocol < min(versions):
        came = f"{seen} came with hook protocol {min(versions)}"
        return f"{came}: say {MARK} = {min(versions)}; see {POLICY}"
    if max(versions) >= CURRENT:
        return ""
    end = f"hook protocol {protocol}, which goes when hook protocol {CURRENT + 1} comes"
    return f"speaks {end}: {seen} goes with it; see {POLICY}"


def listed(words: Iterable[object]) -> str:
    """Words as a sentence has them."""
    *first, last = map(str, words)
    return f"{', '.join(first)} and {last}" if first else last
