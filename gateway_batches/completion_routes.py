"""``/v1/batches``: batches of the completions style, from an input file (4.8)."""

import asyncio
import time
from functools import partial
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.http.models import probed
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.pipeline.context import Collaborators
from gateway_files.ids import check_id

from .batch import ENDPOINTS, Batch
from .input_rows import Checked, check_input
from .surface import BadInput, PageQuery, SurfaceRoutes, read_json
from .views import COMPLETION_WINDOW, BatchList, BatchView, batch_view

PATH = "/v1/batches"
MOST_LISTED = 100
LARGEST = 1024 * 1024
"""Bytes of a request that creates a batch."""
CHECK_WITHIN = 10.0
"""Seconds for the check of an input. One that takes longer is checked behind the answer, and its
batch fails where lines are wrong."""
HEAD = ("GET", "HEAD")


# https://platform.openai.com/docs/api-reference/batch/create
Metadata = Annotated[
    dict[Annotated[str, Meta(max_length=64)], Annotated[str, Meta(max_length=512)]],
    Meta(max_length=16),
]


class BatchBody(Struct, frozen=True, kw_only=True):
    """``completion_window`` is ``24h``."""

    input_file_id: str
    endpoint: str = ENDPOINTS[0]
    completion_window: str = COMPLETION_WINDOW
    metadata: Metadata | None = None


def routes(core: Collaborators) -> list[Guarded]:
    """Building them reads nothing from ``core``."""
    batches = CompletionBatches(core, "completions", MOST_LISTED)
    one, cancel = f"{PATH}/{{id}}", f"{PATH}/{{id}}/cancel"
    return [
        batches.route(
            *(PATH, batches.show_list, "list the batches", HEAD), query=PageQuery, answer=BatchList
        ),
        batches.route(
            *(PATH, batches.create, "create a batch", ("POST",)),
            body=BatchBody,
            answer=BatchView,
            example={"input_file_id": "file_0123456789abcdef01234567"},
        ),
        batches.route(one, batches.show, "describe a batch", answer=BatchView),
        batches.route(cancel, batches.stop, "cancel a batch", ("POST",), answer=BatchView),
    ]


class CompletionBatches(SurfaceRoutes):
    """Answers of the completions style."""

    async def show_list(self, request: Request, owner: str) -> Response:
        if request.method == "HEAD":
            return probed()
        found, has_more = await self.page(request, owner)
        views = [batch_view(batch) for batch in found]
        return json_answer(
            BatchList(
                data=views,
                first_id=views[0].id if views else None,
                last_id=views[-1].id if views else None,
                has_more=has_more,
            )
        )

    async def create(self, request: Request, owner: str) -> Response:
        body = await read_json(request, BatchBody, LARGEST)
        if body.completion_window != COMPLETION_WINDOW:
            raise BadRequest(
                f"completion_window must be {COMPLETION_WINDOW}", param="completion_window"
            )
        if body.endpoint not in ENDPOINTS:
            raise BadRequest(f"endpoint must be one of {', '.join(ENDPOINTS)}", param="endpoint")
        check_id(body.input_file_id)
        await self.check_room(owner)
        batch = self.new_batch(
            *(request, owner, body.endpoint),
            input_file_id=body.input_file_id,
            metadata=body.metadata,
        )
        checked = await asyncio.to_thread(self._take_input, batch)
        if checked is not None:
            batch = replace(batch, total=checked.total)
        await self.store(batch)
        return json_answer(batch_view(batch))

    def _take_input(self, batch: Batch) -> Checked | None:
        """Keep the input file for a batch, and check it; ``None`` where there is no time for that.

        Raises NotFound, BadInput.
        """
        files, folder = self.batches.files, self.batches.folder(batch.id)
        record = files.find(batch.owner, batch.input_file_id or "")
        missing = NotFound(f"No such file: {batch.input_file_id}", param="input_file_id")
        if record is None:
            raise missing
        folder.make()
        try:
            folder.take_input(partial(files.copy, record))
            until = time.monotonic() + CHECK_WITHIN
            with folder.open_input() as file:
                checked = check_input(file, batch.endpoint, self.core.max_body, until=until)
            if checked is not None and checked.errors:
                raise BadInput(checked.errors)
        except FileNotFoundError:  # Deleted in between.
            folder.remove()
            raise missing from None
        except BaseException:
            folder.remove()
            raise
        return checked

    async def show(self, request: Request, owner: str) -> Response:
        return json_answer(batch_view(await self.find(request, owner)))

    async def stop(self, request: Request, owner: str) -> Response:
        return json_answer(batch_view(await self.cancel(request, owner)))
