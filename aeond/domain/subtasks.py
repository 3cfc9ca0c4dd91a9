"""Subtasks: what a tool may return instead of data, the templates they are done by, and the child run."""

from dataclasses import field

from aeond.domain.budgets import Budget, BudgetRequest
from aeond.domain.values import JsonObject
from aeond.frozen import frozen


@frozen
class SubtaskRequest:
    """A tool's outcome: a child run is to do the work, and its answer is the tool's result.

    `hints` and the names of `inputs` choose the Template; `inputs` are what it works on.
    """

    description: str
    inputs: JsonObject = field(default_factory=dict)
    hints: tuple[str, ...] = ()


@frozen
class Template:
    """How a kind of subtask is done.

    `instructions` is the system prompt of its runs; `tools` the names they may use (empty: none);
    `inputs` the names of the inputs it wants; `budget` the most that a child run gets, on top of what
    its parent can spare.
    """

    name: str
    description: str
    hints: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    instructions: str = ""
    tools: tuple[str, ...] = ()
    budget: BudgetRequest = field(default_factory=BudgetRequest)


@frozen
class ChildRun:
    """A run that a step started, settled before it begins, so that it can be created from this alone.

    `lineage` is the child's own (see Ancestry); `instructions` and `tools` are what its Template said.
    """

    child_run_id: str
    template: str
    budget: Budget
    request: SubtaskRequest
    lineage: tuple[str, ...] = ()
    instructions: str = ""
    tools: tuple[str, ...] = ()
