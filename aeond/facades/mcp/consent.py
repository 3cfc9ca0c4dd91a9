"""What a run asks a person, as elicitation: forms of the MCP client, filled in by its user."""

import json
from typing import Any, Final

import mcp_types as types

from aeond.facades.runs import call_lines, json_or_text
from aeond_client import AsyncClient, Run
from aeond_client.errors import WrongStateError
from aeond_client.records.judgements import ApprovalRequest, Question

DENY: Final = "deny"
KEY: Final = "person"
# Fields of a form are of these types; other answers are given as JSON text.
_FIELDS: Final = ("string", "number", "integer", "boolean")


def request_for(run: Run) -> tuple[types.ElicitRequestFormParams, str] | None:
    """The form for the first thing that this run asks, and the state with which `settle` takes the answer; None if it
    asks nothing.
    """
    if run.approvals:
        approval = run.approvals[0]
        state = {"run": run.run_id, "approval": approval.approval_id, "digest": approval.digest}
        return approval_form(approval), json.dumps(state)
    if run.questions:
        question = run.questions[0]
        return question_form(question), json.dumps({"run": run.run_id, "question": question.question_id})
    return None


def approval_form(approval: ApprovalRequest) -> types.ElicitRequestFormParams:
    """Exactly what would be done, and the scopes with which it may be approved."""
    lines = [f"aeond asks for approval: {approval.message}", *call_lines(approval)]
    lines += [f"folder: {folder}" for folder in approval.folders]
    lines += [f"host: {host}" for host in approval.hosts]
    decision = {"type": "string", "enum": [*approval.scopes, DENY], "description": "The allowed calls."}
    return _form("\n".join(lines), "decision", decision)


def question_form(question: Question) -> types.ElicitRequestFormParams:
    """The question with its options, or a field of the type that its schema asks for."""
    if question.options:
        field: dict[str, Any] = {"type": "string", "enum": list(question.options)}
    elif question.schema.get("type", "string") in _FIELDS:
        kept = ("type", "enum", "minLength", "maxLength", "minimum", "maximum", "description")
        field = {name: question.schema[name] for name in kept if name in question.schema}
        field.setdefault("type", "string")
    else:
        field = {"type": "string", "description": f"JSON: {json.dumps(question.schema)}"}
    return _form(question.prompt, "answer", field)


def _form(message: str, name: str, field: dict[str, Any]) -> types.ElicitRequestFormParams:
    schema = {"type": "object", "properties": {name: field}, "required": [name]}
    return types.ElicitRequestFormParams(message=message, requested_schema=schema)


async def settle(client: AsyncClient, state: str, result: types.ElicitResult) -> bool:
    """Sends what the person said. False if a question is left open; an approval that is not given is denied. The first
    decision counts: one that comes too late changes nothing.

    AeondError for an answer that the daemon does not take, ValueError for a state that is not ours.
    """
    asked = json.loads(state)
    content = result.content if result.action == "accept" and result.content else {}
    try:
        if "approval" in asked:
            choice = str(content.get("decision", DENY))
            approved = choice != DENY
            await client.decide_approval(
                asked["run"], asked["approval"], asked["digest"], approved, choice if approved else "once"
            )
            return True
        if "answer" not in content:
            return False
        answer = await _answer(client, asked["run"], asked["question"], content["answer"])
        await client.answer_run(asked["run"], answer, asked["question"])
    except WrongStateError:
        return True
    return True


async def _answer(client: AsyncClient, run_id: str, question_id: str, given: Any) -> Any:
    """The value of a text field whose question asks for an object or a list."""
    for question in (await client.get_run(run_id)).questions:
        asks_json = not question.options and question.schema.get("type", "string") not in _FIELDS
        if question.question_id == question_id and asks_json and isinstance(given, str):
            return json_or_text(given)
    return given
