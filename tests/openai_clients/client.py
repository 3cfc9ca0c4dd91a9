"""Makes calls with the official Python client of the OpenAI API.

Each line of standard input is a call: its `method`, its `arguments`, and with `leave_after` the number of events after
which a stream is left. Each line of standard output is its outcome: `result`, `events`, or `error`.
"""

import json
import sys
from functools import reduce
from typing import Any

import openai


def outcome(client: openai.OpenAI, call: dict[str, Any]) -> dict[str, Any]:
    method = reduce(getattr, call["method"].split("."), client)
    try:
        made = method(*call.get("place", []), **call["arguments"])
        if not call["arguments"].get("stream"):
            return {"result": made.model_dump(mode="json", warnings="error")}
        events: list[Any] = []
        with made:
            for event in made:
                events.append(event.model_dump(mode="json", warnings="error"))
                if len(events) == call.get("leave_after"):
                    break
    except openai.APIStatusError as error:
        return {"error": {"status": error.status_code, "code": error.code, "message": error.message}}
    except openai.APIError as error:
        return {"error": {"status": 0, "code": error.code, "message": error.message}}
    return {"events": events}


def main() -> None:
    with openai.OpenAI() as client:
        for line in sys.stdin:
            sys.stdout.write(json.dumps(outcome(client, json.loads(line))) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
