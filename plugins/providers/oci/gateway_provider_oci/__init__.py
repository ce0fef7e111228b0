"""Oracle Cloud's generative AI, in the Chicago region; an account's ``baseUrl`` names
another.

API reference: https://docs.oracle.com/en-us/iaas/Content/generative-ai/oci-openai.htm
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

OCI = openai_compatible(
    ProviderSpec(
        id="oci",
        name="Oracle Cloud",
        base_url="https://inference.generativeai.us-chicago-1.oci.oraclecloud.com/openai/v1",
        environment=("OCI_GENAI_API_KEY",),
        environment_data={"OCI_GENAI_BASE_URL": "baseUrl"},
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [OCI]
