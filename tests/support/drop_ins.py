"""Plugins in the data directory: single files, and packages as an installer writes them."""

import base64
import hashlib
import zipfile
from pathlib import Path

from gateway_core.plugins import PluginFolder

VENDOR = '''"""{0}, a vendor.

More about it.
"""

from gateway_core import ProviderSpec, hookimpl


@hookimpl
def register_providers():
    return [
        ProviderSpec(
            id="{0}",
            name="{0}",
            base_url="https://api.{0}.example/v1",
            environment=("{0}_KEY",),
        )
    ]
'''


def vendor(name: str) -> str:
    """The source of a plugin with one vendor."""
    return VENDOR.format(name)


def folder_in(data_dir: Path, **files: str) -> PluginFolder:
    """The plugin folder of a data directory, with these files."""
    folder = PluginFolder.of(data_dir)
    folder.make()
    for name, source in files.items():
        (folder.path / f"{name}.py").write_text(source)
    return folder


def files_of(
    name: str,
    source: str,
    version: str = "1.0",
    *,
    plugin: str = "",
    requires: tuple[str, ...] = (),
) -> dict[str, str]:
    """The files that an installer writes for a package of one module, by path."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
    files = {
        f"{module}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        f"Summary: What {name} does\nProject-URL: Homepage, https://{name}.example\n"
        f"License-Expression: MIT\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if plugin:
        files[f"{info}/entry_points.txt"] = f"[model_gateway]\n{plugin} = {module}\n"
    lines = "".join(f"{path},sha256={_hash(text)},{len(text)}\n" for path, text in files.items())
    return {**files, f"{info}/RECORD": f"{lines}{info}/RECORD,,\n"}


def wheel(place: Path, name: str, files: dict[str, str], version: str = "1.0") -> Path:
    """A wheel with these files."""
    path = place / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in files.items():
            archive.writestr(member, text)
    return path


def unpack(place: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
