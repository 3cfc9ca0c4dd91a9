"""An engine that only reads prompts, at a speed of its own, by a clock that a test turns."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio

from aeond.capabilities.llm.llama.prefill import Slot
from aeond.domain.values import JsonObject
from aeond.errors import LLMError
from tests.support.doubles import ManualClock


class SlowEngine:
    """The behaviour of llama.cpp's server for calls that read, save and restore a prompt.

    `batches` has the slot and the number of new tokens of each read. Reads wait for `gate`. A read takes
    `call_seconds` plus the time of its tokens.
    """

    def __init__(self, folder: Path, clock: ManualClock, tokens_per_second: float) -> None:
        self._folder = folder
        self._clock = clock
        self.tokens_per_second = tokens_per_second
        self.call_seconds = 0.0
        self.slots: dict[int, Sequence[int]] = {}
        self.batches: list[tuple[int, int]] = []
        self.began = anyio.Event()
        self.gate = anyio.Event()
        self.gate.set()

    async def post(self, path: str, body: Mapping[str, Any]) -> JsonObject:
        self.began.set()
        await self.gate.wait()
        if path == "/completion":
            return self._read(body["id_slot"], body["prompt"])
        slot, _, action = path.removeprefix("/slots/").partition("?action=")
        file = self._folder / body["filename"]
        if action == "save":
            file.write_text(json.dumps(self.slots[int(slot)]))
            return {"n_saved": len(self.slots[int(slot)])}
        assert action == "restore"
        try:
            self.slots[int(slot)] = json.loads(file.read_text())
        except ValueError:
            raise LLMError("invalid slot save file", reason="ENGINE_REFUSED") from None
        return {"n_restored": len(self.slots[int(slot)])}

    def files(self) -> list[list[int]]:
        """The tokens of every prompt that is kept."""
        return [json.loads(path.read_text()) for path in self._folder.glob("*.kv")]

    def _read(self, slot: int, prompt: Sequence[int]) -> JsonObject:
        new = len(prompt) - Slot(slot, self.slots.get(slot, ())).known(prompt)
        self.slots[slot] = prompt
        self.batches.append((slot, new))
        self._clock.advance(self.call_seconds + new / self.tokens_per_second)
        return {}
