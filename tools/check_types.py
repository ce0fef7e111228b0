"""Checks the types of every package and every plugin in one run of mypy.

Each plugin has a folder of its own, so every folder is added to mypy's path and every package
is named. Arguments are passed to mypy, and its exit code is returned.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGES = [
    *("gateway_core", "gateway_formats", "gateway_providers", "gateway_dashboard_api"),
    "gateway_cli",
    "gateway_administration",
    "gateway_postgres",
    "gateway_services",
    "gateway_files",
    "gateway_realtime",
    "gateway_batches",
    "gateway_native",
    "gateway_observing",
    "gateway_filters",
    "gateway_groups",
    "benchmarks",
]
GROUPS = ["formats", "providers", "servers", "extensions"]


def subfolders(folder: str) -> list[str]:
    if not os.path.isdir(folder):
        return []
    return sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())


def is_package(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "__init__.py"))


def main() -> None:
    """Replace this process by mypy."""
    plugins = [
        plugin for group in GROUPS for plugin in subfolders(os.path.join(ROOT, "plugins", group))
    ]
    packages = PACKAGES + [
        os.path.basename(folder)
        for plugin in plugins
        for folder in subfolders(plugin)
        if is_package(folder)
    ]
    named = [word for package in packages for word in ("-p", package)]
    os.environ["MYPYPATH"] = os.pathsep.join([ROOT, *plugins])
    os.chdir(ROOT)
    command = [sys.executable, "-m", "mypy", "--strict", *named, *sys.argv[1:]]
    os.execv(sys.executable, command)


if __name__ == "__main__":
    main()
