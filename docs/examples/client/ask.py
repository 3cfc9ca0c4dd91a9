"""Sends a request to aeond, prints the steps as they end, and the answer."""

import sys

from aeond_client import Client
from aeond_client.events import AnswerComposed, StepEnded

with Client() as client:
    for event in client.ask(" ".join(sys.argv[1:]) or "What is 17.5% of 2400?"):
        match event.kind:
            case StepEnded(step_id=step_id):
                print(step_id, "has ended", file=sys.stderr)
            case AnswerComposed(answer=answer):
                print(answer.text)
