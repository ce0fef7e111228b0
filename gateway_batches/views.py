"""Batches as clients of both surfaces see them."""

from typing import Any, Literal

from msgspec import Struct

from gateway_core.storage.moments import iso

from .batch import Batch, BatchError, Status

_PROCESSING = {"cancelling": "canceling"}
COMPLETION_WINDOW = "24h"


class BatchErrors(Struct, frozen=True):
    data: tuple[BatchError, ...]
    object: Literal["list"] = "list"


class RequestCounts(Struct, frozen=True, kw_only=True):
    total: int
    completed: int
    failed: int
    canceled: int


class BatchView(Struct, frozen=True, kw_only=True):
    """A batch of the completions style. Times are Unix seconds."""

    id: str
    object: Literal["batch"] = "batch"
    endpoint: str
    errors: BatchErrors | None
    input_file_id: str | None
    completion_window: str = COMPLETION_WINDOW
    status: Status
    output_file_id: str | None
    error_file_id: str | None
    created_at: int
    in_progress_at: int | None
    expires_at: int
    finalizing_at: int | None
    completed_at: int | None
    failed_at: int | None
    expired_at: int | None
    cancelling_at: int | None
    cancelled_at: int | None
    request_counts: RequestCounts
    metadata: dict[str, Any] | None


class BatchList(Struct, frozen=True, kw_only=True):
    object: Literal["list"] = "list"
    data: list[BatchView]
    first_id: str | None
    last_id: str | None
    has_more: bool


class MessageCounts(Struct, frozen=True, kw_only=True):
    processing: int
    succeeded: int
    errored: int
    canceled: int
    expired: int


class MessageBatchView(Struct, frozen=True, kw_only=True):
    """A batch of the messages style. Times are texts of ISO 8601."""

    id: str
    type: Literal["message_batch"] = "message_batch"
    processing_status: Literal["in_progress", "canceling", "ended"]
    request_counts: MessageCounts
    ended_at: str | None
    created_at: str
    expires_at: str
    archived_at: str | None = None
    cancel_initiated_at: str | None
    results_url: str | None


class MessageBatchList(Struct, frozen=True, kw_only=True):
    data: list[MessageBatchView]
    has_more: bool
    first_id: str | None
    last_id: str | None


def batch_view(batch: Batch) -> BatchView:
    times = (
        *("created_at", "in_progress_at", "expires_at", "finalizing_at", "completed_at"),
        *("failed_at", "expired_at", "cancelling_at", "cancelled_at"),
    )
    return BatchView(
        id=batch.id,
        endpoint=batch.endpoint,
        errors=BatchErrors(batch.errors) if batch.errors else None,
        input_file_id=batch.input_file_id,
        status=batch.status,
        # Before the end the files may be written anew.
        output_file_id=batch.output_file_id if batch.is_over else None,
        error_file_id=batch.error_file_id if batch.is_over else None,
        request_counts=RequestCounts(
            total=batch.total or 0,
            completed=batch.completed,
            failed=batch.failed,
            canceled=batch.unsettled if batch.status == "cancelled" else 0,
        ),
        metadata=None if batch.metadata is None else dict(batch.metadata),
        **{name: _whole(getattr(batch, name)) for name in times},
    )


def message_batch_view(batch: Batch, origin: str) -> MessageBatchView:
    """``origin`` is where the gateway is for this client, and the path that it is mounted at."""
    unsettled, status = batch.unsettled, batch.status
    ended_at = batch.completed_at or batch.failed_at or batch.cancelled_at or batch.expired_at
    return MessageBatchView(
        id=batch.id,
        processing_status="ended"
        if batch.is_over
        else "canceling"
        if status == "cancelling"
        else "in_progress",
        request_counts=MessageCounts(
            processing=0 if batch.is_over else unsettled,
            succeeded=batch.completed,
            errored=batch.failed,
            canceled=unsettled if status == "cancelled" else 0,
            expired=unsettled if status == "expired" else 0,
        ),
        ended_at=_text(ended_at),
        created_at=iso(batch.created_at),
        expires_at=iso(batch.expires_at),
        cancel_initiated_at=_text(batch.cancelling_at),
        results_url=f"{origin}/v1/messages/batches/{batch.id}/results" if batch.is_over else None,
    )


def _whole(moment: float | None) -> Any:
    return None if moment is None else int(moment)


def _text(moment: float | None) -> str | None:
    return None if moment is None else iso(moment)
