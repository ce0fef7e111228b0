"""Writes one object: in one request where it is small, else in parts while it arrives."""

import threading
from typing import Any, Protocol

PART = 5 * 1024 * 1024
"""Bytes of each part but the last: the least that a part may have. Some stores want all parts to be
of one size: https://developers.cloudflare.com/r2/objects/multipart-objects/."""
MOST_HELD = 64 * 1024 * 1024
"""Bytes of all parts that a process gathers."""


class Calls(Protocol):
    """Where operations on the bucket go."""

    def call(self, operation: str, /, **arguments: Any) -> Any: ...


class Buffers:
    """Counts the bytes that all writers hold."""

    def __init__(self, most: int = MOST_HELD) -> None:
        self._left = most
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        """Raises OSError where it is too much at once."""
        with self._lock:
            if size > self._left:
                raise OSError("too many uploads to the object store at once")
            self._left -= size

    def give(self, size: int) -> None:
        with self._lock:
            self._left += size


class ObjectWriter:
    """An object that nobody can read yet; see ``gateway_core.ContentWriter``."""

    def __init__(self, bucket: Calls, name: str, buffers: Buffers) -> None:
        self._bucket, self._name, self._buffers = bucket, name, buffers
        self._held = bytearray()
        self._upload = ""
        """The id of the upload, once there is a part."""
        self._tags: list[str] = []

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            piece = rest[: PART - len(self._held)]
            self._buffers.take(len(piece))
            self._held += piece
            rest = rest[len(piece) :]
            if len(self._held) == PART:
                self._send_part()

    def finish(self) -> None:
        if not self._upload:
            self._bucket.call("put_object", Key=self._name, Body=self._held)
            self.abandon()
            return
        if self._held:
            self._send_part()
        parts = [{"PartNumber": n, "ETag": tag} for n, tag in enumerate(self._tags, 1)]
        self._bucket.call(
            "complete_multipart_upload",
            Key=self._name,
            UploadId=self._upload,
            MultipartUpload={"Parts": parts},
        )

    def abandon(self) -> None:
        self._buffers.give(len(self._held))
        self._held = bytearray()

    def _send_part(self) -> None:
        if not self._upload:
            begun = self._bucket.call("create_multipart_upload", Key=self._name)
            self._upload = begun["UploadId"]
        sent = self._bucket.call(
            "upload_part",
            Key=self._name,
            UploadId=self._upload,
            PartNumber=len(self._tags) + 1,
            Body=self._held,
        )
        self._tags.append(sent["ETag"])
        self.abandon()
