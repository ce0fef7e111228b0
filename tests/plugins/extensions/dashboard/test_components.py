"""The logic of the application's components, as Vitest tests it."""

import runpy

from dashboard_browser import ROOT, ensure_built


def test_vitest_is_content() -> None:
    ensure_built()
    web_build = runpy.run_path(str(ROOT / "plugins" / "extensions" / "dashboard" / "web_build.py"))

    web_build["npm"]("exec", "--", "vitest", "run")
