"""Putting a new plugin's files in place, and never over somebody's work by accident."""

from collections.abc import Mapping
from pathlib import Path


class FilesExist(FileExistsError):
    """What is to be written is there already. The message says what."""


def write(home: Path, files: Mapping[str, str], *, force: bool = False) -> list[Path]:
    """Write files below ``home`` and give their paths. Raises AlreadyThere, OSError.

    With ``force`` files of the same names are replaced; others stay as they are.
    """
    places = {home / path: text for path, text in files.items()}
    existing = [place for place in places if place.exists()]
    if existing and not force:
        others = f", and so do {len(existing) - 1} others" if len(existing) > 1 else ""
        raise FilesExist(f"{existing[0]} exists already{others}; --force replaces files")
    for place, text in places.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8", newline="\n")
    return list(places)
