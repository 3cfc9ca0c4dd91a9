"""Answers of people to what runs ask."""

from typing import Final
from weakref import WeakValueDictionary

import anyio

from aeond.domain.events import InputAnswered
from aeond.domain.questions import Question
from aeond.domain.runs import Owner, RunSnapshot
from aeond.domain.values import JsonValue
from aeond.errors import InvalidInputError, WrongStateError
from aeond.ports import Validator
from aeond.service.folding import RunFolding
from aeond.service.scheduling import RunScheduler

SHOWN_PROBLEMS: Final = 3


class Answers:
    """Checks an answer against its question and hands it in: the first one that fits wins."""

    def __init__(self, *, folding: RunFolding, scheduler: RunScheduler, validator: Validator) -> None:
        self._folding = folding
        self._scheduler = scheduler
        self._validator = validator
        # Two equal answers are equal events: only one after the other can it be told which one counted.
        self._one_by_one: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()  # by run

    async def answer(self, run_id: str, question_id: str, answer: JsonValue, owner: Owner) -> RunSnapshot:
        """The run once the answer is durable; with no question id the only open question is meant.

        InvalidInputError: the answer does not fit (reason ANSWER_INVALID, field `answer_json`), or it must be
        said which question is meant (QUESTION_AMBIGUOUS, field `question_id`). WrongStateError
        (QUESTION_NOT_OPEN): nobody asks that, or it was answered already.
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
            raise _invalid(f"the answer does not fit the question: {said}")


def _asked(run: RunSnapshot, question_id: str) -> Question:
    for question in run.questions:
        if question.question_id == question_id:
            return question
    if question_id or not run.questions:
        raise _not_open(run.run_id, question_id)
    if len(run.questions) > 1:
        names = ", ".join(question.question_id for question in run.questions)
        raise InvalidInputError(
            f"run {run.run_id} asks several things: say which question is meant: {names}",
            reason="QUESTION_AMBIGUOUS",
            field="question_id",
        )
    return run.questions[0]


def _not_open(run_id: str, question_id: str) -> WrongStateError:
    asks = f"waits for no answer to {question_id!r}" if question_id else "asks nothing"
    message = f"run {run_id} {asks}: somebody else, or the default, may have been first; look at the run"
    return WrongStateError(message, reason="QUESTION_NOT_OPEN")


def _invalid(message: str) -> InvalidInputError:
    return InvalidInputError(message, reason="ANSWER_INVALID", field="answer_json")
