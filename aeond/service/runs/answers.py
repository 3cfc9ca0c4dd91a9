"""People's answers to the questions of runs."""

from typing import Final
from weakref import WeakValueDictionary

import anyio

from aeond.domain.runs.events import InputAnswered
from aeond.domain.runs.questions import Question
from aeond.domain.runs.run import Owner, RunSnapshot
from aeond.domain.values import JsonValue
from aeond.errors import InvalidInputError, WrongStateError
from aeond.ports import Validator
from aeond.service.folding import RunFolding
from aeond.service.runs.scheduler import RunScheduler

SHOWN_PROBLEMS: Final = 3


class Answers:
    """Validates an answer against its question and delivers it; the first valid answer counts."""

    def __init__(self, *, folding: RunFolding, scheduler: RunScheduler, validator: Validator) -> None:
        self._folding = folding
        self._scheduler = scheduler
        self._validator = validator
        # Equal answers are equal events; they must be handled one at a time to know which one counted.
        self._one_by_one: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()  # by run id

    async def answer(self, run_id: str, question_id: str, answer: JsonValue, owner: Owner) -> RunSnapshot:
        """The run once the answer is durable; without a question id, answers the only open question.

        InvalidInputError: the answer does not match the question (reason ANSWER_INVALID, field
        `answer_json`), or several questions are open (QUESTION_AMBIGUOUS, field `question_id`).
        WrongStateError (QUESTION_NOT_OPEN): the question does not exist or was answered already.
        """
        async with self._one_by_one.setdefault(run_id, anyio.Lock()):
            question = _asked(await self._folding.snapshot(run_id), question_id)
            self._check(question, answer)
            try:
                await self._scheduler.deliver(run_id, InputAnswered(question.question_id, answer, owner))
            except WrongStateError as error:
                raise _not_open(run_id, question.question_id) from error
        return await self._folding.snapshot(run_id)

    def _check(self, question: Question, answer: JsonValue) -> None:
        request = question.request
        if request.options:
            if answer not in request.options:
                choice = ", ".join(repr(option) for option in request.options)
                raise _invalid(f"the answer must be one of {choice}")
            return
        problems = self._validator.validate_output(answer, request.schema)
        if problems:
            said = "; ".join(f"{p.path or 'the answer'}: {p.message}" for p in problems[:SHOWN_PROBLEMS])
            raise _invalid(f"the answer does not match the question: {said}")


def _asked(run: RunSnapshot, question_id: str) -> Question:
    for question in run.questions:
        if question.question_id == question_id:
            return question
    if question_id or not run.questions:
        raise _not_open(run.run_id, question_id)
    if len(run.questions) > 1:
        names = ", ".join(question.question_id for question in run.questions)
        raise InvalidInputError(
            f"run {run.run_id} has several open questions; name one of {names}",
            reason="QUESTION_AMBIGUOUS",
            field="question_id",
        )
    return run.questions[0]


def _not_open(run_id: str, question_id: str) -> WrongStateError:
    asks = f"has no open question {question_id!r}" if question_id else "has no open question"
    message = (
        f"run {run_id} {asks}: it may have been answered by another client or by its default;"
        " check with `show`"
    )
    return WrongStateError(message, reason="QUESTION_NOT_OPEN")


def _invalid(message: str) -> InvalidInputError:
    return InvalidInputError(message, reason="ANSWER_INVALID", field="answer_json")
