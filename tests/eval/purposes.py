"""Fits the weights of `aeond.orchestration.purpose`: python -m tests.eval.purposes ASKED.jsonl

ASKED.jsonl holds what the default model answered to both questions about each request of FITTED_ON; what is missing is asked and added.
Prints how often the likeliest purpose is that of a request's group where its set was left out, and writes the weights.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio
import numpy as np
from numpy.typing import NDArray

from aeond.capabilities.tools.relevance.file_ranking import nearest_files
from aeond.domain.llm import LikelyToken, LLMRequest
from aeond.domain.runs.situations import Situation
from aeond.orchestration.context.statements import is_question, sentences
from aeond.orchestration.decision.conversations.odds import LIKELY
from aeond.orchestration.decision.conversations.subject import Subject
from aeond.orchestration.prompts.decision_prompts import Question
from aeond.orchestration.prompts.subject_prompts import INTENT, SUBJECT
from aeond.orchestration.purpose.purposes import Purpose, features
from aeond.orchestration.purpose.surroundings import Surroundings, surroundings_of
from aeond.ports import LLMAdapter
from tests.eval.case_files import Placed, read_case_file
from tests.eval.cases import Case
from tests.eval.known_sets import FOLDER
from tests.eval.subjects import EngineChoice, opened_subject
from tests.support.repository import ROOT
from tests.support.strategy import run_of

FITTED_ON: Final = tuple(f"strangers_{letter}" for letter in "abcdefghijklmnop")
WEIGHTS: Final = ROOT / "aeond" / "orchestration" / "purpose" / "weights.py"
ENGINE_FOLDER: Final = ROOT / ".cache" / "purposes"
PENALTY: Final = 0.005  # of the squares of the weights of standardised features
ROUNDS: Final = 4_000
RATE: Final = 0.03
QUESTIONS: Final = {"subject": SUBJECT, "intent": INTENT}
PURPOSES: Final = {
    "no tool": Purpose.KNOW,
    "one file": Purpose.LOOK,
    "finding": Purpose.LOOK,
    "comparing": Purpose.LOOK,
    "recalling": Purpose.LOOK,
    "arithmetic": Purpose.COMPUTE,
    "remembering": Purpose.TELL,
    "updating": Purpose.TELL,
    "editing": Purpose.EDIT,
    "writing": Purpose.EDIT,
}
HEAD: Final = '''"""Written by `python -m tests.eval.purposes`: a row for each feature, a column for each purpose."""

from typing import Final

'''

Table = NDArray[np.float64]
Answers = dict[tuple[str, str], tuple[LikelyToken, ...]]  # by question and request


def purpose_of(case: Case) -> Purpose:
    """What is wanted by a request of this group. One that cannot be carried out asks for what is not here, or for a deed elsewhere; one
    of several steps is known by what it changes."""
    if case.group in PURPOSES:
        return PURPOSES[case.group]
    if case.group == "steps":
        return Purpose.EDIT if case.files else Purpose.TELL if case.memory else Purpose.LOOK
    return Purpose.LOOK if any(map(is_question, sentences(case.says))) else Purpose.ACT


async def ask(path: Path, cases: Sequence[Case]) -> Answers:
    """The answers in the file, and those to the questions that are not answered there, which it has then, too."""
    answers = dict(_read(path))
    missing = [(name, case.says) for name in QUESTIONS for case in cases if (name, case.says) not in answers]
    if missing:
        ENGINE_FOLDER.mkdir(parents=True, exist_ok=True)
        async with opened_subject(EngineChoice(), ENGINE_FOLDER) as subject:
            with path.open("a", encoding="utf-8") as file:
                for name, request in missing:
                    likely = await _answer(subject.llm, QUESTIONS[name], request)
                    answers[name, request] = likely
                    tokens = [(token.text, token.logprob) for token in likely]
                    file.write(json.dumps([name, request, tokens], ensure_ascii=False) + "\n")
    return answers


def _read(path: Path) -> Iterator[tuple[tuple[str, str], tuple[LikelyToken, ...]]]:
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    for name, request, tokens in map(json.loads, lines):
        yield (name, request), tuple(LikelyToken(*token) for token in tokens)


async def _answer(llm: LLMAdapter, question: Question, request: str) -> tuple[LikelyToken, ...]:
    asked = LLMRequest(question.messages(request), max_tokens=1, likely=LIKELY, fixed=True)
    return (await llm.generate(asked)).likely


def surroundings(placed: Placed) -> Surroundings:
    """What the request of the case shares with its files and facts."""
    situation = Situation(
        files=tuple((path, "") for path in sorted(placed.workspace)),
        facts=tuple(sorted(placed.memory.items())),
        nearest=nearest_files(placed.case.says, placed.workspace),
    )
    return surroundings_of(run_of(request=placed.case.says), situation)


def table(
    placed: Sequence[Placed],
    answers: Mapping[tuple[str, str], tuple[LikelyToken, ...]],
    *,
    with_intent: bool = True,
) -> Table:
    """The features of each request, as the daemon sees them: where it does not ask for the intent, that is unknown."""
    rows = []
    for one in placed:
        case = one.case
        likely = answers["subject", case.says]
        asks = with_intent and Subject(likely).may_not_ask(case.says)
        intent = answers["intent", case.says] if asks else ()
        rows.append(features(likely, intent, case.says, surroundings(one)))
    return np.array(rows)


def fitted(rows: Table, wanted: Sequence[int]) -> Table:
    """The weights of a multinomial logistic regression. The last feature is constant and is not penalised."""
    mean, spread = rows[:, :-1].mean(0), rows[:, :-1].std(0) + 1e-6
    standard = np.c_[(rows[:, :-1] - mean) / spread, np.ones(len(rows))]
    targets = np.eye(len(Purpose))[list(wanted)]
    weights = np.zeros((standard.shape[1], len(Purpose)))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for round_ in range(1, ROUNDS + 1):  # Adam
        slope = standard.T @ (_shares(standard @ weights) - targets) / len(rows)
        slope[:-1] += PENALTY * weights[:-1]
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        step = first / (1 - 0.9**round_) / (np.sqrt(second / (1 - 0.999**round_)) + 1e-8)
        weights -= RATE * step
    plain: Table = np.vstack([weights[:-1] / spread[:, None], weights[-1:]])
    plain[-1] -= mean @ plain[:-1]
    return plain


def _shares(odds: Table) -> Table:
    shares = np.exp(odds - odds.max(1, keepdims=True))
    whole: Table = shares / shares.sum(1, keepdims=True)
    return whole


def left_out(tables: Sequence[Table], wanted: Sequence[int], sets: Sequence[str]) -> Table:
    """The probabilities of each request's purposes by the first table, with weights fitted on all tables without its set."""
    found = np.zeros((len(wanted), len(Purpose)))
    names = np.array(sets)
    for name in dict.fromkeys(sets):
        others = names != name
        weights = fitted(
            np.vstack([rows[others] for rows in tables]), [*np.array(wanted)[others]] * len(tables)
        )
        found[~others] = _shares(tables[0][~others] @ weights)
    return found


