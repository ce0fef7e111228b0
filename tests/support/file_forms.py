"""Forms with files, as bytes, and keys for those who send them."""

from typing import Any

from own_stores import own_stores
from served_gateway import Served

from gateway_administration.stores.keys import KeyChange

BOUNDARY = b"----boundary"
FORM = {"content-type": f"multipart/form-data; boundary={BOUNDARY.decode()}"}


def field(name: str, value: bytes) -> bytes:
    return b'Content-Disposition: form-data; name="%b"\r\n\r\n%b' % (name.encode(), value)


def file(content: bytes, filename: str = "rows.jsonl", name: str = "file") -> bytes:
    head = f'Content-Disposition: form-data; name="{name}"; filename="{filename}"'
    return b"%b\r\nContent-Type: application/octet-stream\r\n\r\n%b" % (head.encode(), content)


def form(*parts: bytes, boundary: bytes = BOUNDARY, is_whole: bool = True) -> bytes:
    """A body of these parts."""
    body = b"".join(b"--%b\r\n%b\r\n" % (boundary, part) for part in parts)
    return body + b"--%b--\r\n" % boundary if is_whole else body


def new_key(here: Served, **change: Any) -> dict[str, str]:
    """Headers with a new key of a gateway."""

    async def work() -> str:
        core = here.gateway.core
        mint = core.identity.keys.mint
        text = mint.new()
        wanted = KeyChange(name="test", **change)
        await own_stores(core).keys.create(text, mint.digest(text).hex(), mint.machine_id, wanted)
        await core.refresh()
        return text

    return {"authorization": f"Bearer {here.do(work())}"}


def set_settings(here: Served, **settings: Any) -> None:
    async def work() -> None:
        await here.gateway.core.stores.settings.patch(settings)
        await here.gateway.core.refresh()

    here.do(work())
