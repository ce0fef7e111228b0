"""Which share of planted bugs the conformance kit finds.

    python tools/planted_bugs.py tests/data/planted_bugs/first [larch ...]

Each plugin of the folder has a table of bugs beside it. The plugins are sound and were written,
as their bugs were, from the public pages alone; a sound plugin must pass every case.
"""

import argparse
import sys
import time
from pathlib import Path

from gateway_kit.bugs import read_bugs
from gateway_kit.bugs.hunt import LIMIT, check_apart, hunt


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("plugins", nargs="*")
    parser.add_argument("--bug", action="append", default=[], help="only bugs with this name")
    parser.add_argument("--sound", action="store_true", help="only the plugins without bugs")
    options = parser.parse_args()
    found = planted = 0
    for table in sorted(options.folder.glob("*.toml")):
        if options.plugins and table.stem not in options.plugins:
            continue
        plugin = table.with_suffix("")
        if options.sound:
            started = time.monotonic()
            failed = check_apart(plugin, limit=LIMIT, known=frozenset())
            print(f"{plugin.name}: {failed or 'sound'} ({time.monotonic() - started:.1f} s)")
            continue
        bugs = [bug for bug in read_bugs(table) if not options.bug or bug.name in options.bug]
        count = 0
        for finding in hunt(plugin, bugs):
            count += finding.message is not None
            verdict = f"found   {finding.message}" if finding.message else "MISSED"
            print(f"{plugin.name}: {finding.bug.name}: {verdict[:300]}", flush=True)
        print(f"{plugin.name}: {count} of {len(bugs)} bugs found", flush=True)
        found, planted = found + count, planted + len(bugs)
    if planted:
        print(f"{found} of {planted} bugs found ({found / planted:.0%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
