"""The interface of agents that use the model."""

from typing import Protocol, runtime_checkable

from aeond.ports import Agent, LLMAdapter


@runtime_checkable
class ModelAgent(Protocol):
    """An agent that asks the model as often as the budget of its step allows.

    A message for it has the content `{"request": ..., "task": ..., "material": ...}`, three texts: the request of the
    run, the task of the step, and the results that the step depends on, in full up to 60,000 characters. Its metadata
    has `max_calls` and `max_tokens`, the amounts left for the step, and `run_id` and `step_id`.
    """

    @property
    def name(self) -> str: ...

    def using(self, model: LLMAdapter) -> Agent:
        """The agent for one step. Each call of `model` is taken from the budget of the step, and fails with LLMError
        (reason BUDGET_SPENT) if too little is left."""
