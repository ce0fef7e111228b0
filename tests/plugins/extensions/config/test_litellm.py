"""A LiteLLM configuration becomes a file that a gateway takes."""

from config_files import ConfigCommand

LITELLM = """
model_list:
- model_name: gpt-4o
  litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_KEY_EU, rpm: 60, timeout: 30}
  model_info: {id: one, base_model: gpt-4o}
- model_name: gpt-4o
  litellm_params: {model: azure/my-gpt, api_base: "https://eu.openai.azure.com",
                   api_version: "2024-10-21", api_key: os.environ/AZURE_KEY}
- model_name: claude
  litellm_params: {model: anthropic/claude-sonnet-4-5, api_key: sk-canary-in-clear}
- model_name: local/llama
  litellm_params: {model: hosted_vllm/llama-3, api_base: "http://127.0.0.1:9/v1", api_key: none}
  model_info: {max_input_tokens: 8192, input_cost_per_token: 0.0000015, mode: chat}
- model_name: vectors
  litellm_params: {model: voyage/voyage-3, api_key: os.environ/VOYAGE_KEY}
  model_info: {mode: embedding}
- model_name: other
  litellm_params: {model: groq/model-x, api_key: os.environ/GROQ_KEY, weight: 2}
- model_name: other
  litellm_params: {model: mistral/model-y, api_key: os.environ/MISTRAL_KEY, weight: 1}
- model_name: "*"
  litellm_params: {model: "openai/*"}
- model_name: lost
  litellm_params: {model: nobody/model}
router_settings:
  routing_strategy: least-busy
  fallbacks: [{gpt-4o: [claude, lost]}]
  model_group_alias: {gpt-4: gpt-4o, hidden: {model: claude, hidden: true}, bad: unknown}
litellm_settings: {drop_params: true, fallbacks: [{claude: [other]}]}
general_settings: {master_key: sk-canary-master, database_url: "postgres://canary@x/y"}
environment_variables: {REDIS_HOST: canary-host}
"""
SECRETS = ("OPENAI_KEY_EU", "AZURE_KEY", "VOYAGE_KEY", "GROQ_KEY", "MISTRAL_KEY")
WRITTEN = ("ANTHROPIC_LITELLM_API_KEY", "HOSTED_VLLM_127_0_0_1_LITELLM_API_KEY")


def test_what_can_be_carried_over_is_applied_and_the_rest_is_listed(config: ConfigCommand) -> None:
    read = config("import", "litellm", file=LITELLM)
    variables = dict.fromkeys((*SECRETS, *WRITTEN), "sk-canary")

    made = config("apply", file=read.output, variables=variables)

    assert read.code == 0, read.errors
    assert "canary" not in read.output
    assert made.code == 0, made.errors + made.output + read.output
    assert config("plan", file=read.output, variables=variables).code == 0
    stored = {
        section: {each.name: each.fields for each in config.world().stored(section)}
        for section in ("connections", "nodes", "combos", "aliases", "prices", "customModels")
    }
    assert set(stored["connections"]) == {
        ("openai", "litellm"),
        ("azure-openai", "litellm"),
        ("anthropic", "litellm"),
        ("hosted_vllm-127.0.0.1", "litellm"),
        ("voyage-ai", "litellm"),
        ("groq", "litellm"),
        ("mistral", "litellm"),
    }
    azure = stored["connections"]["azure-openai", "litellm"]["providerSpecificData"]
    assert azure["azureEndpoint"] == "https://eu.openai.azure.com"
    assert stored["combos"]["gpt-4o",]["models"] == ["gpt-4o-pool", "claude"]
    assert stored["combos"]["gpt-4o-pool",]["models"] == ["openai/gpt-4o", "azure-openai/my-gpt"]
    assert stored["combos"]["claude",]["models"] == ["anthropic/claude-sonnet-4-5", "other"]
    assert [fact["weight"] for fact in stored["combos"]["other",]["members"]] == [2, 1]
    assert stored["combos"]["local-llama",]["models"] == ["hosted_vllm-127.0.0.1/llama-3"]
    assert stored["aliases"] == {("gpt-4",): {"": "gpt-4o"}, ("hidden",): {"": "claude"}}
    assert stored["prices"]["hosted_vllm-127.0.0.1", "llama-3"] == {
        "input": 1.5,
        "output": 0,
    }
    for note in (
        "model_list[0] (gpt-4o): model_info.base_model, rpm",
        "model_list[2] (claude): a secret was written in clear",
        "local/llama is called local-llama",
        "model_list[7] (*): wildcards",
        "model_list[8] (lost): there is no provider for nobody",
        "the fallback of gpt-4o to lost",
        "router_settings.model_group_alias.bad",
        "router_settings.routing_strategy",
        "litellm_settings.drop_params",
        "general_settings.master_key: make gateway keys",
        "general_settings.database_url",
        "environment_variables",
    ):
        assert f"#   {note}" in read.output


def test_a_file_that_is_none_of_litellm_is_refused(config: ConfigCommand) -> None:
    empty = config("import", "litellm", file="combos: {}")
    broken = config("import", "litellm", file="model_list:\n- {model_name: a}\n")

    assert (empty.code, broken.code) == (1, 1)
    assert "gateway.yaml:1: a LiteLLM configuration has a model_list" in empty.errors
    assert "gateway.yaml:2: an entry has a model_name and litellm_params" in broken.errors
