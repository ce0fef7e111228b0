"""Makes pictures of every page of the dashboard, in both colour schemes, for a desktop and a phone.

    python tools/screenshots.py [FOLDER [PAGE...]]

They show a gateway that runs with a fake vendor and the calls of a day. The folder is
``.data/screenshots`` unless another one is named. With all pages, those that the documentation
shows are written to ``docs/images`` too.
"""

import math
import sys
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
from msgspec.structs import asdict
from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from dashboard_browser import (  # noqa: E402  # a folder of tests is no package
    DESKTOP,
    PATHS,
    PHONE,
    VARIABLES,
    Person,
    acme,
    answer,
    ensure_built,
    launched,
    person,
)
from served_gateway import Served, serve_gateway  # noqa: E402

from gateway_core.storage.moments import iso  # noqa: E402
from gateway_core.storage.stores.usage import UsageRecord, UsageRow  # noqa: E402

SIZES = {"desktop": DESKTOP, "phone": PHONE}
CALLS = (("acme/large", 14), ("acme/small", 9), ("open/m-1", 6), ("quick", 4), ("acme/none", 2))
IMAGES = ROOT / "docs" / "images"
SHOWN = (
    *("overview-light-desktop", "overview-dark-phone", "requests-dark-desktop"),
    *("providers-light-desktop", "models-dark-desktop", "keys-light-desktop"),
    *("usage-light-desktop", "playground-dark-desktop"),
)
"""What the documentation shows."""
QUALITY = 82
"""Of a WebP picture; letters stay sharp."""
EVERY = 240
"""Seconds between two calls of the day."""
DAY = 86_400
PROMPT = "Name three seabirds that nest on cliffs."


def fill(here: Served, someone: Person) -> None:
    """Accounts, keys, a combo and calls, as a small team has them."""
    account = {"provider": "acme", "name": "Team", "apiKey": "k-1"}
    someone.call("POST", "/api/providers", account)
    someone.call("POST", "/api/providers", {**account, "name": "Reserve", "apiKey": "k-2"})
    combo = {"name": "quick", "models": ["acme/small", "acme/large", "open/m-1"]}
    someone.call("POST", "/api/combos", combo)
    someone.call("PUT", "/api/models/alias", {"alias": "best", "model": "acme/large"})
    keys = [
        {"name": "ci", "rpmLimit": 60, "groups": ["machines"]},
        {"name": "laptop", "monthlyBudget": 2},
        {"name": "old service", "isActive": False},
    ]
    made = [someone.call("POST", "/api/keys", {**key, "machineId": "any"})["key"] for key in keys]
    call(here, made, [(model, 1) for model, _ in CALLS])
    rows = here.rows()
    here.do(here.gateway.core.stores.usage.insert_many([*day_before(here, rows)][::-1]))
    call(here, made, CALLS)
    here.rows()


def call(here: Served, keys: list[str], calls: Iterable[tuple[str, int]]) -> None:
    """Call models so many times, with the first two keys in turn."""
    url = f"{here.url}/v1/chat/completions"
    for model, times in calls:
        for number in range(times):
            body = {"model": model, "messages": [{"role": "user", "content": PROMPT}]}
            headers = {"authorization": f"Bearer {keys[number % 2]}"}
            httpx2.post(url, json=body, headers=headers, trust_env=False, timeout=30)


def day_before(here: Served, rows: list[UsageRow]) -> Iterator[UsageRecord]:
    """Calls like these, spread over a day: more of them in its middle."""
    now = here.gateway.core.clock()
    for number, ago in enumerate(range(EVERY, DAY, EVERY)):
        busy = 1 + math.sin(math.pi * ago / DAY)
        row = rows[number * 7 % len(rows)]
        ended = iso(now - ago)
        changes = {
            "request_id": f"{row.request_id}-{number}",
            "started_at": ended,
            "finished_at": ended,
            "day": ended[:10],
            "input_tokens": round(row.input_tokens * 40 * busy),
            "output_tokens": round(row.output_tokens * 30 * busy),
            "cost": row.cost and round(row.cost * 35 * busy),
            "duration_ms": round(500 * busy + 37 * (number % 11)),
            "ttft_ms": round(140 * busy + 11 * (number % 7)),
        }
        fields = asdict(row)
        del fields["id"]
        yield UsageRecord(**{**fields, **changes})


def show(folder: Path) -> None:
    """Put the pictures of the documentation there, small."""
    IMAGES.mkdir(exist_ok=True)
    for name in SHOWN:
        file = IMAGES / f"{name}.webp"
        with Image.open(folder / f"{name}.png") as picture:
            picture.save(file, quality=QUALITY, method=6)
        print(f"wrote {file}: {file.stat().st_size // 1000} kB")


def main(folder: Path, paths: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    ensure_built()
    with (
        TemporaryDirectory() as data,
        serve_gateway(Path(data), {"openai": answer}, specs=acme, variables=VARIABLES) as here,
        launched() as browser,
    ):
        with person(browser, here) as someone:
            fill(here, someone)
        for scheme, (name, size) in product(("light", "dark"), SIZES.items()):
            with person(browser, here, size=size, scheme=scheme) as someone:
                for path in paths:
                    page = someone.visit(path)
                    page.get_by_role("heading", level=1).wait_for()
                    page.locator("[aria-busy=true], .mantine-Skeleton-root").first.wait_for(
                        state="hidden"
                    )
                    file = folder / f"{path}-{scheme}-{name}.png"
                    page.screenshot(path=file, animations="disabled")
                    print(f"wrote {file}")


if __name__ == "__main__":
    chosen, *named = [*sys.argv[1:], str(ROOT / ".data" / "screenshots")][
        : max(1, len(sys.argv) - 1)
    ]
    main(Path(chosen), named or PATHS)
    if not named:
        show(Path(chosen))
