"""How much of a prompt vLLM reads in one step where there is no GPU.

Like the launcher this file is a program of the engine's environment, loaded in its core, and knows nothing of aeond.

vLLM looks at its clients only between two steps, so a cancel, and everybody else, waits for the end of one. How long a
step lasts depends on the model, on the machine, and on what else that is doing; so it is measured, and each step is given
as many tokens as should keep it within its time.
"""

import time
from collections.abc import Callable
from typing import Any

# One step reads all weights whatever it computes, and with about so many tokens the computing takes as long as that: with
# fewer a step is hardly shorter, and a prompt takes ever so many of them.
LEAST_TOKENS = 16
ASIDE_TOKENS = 8  # of a step, beyond its measure, for those who wait while a prompt is read
GROWTH = 1.25  # from one step to the next, for a quick one may be chance; a slow one is believed at once


class Pace:
    """How many tokens of prompts a step may have so that it lasts about `seconds`; at most `most`."""

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._least = min(LEAST_TOKENS, most)
        self._most = most
        self.tokens = self._least

    def adapt(self, seconds: float, *, is_full: bool) -> None:
        """Goes by the step that just ended. One that had less to read than it might have proves that it lasts too long
        if it does, and nothing else."""
        fitting = int(self.tokens * self._seconds / max(seconds, 1e-6))
        if is_full or fitting < self.tokens:
            self.tokens = max(self._least, min(fitting, int(GROWTH * self.tokens), self._most))


def paced(scheduler: type[Any], clock: Callable[[], float]) -> type[Any]:
    """vLLM's scheduler, with steps that keep to the `step_seconds` of its additional configuration by that clock."""

    class PacedScheduler(scheduler):  # type: ignore[misc]  # known only in the engine's environment
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            seconds = float(self.vllm_config.additional_config["step_seconds"])
            self._most_tokens: int = self.vllm_config.scheduler_config.max_num_batched_tokens
            self._pace = Pace(seconds, self._most_tokens)
            self._began = 0.0
            self._prompts = 1
            self.adaptive_long_prefill_threshold = False  # else it is no less than a share of `_most_tokens`

        def schedule(self, *arguments: Any, **options: Any) -> Any:
            self._began = clock()
            # A request that writes gets a token in each step, whatever others read in it. Prompts share the rest, and
            # leave a part to those who wait: a request that arrives while long ones are read, even a liveness probe,
            # would otherwise wait for the end of one.
            others = len(self.running) + (ASIDE_TOKENS if self.waiting else 0)
            self.max_num_scheduled_tokens = min(self._pace.tokens + others, self._most_tokens)
            prompts = sum(one.num_computed_tokens < one.num_prompt_tokens for one in self.running)
            self._prompts = max(1, prompts)
            self.scheduler_config.long_prefill_token_threshold = 1 + max(
                0, (self.max_num_scheduled_tokens - others) // self._prompts
            )
            return super().schedule(*arguments, **options)

        def update_from_output(self, scheduled: Any, computed: Any) -> Any:
            seconds = clock() - self._began
            # Beyond one token of each, which is all of one that writes. Equal shares leave less than one for each prompt.
            read = scheduled.total_num_scheduled_tokens - len(scheduled.num_scheduled_tokens)
            if read > 0:
                self._pace.adapt(seconds, is_full=read + self._prompts > self._pace.tokens)
            return super().update_from_output(scheduled, computed)

    return PacedScheduler


def __getattr__(name: str) -> type[Any]:
    """vLLM's core loads its scheduler by name; the base class exists only in the engine's environment."""
    if name != "PacedScheduler":
        raise AttributeError(name)
    from vllm.v1.core.sched.scheduler import Scheduler

    return paced(Scheduler, time.perf_counter)  # noqa: TID251  # in vLLM's own process there is no port
