"""The examples on the page about guardrails are rules that do what it says."""

import json
import re
from pathlib import Path

from guarded_gateway import GuardedGateway

PAGE = (Path(__file__).parents[4] / "docs" / "guardrails.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_every_example_is_accepted(here: GuardedGateway) -> None:
    assert len(EXAMPLES) == 3
    for example in EXAMPLES:
        document = json.loads(example)
        stored = here.set_rules(*document.pop("rules"), **document)
        assert stored.status_code == 200, stored.text
    assert here.set_rules(serviceToken="").status_code == 200


def test_the_first_example_does_what_it_says(here: GuardedGateway) -> None:
    rules = json.loads(EXAMPLES[0])["rules"]
    here.set_rules(rules[0], {**rules[1], "models": ["v/*"]}, rules[3])
    here.vendor.text = '{"total": "none"}'

    response = here.ask("Project AURORA is paid from DE89 3704 0044 0532 0130 00.")

    assert response.status_code == 200
    assert "the project is paid from [iban]." in here.sent_to("m")
    assert here.notes == (
        "guardrails: project redacted (request)",
        "guardrails: customers redacted iban (request)",
        "guardrails: invoice flagged (answer)",
    )
