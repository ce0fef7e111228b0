"""References to secrets: ``${env:NAME}`` and ``${file:/path}`` inside text.

``$${`` stands for a plain ``${``. A value that was resolved never appears in a message.
"""

import re
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from .documents import Document, Path

LARGEST = 64 * 1024
"""Bytes of a file with a secret."""
_REFERENCE = re.compile(r"\$\$\{|\$\{([^{}]*)\}|\$\{")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Unresolved(Struct, frozen=True):
    """Stands for text whose references lead nowhere at the moment."""

    missing: tuple[str, ...]
    """What is missing, in words."""


class Resolved(Struct, frozen=True):
    """A file's value with its references followed."""

    value: Any
    references: frozenset[Path]
    """Where text had at least one."""
    missing: Mapping[Path, tuple[str, ...]]
    """What is missing, by place."""


def resolve(document: Document, variables: Mapping[str, str], folder: FilePath) -> Resolved:
    """Follow the references of a file. Raises FileRefused for one that is none.

    ``folder`` is where relative paths begin.
    """
    references: set[Path] = set()
    missing: dict[Path, tuple[str, ...]] = {}

    def follow(value: Any, path: Path) -> Any:
        if isinstance(value, dict):
            return {name: follow(inner, (*path, name)) for name, inner in value.items()}
        if isinstance(value, list):
            return [follow(inner, (*path, place)) for place, inner in enumerate(value)]
        if not isinstance(value, str) or "${" not in value:
            return value
        lost: list[str] = []

        def replace(match: re.Match[str]) -> str:
            if match[0] == "$${":
                return "${"
            references.add(path)
            try:
                return _target(match[1], variables, folder)
            except LookupError as error:
                lost.append(str(error.args[0]))
                return ""
            except ValueError as error:
                raise document.fault(path, str(error)) from None

        text = _REFERENCE.sub(replace, value)
        if lost:
            missing[path] = tuple(lost)
            return Unresolved(tuple(lost))
        return text

    return Resolved(follow(document.value, ()), frozenset(references), missing)


def _target(reference: str | None, variables: Mapping[str, str], folder: FilePath) -> str:
    """What a reference stands for. Raises LookupError where it is missing, ValueError else."""
    scheme, _, name = (reference or "").partition(":")
    if scheme == "env" and _VARIABLE.fullmatch(name):
        if not variables.get(name):
            raise LookupError(f"the environment variable {name} is not set")
        return variables[name]
    if scheme == "file" and name:
        return _read(folder / name, name)
    raise ValueError("a reference is ${env:NAME} or ${file:/path}; $${ is a plain ${")


def _read(path: FilePath, name: str) -> str:
    try:
        if not path.is_file():
            raise LookupError(f"there is no file {name}")
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
        text = content.decode().rstrip("\r\n")
    except OSError as error:
        raise LookupError(f"the file {name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise LookupError(f"the file {name} is not text") from None
    if len(content) > LARGEST:
        raise LookupError(f"the file {name} is larger than {LARGEST // 1024} KiB")
    if not text:
        raise LookupError(f"the file {name} is empty")
    return text


def unresolved_in(value: Any) -> tuple[str, ...]:
    """What is missing anywhere in a value."""
    if isinstance(value, Unresolved):
        return value.missing
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return tuple(text for each in inner for text in unresolved_in(each))


def variable_of(*words: str) -> str:
    """A variable's name made of words: ``OPENAI_WORK_API_KEY``."""
    parts = (re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", word) for word in words)
    name = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(parts)).strip("_").upper()
    return f"_{name}" if name[:1].isdigit() else name or "SECRET"


def reference_to(name: str) -> str:
    return f"${{env:{name}}}"


def without_secrets(value: Any, words: tuple[str, ...], taken: dict[str, str]) -> Any:
    """A value for a file: addresses with a user or a password become references.

    ``taken`` collects the variables that were named, and what each is for. Other text keeps its
    ``${``, escaped.
    """
    if isinstance(value, Mapping):
        return {
            name: without_secrets(inner, (*words, name), taken) for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [
            without_secrets(each, (*words, str(place)), taken) for place, each in enumerate(value)
        ]
    if not isinstance(value, str):
        return value
    if has_user(value):
        return new_reference(words, taken)
    return value.replace("${", "$${")


def has_user(text: str) -> bool:
    """Whether text is an address with a user or a password in it."""
    if "://" not in text or "@" not in text:
        return False
    try:
        return "@" in urlsplit(text).netloc
    except ValueError:
        return True


def new_reference(words: tuple[str, ...], taken: dict[str, str]) -> str:
    """A reference to a variable whose name nobody has yet."""
    usual = name = variable_of(*words)
    count = 1
    while name in taken:
        count += 1
        name = f"{usual}_{count}"
    taken[name] = "/".join(words)
    return reference_to(name)
