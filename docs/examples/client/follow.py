"""Follows a run from an event on, and answers its questions, or cancels it: follow.py RUN_ID AFTER_SEQ [ANSWER]"""

import sys

from aeond_client import Client
from aeond_client.events import InputRequested

run_id, after, *answers = sys.argv[1:]
with Client() as client, client.watch(run_id, int(after)) as events:
    for event in events:
        if event.seq:
            print(event.seq)  # keep it: a later watch resumes from it
        match event.kind:
            case InputRequested() if answers:
                client.answer_run(run_id, answers[0])
            case InputRequested():
                client.cancel_run(run_id, "no answer")
