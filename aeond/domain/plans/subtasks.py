"""Subtasks: what a tool may return instead of data, the templates that execute them, and the child run."""

from dataclasses import field

from aeond.domain.runs.budgets import Amounts, Budget, BudgetRequest
from aeond.domain.values import JsonObject
from aeond.frozen import frozen


@frozen
class SubtaskRequest:
    """A tool's outcome: a child run does the work, and its answer is the tool's result.

    `hints` and the names of `inputs` select the Template; `inputs` is the data for the work.
    """

    description: str
    inputs: JsonObject = field(default_factory=dict)
    hints: tuple[str, ...] = ()


@frozen
class Template:
    """The definition of a kind of subtask.

    `instructions` is the system prompt of its runs; `tools` the tools they may use (empty: none); `inputs`
    the names of the inputs it expects; `budget` the maximum for a child run, in addition to the parent's
    limit. With an `agent` its runs consist of one step of this agent: nothing is planned or decided.
    """

    name: str
    description: str
    hints: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    instructions: str = ""
    tools: tuple[str, ...] = ()
    budget: BudgetRequest = field(default_factory=BudgetRequest)
    agent: str = ""


@frozen
class ChildRun:
    """A run started by a step. It is fully determined before it starts, so it can be created from this alone.

    `lineage` is the child's own (see Ancestry); `instructions`, `tools` and `agent` come from its Template.
    """

    child_run_id: str
    template: str
    budget: Budget
    request: SubtaskRequest
    lineage: tuple[str, ...] = ()
    instructions: str = ""
    tools: tuple[str, ...] = ()
    agent: str = ""


@frozen
class Subtask:
    """A step wants a run of its own: whether it gets one is settled in the run's loop."""

    step_id: str
    request: SubtaskRequest
    used: Amounts = field(default_factory=Amounts)
