"""Builds every distribution for publishing: ``python tools/dist.py [FOLDER]``.

The folder, ``dist`` by default, then holds ``packages`` with a wheel and a source archive of each
distribution, ``SHA256SUMS`` of them, and ``sbom.cdx.json``: a CycloneDX 1.6 bill of materials with
every distribution, what it needs, and the hashes that are pinned in ``requirements/lock.txt``. The
same sources make the same bytes: times are those of the last commit.
"""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.parser import HeaderParser
from importlib.metadata import Distribution, distribution
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5
from zipfile import ZipFile

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
UV = ROOT / ".tools" / "bin" / "uv"
BUILD_PINS = ROOT / "requirements" / "build.txt"
PIN = re.compile(r"^([\w.-]+)==([^\s;]+)(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
SHA256 = re.compile(r"--hash=sha256:([0-9a-f]{64})")
LICENSES = LicenseFactory()
Need = tuple[str, frozenset[str]]
"""A distribution's name, and the extras that are wanted of it."""


def build(sources: Path, packages: Path, names: Iterable[str] = ()) -> None:
    """Build a wheel and a source archive of the named distributions, or of all, from a checkout.

    Raises ``CalledProcessError`` if one cannot be built.
    """
    pins = ["--build-constraints", str(BUILD_PINS), "--require-hashes"]
    for chosen in [["--package", name] for name in names] or [["--all-packages"]]:
        subprocess.run(
            [UV, "build", *chosen, *pins, "--no-create-gitignore", "--out-dir", packages],
            cwd=sources,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(commit_time())},
            check=True,
        )


def commit_time() -> int:
    """When the last change was committed, in Unix seconds."""
    done = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def bill_of_materials(wheels: Iterable[Path], time: int) -> str:
    """The wheels and what they need as it is installed here, as CycloneDX 1.6 in JSON."""
    components: dict[str, Component] = {}
    needs: dict[str, set[Need]] = {}
    for wheel in wheels:
        metadata = HeaderParser().parsestr(_metadata_of(wheel))
        name = canonicalize_name(metadata["Name"])
        hashes = [hashlib.sha256(wheel.read_bytes()).hexdigest()]
        components[name] = _component(
            name, metadata["Version"], hashes, metadata.get("License-Expression")
        )
        extras = metadata.get_all("Provides-Extra") or []
        needs[name] = set(_needed(metadata.get_all("Requires-Dist") or [], {"", *extras}))
    pins = dict(_pins())
    ours = set(components)
    waiting = {each for needed in needs.values() for each in needed}
    seen: set[Need] = set()
    while waiting:
        need = name, extras = waiting.pop()
        seen.add(need)
        if name in ours:
            continue
        installed = distribution(name)
        hashes = pins.get((name, installed.version), [])
        components[name] = _component(name, installed.version, hashes, _license_of(installed))
        further = set(_needed(installed.requires or [], {"", *extras}))
        needs.setdefault(name, set()).update(further)
        waiting |= further - seen
    return _written(components, needs, time)


def _metadata_of(wheel: Path) -> str:
    with ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return archive.read(name).decode()


def _needed(requirements: Iterable[str], extras: set[str]) -> Iterator[Need]:
    """What is installed here because of these requirements."""
    for text in requirements:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
            yield canonicalize_name(requirement.name), frozenset(requirement.extras)


def _pins() -> Iterator[tuple[tuple[str, str], list[str]]]:
    """The SHA-256 of every file that may be installed for a name and version."""
    text = (ROOT / "requirements" / "lock.txt").read_text(encoding="utf-8")
    for name, version, rest in PIN.findall(text):
        yield (canonicalize_name(name), version), SHA256.findall(rest)


def _component(name: str, version: str, hashes: Iterable[str], license: str | None) -> Component:
    return Component(
        type=ComponentType.LIBRARY,
        name=name,
        version=version,
        bom_ref=f"{name}=={version}",
        purl=PackageURL("pypi", None, name, version),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=each) for each in hashes],
        licenses=[LICENSES.make_from_string(license)] if license else (),
    )


def _license_of(installed: Distribution) -> str | None:
    metadata = HeaderParser().parsestr(installed.read_text("METADATA") or "")
    return metadata.get("License-Expression")


def _written(components: dict[str, Component], needs: dict[str, set[Need]], time: int) -> str:
    every = [components[name] for name in sorted(components)]
    listing = " ".join(
        f"{each.bom_ref} {sorted(hash.content for hash in each.hashes)}" for each in every
    )
    bom = Bom(components=every, serial_number=uuid5(NAMESPACE_URL, listing))
    bom.metadata.timestamp = datetime.fromtimestamp(time, UTC)
    for name, needed in needs.items():
        below = {each for each, _ in needed}
        bom.register_dependency(components[name], [components[each] for each in sorted(below)])
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def main(folder: Path) -> None:
    packages = folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    for old in packages.iterdir():
        old.unlink()
    build(ROOT, packages)
    files = sorted(packages.iterdir())
    sums = (
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  packages/{file.name}\n" for file in files
    )
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    wheels = [file for file in files if file.suffix == ".whl"]
    materials = bill_of_materials(wheels, commit_time())
    (folder / "sbom.cdx.json").write_text(materials, encoding="utf-8")
    print(f"{len(files)} files and their bill of materials are in {folder}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist")
