"""Contents of clients' files in an object store that speaks S3.

Does nothing without the name of a bucket. See ``docs/object-store.md`` for what is kept there, and
what happens while the store is away.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from gateway_core import FileContents, hookimpl

GATEWAY_PROTOCOL = 1


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the bucket is, and who may use it."""

    bucket: Annotated[
        str,
        Meta(
            description="The bucket's name; without it files are kept in a folder.",
            pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{1,62})?$",
            extra={"variable": "GATEWAY_OBJECT_STORE_BUCKET"},
        ),
    ] = ""
    endpoint: Annotated[
        str,
        Meta(
            description="The store's address, such as https://minio.internal:9000; "
            "empty is that of Amazon S3 in the region.",
            pattern="^(https?://.+)?$",
            extra={"variable": "GATEWAY_OBJECT_STORE_ENDPOINT"},
        ),
    ] = ""
    region: Annotated[
        str, Meta(description="The region that requests are signed for.", pattern="^[a-z0-9-]+$")
    ] = "us-east-1"
    prefix: Annotated[
        str,
        Meta(
            description="Begins the name of every object. Gateways on one database need the same.",
            pattern=r"^([A-Za-z0-9_.-]+/)*$",
        ),
    ] = "model-gateway/files/"
    access_key_id: Annotated[
        str,
        Meta(
            description="The key to sign with; empty takes what the machine has, such as a role.",
            extra={"secret": True, "variable": "GATEWAY_OBJECT_STORE_ACCESS_KEY_ID"},
        ),
    ] = ""
    secret_access_key: Annotated[
        str,
        Meta(
            description="The secret of that key.",
            extra={"secret": True, "variable": "GATEWAY_OBJECT_STORE_SECRET_ACCESS_KEY"},
        ),
    ] = ""
    addressing: Annotated[
        Literal["auto", "path", "virtual"],
        Meta(description="Whether the bucket is named in the path or in the host of an address."),
    ] = "auto"
    wait_seconds: Annotated[
        int, Meta(description="How long one answer of the store is waited for.", ge=1, le=300)
    ] = 20

    def __post_init__(self) -> None:
        if bool(self.access_key_id) != bool(self.secret_access_key):
            raise ValueError("accessKeyId and secretAccessKey belong together")


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def register_file_contents(settings: Settings) -> list[FileContents]:
    if not settings.bucket:
        return []
    # Imported only here, because most gateways keep files in a folder.
    from .bucket import Bucket

    return [Bucket(settings)]