def source_of(weights: Table) -> str:
    """The module that holds these weights."""
    lines = ["WEIGHTS: Final = ("]
    lines += [f"    ({', '.join(f'{one:.3f}' for one in row)})," for row in weights]
    return HEAD + "\n".join([*lines, ")", ""])


def main(path: Path) -> None:
    sets, placed = zip(
        *((name, one) for name in FITTED_ON for one in read_case_file(FOLDER / f"{name}.toml")),
        strict=True,
    )
    cases = [one.case for one in placed]
    answers = anyio.run(ask, path, cases)
    tables = [
        table(placed, answers),
        table(placed, answers, with_intent=False),
    ]  # a model may not say the intent
    order = list(Purpose)
    wanted = [order.index(purpose_of(case)) for case in cases]
    shares = left_out(tables, wanted, sets)
    likeliest = shares.argmax(1)
    said = [
        f"{len(cases)} requests, likeliest purpose right: {np.mean(likeliest == wanted):.1%}",
        f"mean logarithm of the right one's share: {np.log(shares[range(len(cases)), wanted]).mean():.3f}",
    ]
    for place, purpose in enumerate(order):
        of_it = [one for one, other in zip(likeliest, wanted, strict=True) if other == place]
        said.append(f"  {purpose.name.lower()}: {sum(one == place for one in of_it)} of {len(of_it)}")
    sys.stdout.write("\n".join([*said, ""]))
    WEIGHTS.write_text(source_of(fitted(np.vstack(tables), wanted * len(tables))), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
