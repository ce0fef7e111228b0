"""The blocks of a page of the documentation: to run, edit and compare.

| the fence says | what is done |
| --- | --- |
| ``sh`` | the commands are run, each in the folder that the last ``cd`` led to |
| ``console`` | what is done elsewhere; the gateway's commands in it are there, with their options |
| ``text`` | what they printed is compared |
| ``text served`` | what the command that keeps running prints next is compared |
| ``text stopped`` | the same, once Ctrl-C was pressed there |
| ``json`` | the last answer is compared as JSON, whatever its white space |
| ``python FILE``, ``json FILE`` | the file holds this; one that is not there is written |
| ``diff FILE`` | the lines with ``-`` become those with ``+`` |

``...`` on a page stands for anything.
"""

import difflib
import re
from pathlib import Path

from msgspec import Struct

FENCE = re.compile(r"^```(\w+)[ ]?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MASKS = (
    (re.compile(r"\bin \d+\.\d+s"), "in 0.00s"),
    (re.compile(r"\d{2,}(?= (?:passed|deselected|plugins?|files|\.pth files)\b)"), "N"),
    (re.compile(r"\d+ of \d+(?= cases)"), lambda found: _share(found[0])),
    (re.compile(r"\b[0-9a-f]{64}\b"), "DIGEST"),
)
"""Times, digests, and numbers of cases, files and plugins, which change with other work."""


class Block(Struct, frozen=True):
    """A fenced block of a page."""

    kind: str
    about: str
    """The text after the kind: a file, or what is compared."""
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in FENCE.findall(page.read_text(encoding="utf-8"))]


def commands(block: Block) -> list[str]:
    """Each command of a block, with continuation lines joined."""
    return [line for line in block.text.replace("\\\n", " ").splitlines() if line.strip()]


def masked(text: str) -> str:
    """The text without parts that differ between runs."""
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def pattern_of(shown: str, end: str = "") -> re.Pattern[str]:
    """A pattern for an output that a page shows, up to its ``end``."""
    parts = [re.escape(part) for part in masked(shown).split("...")]
    return re.compile(".*?".join(parts) + end, re.DOTALL)


def differs(printed: str, shown: str) -> str:
    """How an output differs from what a page shows; empty if it does not."""
    if pattern_of(shown).fullmatch(masked(printed)):
        return ""
    lines = difflib.unified_diff(
        masked(shown).splitlines(), masked(printed).splitlines(), "shown", "printed", lineterm=""
    )
    return "\n".join(lines)


def edited(source: str, change: str) -> str:
    """The source after a change, whose hunks are separated by ``@@``; each must match once."""
    for piece in re.split(r"^@@.*\n", change, flags=re.MULTILINE):
        lines = piece.splitlines()
        old = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "+")
        new = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "-")
        assert source.count(old) == 1, f"{source.count(old)} times there:\n{old}"
        source = source.replace(old, new)
    return source


def _share(text: str) -> str:
    passed, every = text.split(" of ")
    return "all of N" if passed == every else "some of N"
