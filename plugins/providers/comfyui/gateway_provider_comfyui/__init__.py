"""ComfyUI: pictures by graphs of nodes, on the operator's own machine.

API reference: https://docs.comfy.org/development/comfyui-server/comms_routes

``COMFYUI_URL`` or the account's ``baseUrl`` names another server. A graph is put into its queue,
its history is asked for the result, and the result is fetched.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from gateway_core import Auth, Kind, Model, ProviderSpec, Service, UpstreamError, hookimpl
from gateway_providers.services import Again, Cancel, JsonService, Question, count_made, show_bytes

from .graph import write


def read(question: Question, answer: Any) -> Mapping[str, Any] | Again:
    if isinstance(answer, bytes):
        return show_bytes(answer)
    if not answer:  # A job that is not over has no history.
        return Again()
    if "prompt_id" in answer:
        id = answer["prompt_id"]
        # A graph that runs already is left alone: ``/interrupt`` of older servers stops any.
        cancel = Cancel(path="/queue", method="POST", members={"delete": [id]})
        return Again(path=f"/history/{quote(id, safe='')}", cancel=cancel)
    [job] = answer.values()
    return Again(path=f"/view?{urlencode(place_of(job))}", is_job=False)


def place_of(job: Mapping[str, Any]) -> Mapping[str, str]:
    """Where a job's first picture is. Raises UpstreamError where it has none."""
    for output in job["outputs"].values():
        for picture in output.get("images") or ():
            return {name: picture[name] for name in ("filename", "subfolder", "type")}
    raise UpstreamError(f"The upstream made no picture: {reason_of(job)}")


def reason_of(job: Mapping[str, Any]) -> str:
    """What went wrong, from the job's log of events."""
    for name, details in job["status"]["messages"]:
        if name == "execution_error":
            return str(details["exception_message"])
    return str(job["status"]["status_str"])


COMFYUI = ProviderSpec(
    id="comfyui",
    name="ComfyUI",
    base_url="http://localhost:8188",
    auth=Auth(type="none"),
    environment_data={"COMFYUI_URL": "baseUrl"},
    passthrough_models=True,
    models=(Model("flux-dev", kind=Kind.IMAGE), Model("sdxl", kind=Kind.IMAGE)),
    services=(
        Service(
            Kind.IMAGE,
            JsonService(
                path="/prompt",
                write=write,
                read=read,
                usage=lambda question, answer: count_made(question),
                interval=0.5,
            ),
        ),
    ),
    free=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [COMFYUI]
