"""References: requests that mean something only in their session, rewritten by the product's own resolver."""

import re
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.events import LOGIC_VERSION
from aeond.domain.runs.reservations import before_answer
from aeond.domain.runs.run import Operation, RunRequest, RunSnapshot
from aeond.domain.sessions import SessionPast
from aeond.orchestration.context.coreference import ModelReferences
from aeond.orchestration.context.session_context import SessionContextBuilder
from tests.eval.counted_model import CountedModel
from tests.eval.subjects import Subject
from tests.eval.verdicts import EvalSet, OnVerdict, Terms, Verdict
from tests.support.sessions import ScriptedHistory, talk

OWN: Final = Path(__file__).parent / "references.toml"
STRANGERS: Final = Path(__file__).parent / "references_strangers.toml"


class Case(BaseModel):
    """A request in a conversation, and by which words it is known whether a rewrite means the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    group: str
    talk: tuple[str, ...]
    says: str
    needs: tuple[str, ...]
    never: tuple[str, ...] = ()

    def missed(self, rewritten: str) -> tuple[str, ...]:
        """The faults of a rewrite; none if it is right."""
        lacks = (f"lacks {p}" for p in self.needs if not re.search(p, rewritten, re.IGNORECASE))
        holds = (f"holds {p}" for p in self.never if re.search(p, rewritten, re.IGNORECASE))
        return (*lacks, *holds)


def read_cases(path: Path = OWN) -> tuple[Case, ...]:
    return tuple(Case.model_validate(case) for case in tomllib.loads(path.read_text("utf-8"))["case"])


def references_set(name: str, least: float, path: Path) -> EvalSet:
    """Each case of the file through the resolver, in a session that consists of its conversation."""

    async def judge(subject: Subject, terms: Terms, on_verdict: OnVerdict) -> None:
        for case in terms.sample([case for case in read_cases(path) if terms.admit(case.says, False)]):
            on_verdict(await resolved(CountedModel(subject.llm), case))

    return EvalSet(name, least, judge)


async def resolved(llm: CountedModel, case: Case) -> Verdict:
    """The result of the resolver for one case."""
    began = time.monotonic()
    contexts = SessionContextBuilder(ScriptedHistory(SessionPast(messages=talk(*case.talk))), llm, 1_000)
    run = RunSnapshot("r", request=RunRequest(case.says, session_id="s"))
    rewrite = (
        await ModelReferences(llm, contexts).resolve(
            run, Grant(before_answer(LOGIC_VERSION, Operation.RESOLVE, direct=False))
        )
    ).value
    note = f"  [{rewrite.note}]" if rewrite.note else ""
    effort = replace(llm.effort, seconds=time.monotonic() - began)
    return Verdict(case.says, case.group, f"{rewrite.text}{note}", case.missed(rewrite.text), effort=effort)
