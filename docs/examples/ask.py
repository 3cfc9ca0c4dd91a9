"""Sends a request to aeond and prints its progress and answer.

python docs/examples/ask.py What is 17.5% of 2400?
"""

import sys
from pathlib import Path

from aeond_client import AeondError, Client, RunOptions
from aeond_client.events import AnswerComposed, StepEnded, StepStarted


def main() -> int:
    request = " ".join(sys.argv[1:]) or "What is 17.5% of 2400?"
    options = RunOptions(workspace=str(Path.cwd()))
    try:
        with Client() as client:
            for event in client.ask(request, options):
                match event.kind:
                    case StepStarted(step=step):
                        print(f"... {step.tool or step.agent} {step.arguments}")
                    case StepEnded(step_id=step_id, state=state, output=output, error=error):
                        print(f"{step_id} {state}: {error or output}")
                    case AnswerComposed(answer=answer):
                        print(answer.text)
                    case _:
                        pass  # there are other kinds, and newer daemons may add more
    except AeondError as error:
        print(f"{error.reason}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
