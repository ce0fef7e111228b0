"""Compressed bodies, by content coding, and the pieces of a stream that are sent as they come."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import brotli
from backports import zstd

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": partial(gzip.compress, mtime=0),
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
"""What makes a whole body in a coding."""


def pack_raw(plain: bytes) -> bytes:
    """Deflate without the header of zlib."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(plain) + packer.flush()


def pack_stream(coding: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Each piece so that it can be decoded at once, and then the end."""
    add, flush, end = _streaming(coding)
    for piece in pieces:
        yield add(piece) + flush()
    yield end()


def _streaming(coding: str) -> tuple[Callable[[bytes], bytes], Any, Any]:
    if coding == "br":
        inner = brotli.Compressor()
        return inner.process, inner.flush, inner.finish
    if coding == "zstd":
        packer = zstd.ZstdCompressor()
        return packer.compress, lambda: packer.flush(packer.FLUSH_BLOCK), packer.flush
    bits = {"gzip": 31, "deflate": 15}[coding]
    zipper = zlib.compressobj(wbits=bits)
    return zipper.compress, lambda: zipper.flush(zlib.Z_SYNC_FLUSH), zipper.flush
