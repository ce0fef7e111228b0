"""YAML as plain values that know their lines, read with bounded memory and time.

Only what JSON can say is read: mappings with text keys, lists, text, numbers, true, false and
null. Anchors and aliases are refused, because a few lines of them can stand for gigabytes
(https://en.wikipedia.org/wiki/Billion_laughs_attack); so are tags, which name types to construct.
Plain words are read by the core schema of YAML 1.2 (section 10.3.2), where ``no`` is text.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

import msgspec
import yaml
from msgspec import Struct

LARGEST = 1024 * 1024
"""Bytes of a file."""
LARGEST_JSON = 16 * 1024 * 1024
"""The same for JSON, which is read without lines."""
DEEPEST = 32
MOST_VALUES = 50_000
LONGEST_NUMBER = 40
"""Characters; Python converts long numbers slowly."""

Path = tuple[str | int, ...]
"""Where a value is: names of members and places in lists."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class FileRefused(Exception):
    """A file that cannot be used; the message has the line where there is one."""


class Document(Struct, frozen=True, kw_only=True):
    """A file that was read."""

    name: str
    value: Any
    lines: Mapping[Path, int]
    """Counted from 1."""

    def fault(self, path: Path, message: str) -> FileRefused:
        """A refusal that names the line of the nearest value there is."""
        while path and path not in self.lines:
            path = path[:-1]
        return FileRefused(f"{self.name}:{self.lines.get(path, 1)}: {message}")


def read_document(stream: IO[bytes]) -> Document:
    """Read a file. Raises FileRefused."""
    name = str(getattr(stream, "name", "the file"))
    text = stream.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise FileRefused(f"{name}: the file is larger than {LARGEST // 1024} KiB")
    try:
        return _Reader(name).read(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise FileRefused(f"{name}:{line}: {error.problem or 'this is no YAML'}") from None
    except (yaml.YAMLError, ValueError) as error:
        detail = str(error).splitlines()[0]
        raise FileRefused(f"{name}: this is no YAML: {detail}") from None


def read_json(stream: IO[bytes]) -> Document:
    """Read a file that is JSON. Raises FileRefused."""
    name = str(getattr(stream, "name", "the file"))
    text = stream.read(LARGEST_JSON + 1)
    if len(text) > LARGEST_JSON:
        raise FileRefused(f"{name}: the file is larger than {LARGEST_JSON // 1024} KiB")
    try:
        return Document(name=name, value=msgspec.json.decode(text), lines={})
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise FileRefused(f"{name}: this is no JSON: {error}") from None


class _Reader:
    """Builds values from the events of one file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: dict[Path, int] = {}
        self.values = 0

    def read(self, events: Iterator[yaml.Event]) -> Document:
        next(events)
        value: Any = None
        if isinstance(next(events), yaml.DocumentStartEvent):
            value = self._build(events, next(events), ())
            next(events)
            after = next(events)
            if not isinstance(after, yaml.StreamEndEvent):
                raise self._refused(after, "a file has one document")
        return Document(name=self.name, value=value, lines=self.lines)

    def _build(self, events: Iterator[yaml.Event], event: yaml.Event, path: Path) -> Any:
        self.values += 1
        self.lines[path] = event.start_mark.line + 1
        if self.values > MOST_VALUES:
            raise self._refused(event, f"the file has more than {MOST_VALUES} values")
        if len(path) > DEEPEST:
            raise self._refused(event, f"values are nested more than {DEEPEST} deep")
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise self._refused(event, "anchors and aliases are not read; repeat the value")
        if event.tag is not None:
            raise self._refused(event, f"the tag {event.tag} is not read")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return list(self._items(events, path))
        return self._members(events, path)

    def _items(self, events: Iterator[yaml.Event], path: Path) -> Iterator[Any]:
        place = 0
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            yield self._build(events, event, (*path, place))
            place += 1

    def _members(self, events: Iterator[yaml.Event], path: Path) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent) or event.anchor or event.tag:
                raise self._refused(event, "the name of a member has to be plain text")
            name = event.value
            if name == "<<":
                raise self._refused(event, "members are not merged; repeat them")
            if name in members:
                raise self._refused(event, f"{name} is here twice")
            members[name] = self._build(events, next(events), (*path, name))
            # The name's line, so that a fault in a nested value shows where it begins.
            self.lines[(*path, name)] = event.start_mark.line + 1
        return members

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        text: str = event.value
        is_plain = event.implicit[0]
        if not is_plain:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if len(text) > LONGEST_NUMBER:
            return text
        if _INTEGER.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            number = float(text)
            if not math.isfinite(number):
                raise self._refused(event, f"{text} is too large")
            return number
        return text

    def _refused(self, event: yaml.Event, message: str) -> FileRefused:
        return FileRefused(f"{self.name}:{event.start_mark.line + 1}: {message}")


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # The library has no types.
    """Writes every value out, never as an alias, and lists inside their members."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def write_document(value: Any) -> str:
    """YAML that ``read_document`` reads as the same value."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100, indent=2
    )
    return text
