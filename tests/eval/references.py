"""References: requests that mean something only in their session, rewritten by the product's own resolver."""

import re
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from aeond.domain.budgets import Grant
from aeond.domain.reservations import JUDGING
from aeond.domain.runs import RunRequest, RunSnapshot
from aeond.domain.sessions import SessionPast
from aeond.orchestration.references import ModelReferences
from aeond.orchestration.session_telling import SessionTelling
from aeond.ports import LLMAdapter
from tests.eval.verdicts import Terms, Verdict
from tests.support.sessions import ToldHistory, talk

CASES: Final = Path(__file__).parent / "references.toml"


class Case(BaseModel):
    """A request in a conversation, and by which words it is known whether a rewrite means the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    group: str
    talk: tuple[str, ...]
    says: str
    needs: tuple[str, ...]
    never: tuple[str, ...] = ()

    def missed(self, rewritten: str) -> tuple[str, ...]:
        """What is wrong with a rewrite; nothing when it is right."""
        lacks = (f"lacks {p}" for p in self.needs if not re.search(p, rewritten, re.IGNORECASE))
        holds = (f"holds {p}" for p in self.never if re.search(p, rewritten, re.IGNORECASE))
        return (*lacks, *holds)


def read_cases() -> tuple[Case, ...]:
    return tuple(Case.model_validate(case) for case in tomllib.loads(CASES.read_text("utf-8"))["case"])


async def judge_references(llm: LLMAdapter, terms: Terms) -> AsyncIterator[Verdict]:
    """Each case through the resolver, in a session that consists of its conversation."""
    for case in (case for case in read_cases() if terms.admit(case.says, False)):
        telling = SessionTelling(ToldHistory(SessionPast(messages=talk(*case.talk))), llm, 1_000)
        run = RunSnapshot("r", request=RunRequest(case.says, session_id="s"))
        resolved = (await ModelReferences(llm, telling).resolve(run, Grant(JUDGING))).value
        note = f"  [{resolved.note}]" if resolved.note else ""
        yield Verdict(case.says, case.group, f"{resolved.text}{note}", case.missed(resolved.text))
