"""The build hook: it builds the web application before a wheel or a source archive is packed."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DashboardBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build what is missing or older than its sources; an editable install builds nothing."""
        if version == "editable":
            return
        web_build = runpy.run_path(str(Path(self.root) / "web_build.py"))
        if not web_build["is_current"]():
            web_build["build"]()
