"""Databricks: serving endpoints of one's own workspace. An account's ``baseUrl`` is
``https://<workspace>/serving-endpoints``; a model's id is the name of an endpoint.

API reference: https://docs.databricks.com/aws/en/machine-learning/model-serving/score-foundation-models
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

DATABRICKS = openai_compatible(
    ProviderSpec(
        id="databricks",
        name="Databricks",
        environment=("DATABRICKS_TOKEN",),
        environment_data={"DATABRICKS_BASE_URL": "baseUrl"},
        passthrough_models=True,
    )
)

CONFORMANCE = {
    "accounts": {
        "databricks": {"data": {"baseUrl": "https://dbc-1.cloud.databricks.com/serving-endpoints"}}
    }
}


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [DATABRICKS]
