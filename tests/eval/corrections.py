"""Fits the weights of `aeond.orchestration.decision.conversations.correction`: python -m tests.eval.corrections

Asks the default model which fact each request of the groups updating, remembering and editing of the sets in CORRECTED corrects. Prints how often that is
known where a request's set was left out, and the weights fitted on all of them.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import anyio
import numpy as np
from numpy.typing import NDArray

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose.embedding import embedding_files, opened_embedder
from aeond.daemon.config.paths import paths_of
from aeond.domain.llm import LLMRequest
from aeond.domain.values import JsonValue
from aeond.orchestration.decision.conversations.correction import (
    LIKELY_FROM,
    SURE_FROM,
    Weights,
    described,
    listed,
    mean_logs,
    view_of,
)
from aeond.orchestration.decision.conversations.odds import LIKELY
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.prompts.subject_prompts import CORRECTION
from aeond.ports import LLMAdapter
from tests.eval.case_files import Placed, read_case_file
from tests.eval.known_sets import FOLDER
from tests.eval.subjects import EngineChoice, opened_subject
from tests.support.repository import ROOT

GROUPS: Final = ("updating", "remembering", "editing")
CORRECTED: Final = {
    "a": "gate_code, rehearsal_day, car_plate, hourly_rate, sister_birthday",
    "b": "wifi_password, landlord, boots_size, club_fee, practice_phone",
    "c": "rehearsal_time, adult_ticket_price, storage_lock_code, van_plate, workshop_landlord",
    "d": "aunt_rosa_phone, meter_number, spare_key, wake_up, flour_supplier",
    "e": "workshop_rent, opening_hours, sister, dentist, hourly_rate",
    "f": "workshop_rent, pool_pass, shoe_size, dentist, cat",
    "g": "barrier_code, spare_key, favourite_tea, shoe_size, boiler_engineer",
    "h": "bin_day, storage_unit, landlord, sister_town, favourite_tea",
    "i": "coffee_order, gym_locker, -, mother_phone, -",
    "j": "workshop_alarm, bread_order, allergy, physio, -",
    "k": "forge gas, mam_tablets, anvil_kg, gran's clock, vet",
    "l": "jonas_rent, depot key safe, callum, blood, aunt bette",
    "m": "swimming_locker, dentist, choir_evening, brother_lives_in, van_registration",
}
"""The facts that the requests of the group updating correct, in their order; - where one tells something new."""
ENGINE_FOLDER: Final = ROOT / ".cache" / "corrections"
PENALTY: Final = 0.02
ROUNDS: Final = 1_500
RATE: Final = 0.02

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """What is known of a request: of each listed fact the mean logarithm of its letter's share and its score, that of "none",
    and the place of the fact that it corrects (-1: none)."""

    name: str
    group: str
    features: Numbers
    none: float
    place: int


def cases() -> Iterator[tuple[str, Placed, str]]:
    """The set, the case, and the name of the corrected fact, "" for none."""
    for letter, corrected in CORRECTED.items():
        names = iter(corrected.split(", "))
        for placed in read_case_file(FOLDER / f"strangers_{letter}.toml"):
            if placed.case.group in GROUPS:
                name = next(names) if placed.case.group == "updating" else "-"
                yield letter, placed, "" if name == "-" else name


async def asked(llm: LLMAdapter, ranking: TextRanking, letter: str, placed: Placed, name: str) -> Asked:
    facts: Sequence[tuple[str, JsonValue]] = sorted(placed.memory.items())
    ranked = await ranking.rank(placed.case.says, described(facts))
    shown = listed(facts, ranked)
    answers = []
    for order in (shown, shown[::-1]):
        messages = CORRECTION.messages(view_of(order), placed.case.says)
        request = LLMRequest(messages, max_tokens=1, likely=LIKELY, fixed=True)
        answers.append((await llm.generate(request)).likely)
    letters, none = mean_logs(answers[0], answers[1], len(shown))
    scores = dict(ranked.scores)
    names = [one for one, _ in shown]
    features = np.array([[log, scores[one]] for log, one in zip(letters, names, strict=True)])
    return Asked(letter, placed.case.group, features, none, names.index(name) if name else -1)


def shares(one: Asked, weights: Numbers) -> Numbers:
    """The probability of each fact, and then that of none."""
    odds = np.append(one.features @ weights[:2], one.none * weights[2] + weights[3])
    raised = np.exp(odds - odds.max())
    given: Numbers = raised / raised.sum()
    return given


def fitted(rows: Sequence[Asked]) -> Numbers:
    """The weights of the two features, of the logarithm for "none" and its own share, that make what is corrected most probable."""
    spread = np.append(np.vstack([one.features for one in rows]).std(0), [1.0, 1.0])
    weights, first, second = np.zeros(4), np.zeros(4), np.zeros(4)
    for round_ in range(1, ROUNDS + 1):  # Adam
        slope = PENALTY * np.append(weights[:3], 0.0)
        for one in rows:
            error = shares(one, weights / spread)
            error[one.place] -= 1.0  # the last place is that of none
            slope[:2] += error[:-1] @ (one.features / spread[:2]) / len(rows)
            slope[2:] += error[-1] * np.array([one.none, 1.0]) / len(rows)
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        weights -= RATE * first / (1 - 0.9**round_) / (np.sqrt(second / (1 - 0.999**round_)) + 1e-8)
    found: Numbers = weights / spread
    return found


def report(title: str, rows: Sequence[Asked]) -> str:
    """How often the corrected fact is known with weights fitted on other sets, and the weights fitted on all."""
    judged: list[tuple[Asked, Numbers]] = []
    for name in CORRECTED:
        weights = fitted([one for one in rows if one.name != name])
        judged += [(one, shares(one, weights)[:-1]) for one in rows if one.name == name]
    corrects = [(one, given) for one, given in judged if one.place >= 0]
    nearest = sum(int(given.argmax()) == one.place for one, given in corrects)
    lines = [f"{title}: the corrected fact is the likeliest for {nearest} of {len(corrects)}"]
    for least in (LIKELY_FROM, SURE_FROM):
        known = sum(int(given.argmax()) == one.place and given.max() >= least for one, given in corrects)
        wrong = sum(int(given.argmax()) != one.place and given.max() >= least for one, given in corrects)
        others = [
            f"{group} {sum(given.max() >= least for one, given in judged if one.group == group and one.place < 0)}"
            for group in GROUPS
        ]
        lines.append(f"  from {least}: known {known}, another fact {wrong}; of others: {', '.join(others)}")
    letter, score, none, bias = fitted(rows).tolist()
    return "\n".join(
        [*lines, f"  {Weights(round(letter, 2), round(score, 1), round(none, 2), round(bias, 2))}"]
    )


async def main() -> None:
    config = EngineChoice().config(ENGINE_FOLDER)
    paths = paths_of(config, ENGINE_FOLDER / "aeond.toml")
    ENGINE_FOLDER.mkdir(parents=True, exist_ok=True)
    async with (
        opened_subject(EngineChoice(), ENGINE_FOLDER) as subject,
        opened_embedder(config, embedding_files(config, paths), SystemClock()) as embedder,
    ):
        for title, one in (("by meaning", embedder), ("by words", NoEmbedder())):
            ranking = TextRanking(one)
            rows = [await asked(subject.llm, ranking, *case) for case in cases()]
            sys.stdout.write(f"{report(title, rows)}\n")


if __name__ == "__main__":
    anyio.run(main)
