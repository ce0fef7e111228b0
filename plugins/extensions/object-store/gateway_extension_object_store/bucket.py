"""One bucket of an object store, through the vendor's own client.

https://docs.aws.amazon.com/AmazonS3/latest/API/Welcome.html has the operations; only those are
used that other stores have, too.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import get_session

from .reader import ObjectReader
from .writer import Buffers, ObjectWriter

if TYPE_CHECKING:
    from . import Settings

CONNECT_WITHIN = 3.0
"""Seconds."""
AT_ONCE = 64
"""Connections that are kept."""
MISSING = frozenset({"NoSuchKey", "404"})
NOT_IMPLEMENTED = "NotImplemented"


class Bucket:
    """Contents as objects of a bucket; see ``gateway_core.FileContents``."""

    def __init__(self, settings: "Settings") -> None:
        """Connects nowhere yet."""
        self._settings = settings
        self._buffers = Buffers()
        self._client: Any = None
        self._making = threading.Lock()

    def create(self, key: str) -> ObjectWriter:
        return ObjectWriter(self, self._name(key), self._buffers)

    def open(self, key: str, begin: int, end: int) -> ObjectReader:
        """Raises FileNotFoundError, OSError."""
        return ObjectReader(self, self._name(key), begin, end)

    def remove(self, key: str) -> None:
        """Also uploads of many parts that were never completed. Raises OSError."""
        name = self._name(key)
        for upload in self._unfinished(name):
            self.call("abort_multipart_upload", Key=name, UploadId=upload)
        self.call("delete_object", Key=name)

    def check(self) -> tuple[bool, str]:
        """Write, read and remove an object, and say how that went."""
        place = self._settings.endpoint or f"Amazon S3 ({self._settings.region})"
        try:
            self._try()
        except OSError as error:
            return False, str(error)
        return True, f"bucket {self._settings.bucket} at {place} can be written and read"

    def _try(self) -> None:
        key, content = f"check{token_hex(8)}", b"model-gateway"
        writer = self.create(key)
        try:
            writer.write(content)
            writer.finish()
            reader = self.open(key, 0, len(content))
            try:
                is_same = reader.read(len(content)) == content
            finally:
                reader.close()
        finally:
            writer.abandon()
        self.remove(key)
        if not is_same:
            raise OSError("the object store gives back another content than it was sent")

    def call(self, operation: str, /, **arguments: Any) -> Any:
        """One operation on the bucket. Raises FileNotFoundError, OSError."""
        with translated(operation):
            client = self._connected()
            return getattr(client, operation)(Bucket=self._settings.bucket, **arguments)

    def _unfinished(self, name: str) -> list[str]:
        """The ids of uploads to this object."""
        try:
            listed = self.call("list_multipart_uploads", Prefix=name)
        except OSError as error:
            if NOT_IMPLEMENTED in str(error):
                return []
            raise
        return [each["UploadId"] for each in listed.get("Uploads", ()) if each["Key"] == name]

    def _connected(self) -> Any:
        with self._making:
            if self._client is None:
                self._client = _client(self._settings)
            return self._client

    def _name(self, key: str) -> str:
        return f"{self._settings.prefix}{key}"


def _client(settings: "Settings") -> Any:
    config = Config(
        connect_timeout=CONNECT_WITHIN,
        read_timeout=settings.wait_seconds,
        retries={"mode": "standard", "total_max_attempts": 2},
        max_pool_connections=AT_ONCE,
        s3={"addressing_style": settings.addressing},
        # Many stores know no checksums but those that an operation requires:
        # https://docs.aws.amazon.com/sdkref/latest/guide/feature-dataintegrity.html
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return get_session().create_client(
        "s3",
        region_name=settings.region,
        endpoint_url=settings.endpoint or None,
        aws_access_key_id=settings.access_key_id or None,
        aws_secret_access_key=settings.secret_access_key or None,
        config=config,
    )


@contextmanager
def translated(operation: str) -> Iterator[None]:
    """Raise what fails in the block as OSError, whose text has no secrets."""
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", "unknown"))
        if code in MISSING:
            raise FileNotFoundError(f"the object store has no such object ({operation})") from None
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        raise OSError(f"the object store refused {operation}: {code} (status {status})") from None
    except (BotoCoreError, ValueError) as error:
        # Their texts have addresses, and names of what is missing.
        raise OSError(f"the object store cannot be used: {error}") from None
