"""Finds the questions of a run that the user answered."""

from aeond.domain.runs.events import ChildRunEnded, InputAnswered, InputRequested
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import Owner
from aeond.domain.sessions import AnsweredQuestion
from aeond.domain.values import display_json
from aeond.ports import Journal


async def answered_questions(journal: Journal, run_id: str) -> tuple[AnsweredQuestion, ...]:
    """Those of the run and of the child runs that it waited for, in the order of the journal, without questions that
    only their default answered. Raises what the journal raises.
    """
    found: list[AnsweredQuestion] = []
    open_questions: dict[str, Question] = {}
    seq = 0
    while page := await journal.read(run_id, seq):
        for event in page:
            kind = event.kind
            if isinstance(kind, InputRequested):
                open_questions[kind.question.question_id] = kind.question
            elif isinstance(kind, InputAnswered) and kind.owner != Owner():
                asked = open_questions[kind.question_id]
                text = _question_text(asked.request)
                found.append(AnsweredQuestion(text, asked.asked_time, display_json(kind.answer), event.time))
            elif isinstance(kind, ChildRunEnded):
                found += await answered_questions(journal, kind.child_run_id)
        seq = page[-1].seq
    return tuple(found)


def _question_text(request: InputRequest) -> str:
    return f"{request.prompt} ({', '.join(request.options)})" if request.options else request.prompt
