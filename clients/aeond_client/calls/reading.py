# Generated from protos/ by `make proto`; never edited.
"""Converts wire messages to records. Values added by a newer daemon become `unspecified`."""

from collections.abc import Callable
from typing import Any

from aeond.api.v1 import (
    daemon_pb2,
    events_pb2,
    judgements_pb2,
    memory_pb2,
    models_pb2,
    parts_pb2,
    policy_pb2,
    runs_pb2,
    sessions_pb2,
    tools_pb2,
)
from aeond_client import daemon, events, judgements, memory, models, policy, runs, sessions, tools
from aeond_client.calls import values


def event(wire: events_pb2.Event) -> events.Event:
    return events.Event(wire.run_id, wire.seq, values.seconds(wire.time), wire.elapsed_seconds, _kind(wire))


def _kind(wire: events_pb2.Event) -> events.EventKind:
    name = wire.WhichOneof("kind")
    if name is None:
        return events.UnknownKind()
    read = _KINDS.get(name)
    return read(getattr(wire, name)) if read else events.UnknownKind(name)


def recorded_effect(wire: tools_pb2.RecordedEffect) -> tools.RecordedEffect:
    return tools.RecordedEffect(kind=wire.kind, target=wire.target, detail=wire.detail)


def tool_call(wire: tools_pb2.ToolCall) -> tools.ToolCall:
    return tools.ToolCall(
        tool=wire.tool, arguments=values.json_object(wire.arguments_json), call_id=wire.call_id
    )


def tool_spec(wire: tools_pb2.ToolSpec) -> tools.ToolSpec:
    return tools.ToolSpec(
        name=wire.name,
        description=wire.description,
        effect=values.word(tools_pb2.Effect, wire.effect),
        input_schema=values.json_object(wire.input_schema_json),
        output_schema=values.json_object(wire.output_schema_json),
        idempotent=wire.idempotent,
        example=values.json_object(wire.example_json) if wire.example_json else None,
        timeout_seconds=wire.timeout_seconds,
        max_output_bytes=wire.max_output_bytes,
        recovery=values.chosen(tools_pb2.Recovery, wire.recovery),
        source=wire.source,
        offered=wire.offered,
        digest=wire.digest,
        unavailable=wire.unavailable,
    )


def tool_result(wire: tools_pb2.ToolResult) -> tools.ToolResult:
    return tools.ToolResult(
        success=wire.success,
        data=values.value(wire.data_json),
        error=wire.error,
        reason=wire.reason,
        metadata=values.json_object(wire.metadata_json),
        effects=tuple(map(recorded_effect, wire.effects)),
        taint=tuple(wire.taint),
    )


def task_profile(wire: judgements_pb2.TaskProfile) -> judgements.TaskProfile:
    return judgements.TaskProfile(
        reasoning_depth=wire.reasoning_depth,
        information_sufficiency=wire.information_sufficiency,
        expected_tool_usage=values.chosen(judgements_pb2.ToolUsage, wire.expected_tool_usage),
        output_breadth=values.chosen(judgements_pb2.Breadth, wire.output_breadth),
        confidence_requirement=values.chosen(judgements_pb2.ConfidenceLevel, wire.confidence_requirement),
        raw_inference=wire.raw_inference,
    )


def issue(wire: judgements_pb2.Issue) -> judgements.Issue:
    return judgements.Issue(
        reason=wire.reason,
        severity=values.chosen(judgements_pb2.Severity, wire.severity),
        step_id=wire.step_id,
        message=wire.message,
        proposal=wire.proposal,
    )


def call_preview(wire: parts_pb2.CallPreview) -> judgements.CallPreview:
    return judgements.CallPreview(
        diff=wire.diff,
        source=wire.source,
        target=wire.target,
        command=tuple(wire.command),
        host=wire.host,
        problem=wire.problem,
    )


def approval_request(wire: parts_pb2.ApprovalRequest) -> judgements.ApprovalRequest:
    return judgements.ApprovalRequest(
        approval_id=wire.approval_id,
        step_ids=tuple(wire.step_ids),
        calls=tuple(map(tool_call, wire.calls)),
        digest=wire.digest,
        message=wire.message,
        expire_time=values.seconds(wire.expire_time),
        previews=tuple(map(call_preview, wire.previews)),
        scopes=tuple(values.chosen(parts_pb2.ApprovalScope, scope) for scope in wire.scopes),
        folders=tuple(wire.folders),
        hosts=tuple(wire.hosts),
        requested_time=values.seconds(wire.requested_time),
        expire_seconds=wire.expire_seconds,
        unattended=wire.unattended,
        digests=tuple(wire.digests),
        kinds=tuple(wire.kinds),
    )


def question(wire: parts_pb2.Question) -> judgements.Question:
    return judgements.Question(
        question_id=wire.question_id,
        step_id=wire.step_id,
        prompt=wire.prompt,
        schema=values.json_object(wire.schema_json),
        options=tuple(wire.options),
        default=values.value(wire.default_json),
        has_default=bool(wire.default_json),
        deadline_time=values.seconds(wire.deadline_time),
        continues=wire.continues,
    )


def amounts(wire: parts_pb2.Amounts) -> runs.Amounts:
    return runs.Amounts(
        ttl=wire.ttl,
        llm_calls=wire.llm_calls,
        tokens=wire.tokens,
        tool_calls=wire.tool_calls,
        passes=wire.passes,
    )


def budget(wire: parts_pb2.Budget) -> runs.Budget:
    return runs.Budget(
        ttl=wire.ttl if wire.HasField("ttl") else None,
        llm_calls=wire.llm_calls if wire.HasField("llm_calls") else None,
        tokens=wire.tokens if wire.HasField("tokens") else None,
        tool_calls=wire.tool_calls if wire.HasField("tool_calls") else None,
        passes=wire.passes if wire.HasField("passes") else None,
        wall_seconds=wire.wall_seconds if wire.HasField("wall_seconds") else None,
        depth=wire.depth if wire.HasField("depth") else None,
    )


def problem(wire: parts_pb2.Problem) -> runs.Problem:
    return runs.Problem(reason=wire.reason, message=wire.message, path=wire.path, retryable=wire.retryable)


def plan_step(wire: parts_pb2.PlanStep) -> runs.PlanStep:
    return runs.PlanStep(
        step_id=wire.step_id,
        description=wire.description,
        tool=wire.tool_call.tool,
        arguments=values.json_object(wire.tool_call.arguments_json),
        agent=wire.agent,
        depends_on=tuple(wire.depends_on),
        provides=tuple(wire.provides),
        handoff_to_next=wire.handoff_to_next,
        errors=tuple(wire.errors),
    )


def plan(wire: parts_pb2.Plan) -> runs.Plan:
    return runs.Plan(goal=wire.goal, steps=tuple(map(plan_step, wire.steps)))


def answer(wire: parts_pb2.Answer) -> runs.Answer:
    return runs.Answer(
        text=wire.text,
        step_ids=tuple(wire.step_ids),
        confidence=wire.confidence,
        notes=tuple(wire.notes),
        budget_exhausted=wire.budget_exhausted,
        synthesized=wire.synthesized,
        effects=tuple(map(recorded_effect, wire.effects)),
    )


def model_use(wire: parts_pb2.ModelUse) -> runs.ModelUse:
    return runs.ModelUse(
        prompt_tokens=wire.prompt_tokens,
        completion_tokens=wire.completion_tokens,
        cached_tokens=wire.cached_tokens,
        first_token_seconds=wire.first_token_seconds,
        engine_seconds=wire.engine_seconds,
    )


def step(wire: runs_pb2.Step) -> runs.Step:
    return runs.Step(
        plan_step=plan_step(wire.step),
        state=runs.StepState(values.word(parts_pb2.StepState, wire.state)),
        attempt=wire.attempt,
        mode=values.chosen(parts_pb2.StepMode, wire.mode),
        recovery=values.chosen(tools_pb2.Recovery, wire.recovery),
        output=values.value(wire.output_json),
        output_bytes=wire.output_bytes,
        error=wire.error,
        reason=wire.reason,
        clarity=values.chosen(parts_pb2.Clarity, wire.clarity),
        duration_seconds=wire.duration_seconds,
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def run(wire: runs_pb2.Run) -> runs.Run:
    return runs.Run(
        run_id=wire.run_id,
        state=runs.RunState(values.word(parts_pb2.RunState, wire.state)),
        text=wire.request.text,
        phase=values.chosen(parts_pb2.Phase, wire.phase),
        request_id=wire.request.request_id,
        session_id=wire.request.session_id,
        workspace=wire.request.workspace,
        labels=dict(wire.request.labels),
        model=wire.request.model,
        unattended=wire.request.unattended,
        uid=wire.owner.uid,
        limit=budget(wire.budget),
        used=amounts(wire.used),
        reserved=amounts(wire.reserved),
        goal=wire.goal,
        plan_source=values.chosen(parts_pb2.PlanSource, wire.plan_source),
        steps=tuple(map(step, wire.steps)),
        pass_index=wire.pass_index,
        answer=answer(wire.answer) if wire.HasField("answer") else None,
        problem=problem(wire.problem) if wire.HasField("problem") else None,
        cancel_requested=wire.cancel_requested,
        exhausted=wire.exhausted,
        suspend_reason=values.chosen(parts_pb2.SuspendReason, wire.suspend_reason),
        created_time=values.seconds(wire.created_time),
        changed_time=values.seconds(wire.changed_time),
        elapsed_seconds=wire.elapsed_seconds,
        last_seq=wire.last_seq,
        crashes=wire.crashes,
        questions=tuple(map(question, wire.questions)),
        approvals=tuple(map(approval_request, wire.approvals)),
        parent_run_id=wire.parent_run_id,
        depth=wire.depth,
        profile=task_profile(wire.profile) if wire.HasField("profile") else None,
        route=values.chosen(judgements_pb2.Route, wire.route),
        parked=wire.parked,
        effects=tuple(map(recorded_effect, wire.effects)),
        taint=tuple(wire.taint),
    )


def run_summary(wire: runs_pb2.RunSummary) -> runs.RunSummary:
    return runs.RunSummary(
        run_id=wire.run_id,
        state=runs.RunState(values.word(parts_pb2.RunState, wire.state)),
        text=wire.text,
        created_time=values.seconds(wire.created_time),
        changed_time=values.seconds(wire.changed_time),
        last_seq=wire.last_seq,
        uid=wire.uid,
        parent_run_id=wire.parent_run_id,
    )


def undone_change(wire: runs_pb2.UndoneChange) -> runs.UndoneChange:
    return runs.UndoneChange(target=wire.target, outcome=wire.outcome)


def refused_undo(wire: runs_pb2.RefusedUndo) -> runs.RefusedUndo:
    return runs.RefusedUndo(target=wire.target, reason=wire.reason, message=wire.message)


def undo_report(wire: runs_pb2.UndoRunResponse) -> runs.UndoReport:
    return runs.UndoReport(
        undone=tuple(map(undone_change, wire.undone)), refused=tuple(map(refused_undo, wire.refused))
    )


def session(wire: sessions_pb2.Session) -> sessions.Session:
    return sessions.Session(
        session_id=wire.session_id,
        title=wire.title,
        created_time=values.seconds(wire.created_time),
        changed_time=values.seconds(wire.changed_time),
        message_count=wire.message_count,
        run_count=wire.run_count,
        labels=dict(wire.labels),
        uid=wire.uid,
    )


def session_message(wire: sessions_pb2.Message) -> sessions.SessionMessage:
    return sessions.SessionMessage(
        role=values.word(sessions_pb2.Role, wire.role),
        text=values.text(wire.content_json),
        run_id=wire.run_id,
        time=values.seconds(wire.time),
    )


def session_context(wire: sessions_pb2.PreviewContextResponse) -> sessions.SessionContext:
    return sessions.SessionContext(
        text=wire.text,
        tokens=wire.tokens,
        max_tokens=wire.max_tokens,
        kept=tuple(wire.kept),
        digested_count=wire.digested_count,
        whole_count=wire.whole_count,
        taint=tuple(wire.taint),
    )


def model_info(wire: models_pb2.Model) -> models.ModelInfo:
    return models.ModelInfo(
        name=wire.name,
        description=wire.description,
        licence=wire.licence,
        size_bytes=wire.size_bytes,
        context_length=wire.context_length,
        digest=wire.digest,
        present=wire.present,
        loaded=wire.loaded,
        default=wire.default,
        metadata=values.json_object(wire.metadata_json),
        base_model=wire.base_model,
    )


def engine_metrics(wire: models_pb2.EngineMetrics) -> models.EngineMetrics:
    return models.EngineMetrics(
        running_requests=wire.running_requests,
        waiting_requests=wire.waiting_requests,
        prompt_tokens=wire.prompt_tokens,
        cached_tokens=wire.cached_tokens,
        completion_tokens=wire.completion_tokens,
        tokens_per_second=wire.tokens_per_second,
        first_token_seconds=wire.first_token_seconds,
        cache_fraction=wire.cache_fraction,
        read_tokens=wire.read_tokens,
    )


def engine(wire: models_pb2.Engine) -> models.Engine:
    return models.Engine(
        state=values.word(models_pb2.EngineState, wire.state),
        model=wire.model,
        activity=wire.activity,
        progress=wire.progress,
        error=wire.error,
        restarts=wire.restarts,
        metrics=engine_metrics(wire.metrics) if wire.HasField("metrics") else None,
    )


def text_piece(wire: models_pb2.GenerateResponse) -> models.TextPiece:
    return models.TextPiece(
        text=wire.text,
        finish_reason=values.chosen(models_pb2.FinishReason, wire.finish_reason),
        prompt_tokens=wire.usage.prompt_tokens,
        completion_tokens=wire.usage.completion_tokens,
        cached_tokens=wire.usage.cached_tokens,
    )


def embedding(wire: models_pb2.Embedding) -> models.Embedding:
    return models.Embedding(values=tuple(wire.values))


def embeddings(wire: models_pb2.EmbedResponse) -> models.Embeddings:
    return models.Embeddings(model=wire.model, embeddings=tuple(map(embedding, wire.embeddings)))


def config_changes(wire: daemon_pb2.ReloadResponse) -> daemon.ConfigChanges:
    return daemon.ConfigChanges(changed_keys=tuple(wire.changed_keys), restart_keys=tuple(wire.restart_keys))


def daemon_status(wire: daemon_pb2.GetStatusResponse) -> daemon.DaemonStatus:
    return daemon.DaemonStatus(
        version=wire.version,
        state=values.word(daemon_pb2.DaemonState, wire.state),
        pid=wire.pid,
        started_time=values.seconds(wire.started_time),
        uptime_seconds=wire.uptime_seconds,
        engine=engine(wire.engine),
        running_runs=wire.load.running_runs,
        waiting_runs=wire.load.waiting_runs,
        attention_runs=wire.load.attention_runs,
        max_running_runs=wire.load.max_running_runs,
        max_waiting_runs=wire.load.max_waiting_runs,
        connections=wire.load.connections,
        streams=wire.load.streams,
        tool_count=wire.tool_count,
        resident_bytes=wire.resident_bytes,
        messages=tuple(wire.messages),
    )


def memory_entry(wire: memory_pb2.MemoryEntry) -> memory.MemoryEntry:
    return memory.MemoryEntry(
        key=wire.key, value=values.value(wire.value_json), run_id=wire.run_id, taint=tuple(wire.taint)
    )


def policy_decision(wire: policy_pb2.PolicyDecision) -> policy.PolicyDecision:
    return policy.PolicyDecision(
        verdict=values.chosen(judgements_pb2.PolicyVerdict, wire.verdict),
        rule=wire.rule,
        reason=wire.reason,
        version=wire.version,
    )


def policy_rule(wire: policy_pb2.PolicyRule) -> policy.PolicyRule:
    return policy.PolicyRule(
        name=wire.name,
        verdict=values.chosen(judgements_pb2.PolicyVerdict, wire.verdict),
        conditions=values.json_object(wire.conditions_json),
        reason=wire.reason,
    )


def policy_in_force(wire: policy_pb2.GetPolicyResponse) -> policy.PolicyInForce:
    return policy.PolicyInForce(
        version=wire.version, profile=wire.profile, file=wire.file, rules=tuple(map(policy_rule, wire.rules))
    )


def hypothetical_decision(wire: policy_pb2.TestPolicyResponse) -> policy.HypotheticalDecision:
    return policy.HypotheticalDecision(
        decision=policy_decision(wire.decision),
        effect=values.word(tools_pb2.Effect, wire.effect),
        facts=values.json_object(wire.facts_json),
    )


def replayed_decision(wire: policy_pb2.ReplayedDecision) -> policy.ReplayedDecision:
    return policy.ReplayedDecision(
        step_id=wire.step_id,
        tool=wire.call.tool,
        arguments=values.json_object(wire.call.arguments_json),
        recorded=policy_decision(wire.recorded) if wire.HasField("recorded") else None,
        decided=policy_decision(wire.decided) if wire.HasField("decided") else None,
        facts_recorded=wire.facts_recorded,
    )


def policy_replay(wire: policy_pb2.ReplayPolicyResponse) -> policy.PolicyReplay:
    return policy.PolicyReplay(decisions=tuple(map(replayed_decision, wire.decisions)), version=wire.version)


def refinement(wire: judgements_pb2.RefinementAction) -> events.Refinement:
    return events.Refinement(
        operation=values.chosen(judgements_pb2.RefinementOperation, wire.operation),
        step_id=wire.step_id,
        step=plan_step(wire.step) if wire.HasField("step") else None,
        rationale=wire.rationale,
    )


def run_created(wire: events_pb2.RunCreated) -> events.RunCreated:
    return events.RunCreated(
        text=wire.request.text,
        request_id=wire.request.request_id,
        session_id=wire.request.session_id,
        workspace=wire.request.workspace,
        labels=dict(wire.request.labels),
        model=wire.request.model,
        unattended=wire.request.unattended,
        uid=wire.owner.uid,
        limit=budget(wire.budget),
        plan=plan(wire.plan) if wire.HasField("plan") else None,
        logic_version=wire.logic_version,
        parent_run_id=wire.parent_run_id,
        depth=wire.depth,
        forked_run_id=wire.forked_run_id,
        parent_step_id=wire.parent_step_id,
        lineage=tuple(wire.lineage),
        instructions=wire.instructions,
        tools=tuple(wire.tools),
        taint=tuple(wire.taint),
        asking_tools=tuple(wire.asking_tools),
    )


def plan_adopted(wire: events_pb2.PlanAdopted) -> events.PlanAdopted:
    return events.PlanAdopted(
        plan=plan(wire.plan),
        source=values.chosen(parts_pb2.PlanSource, wire.source),
        used=amounts(wire.used),
        repairs=tuple(wire.repairs),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def planning_failed(wire: events_pb2.PlanningFailed) -> events.PlanningFailed:
    return events.PlanningFailed(
        problem=problem(wire.problem),
        used=amounts(wire.used),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def pass_started(wire: events_pb2.PassStarted) -> events.PassStarted:
    return events.PassStarted(pass_index=wire.pass_index)


def step_started(wire: events_pb2.StepStarted) -> events.StepStarted:
    return events.StepStarted(
        step=plan_step(wire.step),
        attempt=wire.attempt,
        mode=values.chosen(parts_pb2.StepMode, wire.mode),
        recovery=values.chosen(tools_pb2.Recovery, wire.recovery),
        reservation=amounts(wire.reservation),
    )


def policy_decided(wire: judgements_pb2.PolicyDecided) -> events.PolicyDecided:
    return events.PolicyDecided(
        step_id=wire.step_id,
        verdict=values.chosen(judgements_pb2.PolicyVerdict, wire.verdict),
        tool=wire.call.tool,
        effect=values.word(tools_pb2.Effect, wire.effect),
        rule=wire.rule,
        policy_version=wire.policy_version,
        tainted=wire.tainted,
        facts=values.json_object(wire.facts_json),
        reason=wire.reason,
        adds=tuple(wire.adds),
    )


def step_repaired(wire: events_pb2.StepRepaired) -> events.StepRepaired:
    return events.StepRepaired(
        step=plan_step(wire.step), problem=problem(wire.problem), used=amounts(wire.used)
    )


def step_ended(wire: events_pb2.StepEnded) -> events.StepEnded:
    return events.StepEnded(
        step_id=wire.step_id,
        state=runs.StepState(values.word(parts_pb2.StepState, wire.state)),
        mode=values.chosen(parts_pb2.StepMode, wire.mode),
        output=values.value(wire.output_json),
        error=wire.error,
        reason=wire.reason,
        clarity=values.chosen(parts_pb2.Clarity, wire.clarity),
        handoff=wire.handoff,
        used=amounts(wire.used),
        duration_seconds=wire.duration_seconds,
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
        effects=tuple(map(recorded_effect, wire.effects)),
        candidates=tuple(wire.candidates),
        taint=tuple(wire.taint),
        rule=wire.rule,
        policy_version=wire.policy_version,
    )


def pass_ended(wire: events_pb2.PassEnded) -> events.PassEnded:
    return events.PassEnded(pass_index=wire.pass_index)


def answer_composed(wire: events_pb2.AnswerComposed) -> events.AnswerComposed:
    return events.AnswerComposed(
        answer=answer(wire.answer),
        used=amounts(wire.used),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def budget_exhausted(wire: events_pb2.BudgetExhausted) -> events.BudgetExhausted:
    return events.BudgetExhausted(dimension=wire.dimension)


def cancel_requested(wire: events_pb2.CancelRequested) -> events.CancelRequested:
    return events.CancelRequested(reason=wire.reason, uid=wire.owner.uid)


def run_suspended(wire: events_pb2.RunSuspended) -> events.RunSuspended:
    return events.RunSuspended(
        reason=values.chosen(parts_pb2.SuspendReason, wire.reason), message=wire.message
    )


def step_resolved(wire: events_pb2.StepResolved) -> events.StepResolved:
    return events.StepResolved(
        resolution=values.word(parts_pb2.Resolution, wire.resolution),
        step_id=wire.step_id,
        uid=wire.owner.uid,
    )


def run_ended(wire: events_pb2.RunEnded) -> events.RunEnded:
    return events.RunEnded(
        state=runs.RunState(values.word(parts_pb2.RunState, wire.state)),
        problem=problem(wire.problem) if wire.HasField("problem") else None,
    )


def operation_started(wire: judgements_pb2.OperationStarted) -> events.OperationStarted:
    return events.OperationStarted(
        operation=values.chosen(judgements_pb2.Operation, wire.operation),
        reservation=amounts(wire.reservation),
    )


def references_resolved(wire: judgements_pb2.ReferencesResolved) -> events.ReferencesResolved:
    return events.ReferencesResolved(
        original=wire.original,
        resolved=wire.resolved,
        context=wire.context,
        note=wire.note,
        standing=tuple(wire.standing),
        used=amounts(wire.used),
        taint=tuple(wire.taint),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def route_chosen(wire: judgements_pb2.RouteChosen) -> events.RouteChosen:
    return events.RouteChosen(
        route=values.chosen(judgements_pb2.Route, wire.route),
        tool=wire.tool_call.tool,
        used=amounts(wire.used),
        shown=tuple(wire.shown),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def profile_inferred(wire: judgements_pb2.ProfileInferred) -> events.ProfileInferred:
    return events.ProfileInferred(
        profile=task_profile(wire.profile),
        fallback=wire.fallback,
        used=amounts(wire.used),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def budget_adjusted(wire: judgements_pb2.BudgetAdjusted) -> events.BudgetAdjusted:
    return events.BudgetAdjusted(
        limit=budget(wire.budget),
        reasons=tuple(wire.reasons),
        profile=task_profile(wire.profile) if wire.HasField("profile") else None,
    )


def pass_evaluated(wire: judgements_pb2.PassEvaluated) -> events.PassEvaluated:
    return events.PassEvaluated(
        pass_index=wire.pass_index,
        converged=wire.converged,
        reasons=tuple(wire.reasons),
        issues=tuple(map(issue, wire.issues)),
        completeness=wire.completeness if wire.scored else None,
        coherence=wire.coherence if wire.scored else None,
        consistency=wire.consistency if wire.scored else None,
        final_output=wire.final_output,
        used=amounts(wire.used),
        scored=wire.scored,
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def plan_refined(wire: judgements_pb2.PlanRefined) -> events.PlanRefined:
    return events.PlanRefined(
        plan=plan(wire.plan),
        applied=tuple(map(refinement, wire.applied)),
        skipped=tuple(map(problem, wire.skipped)),
        used=amounts(wire.used),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def input_requested(wire: judgements_pb2.InputRequested) -> events.InputRequested:
    return events.InputRequested(question=question(wire.question), used=amounts(wire.used))


def input_answered(wire: judgements_pb2.InputAnswered) -> events.InputAnswered:
    return events.InputAnswered(
        question_id=wire.question_id, answer=values.value(wire.answer_json), uid=wire.owner.uid
    )


def approval_requested(wire: judgements_pb2.ApprovalRequested) -> events.ApprovalRequested:
    return events.ApprovalRequested(
        approval=approval_request(wire.approval), step_id=wire.step_id, used=amounts(wire.used)
    )


def approval_decided(wire: judgements_pb2.ApprovalDecided) -> events.ApprovalDecided:
    return events.ApprovalDecided(
        approval_id=wire.approval_id,
        approved=wire.approved,
        uid=wire.owner.uid if wire.HasField("owner") else -1,
        digest=wire.digest,
        scope=values.chosen(parts_pb2.ApprovalScope, wire.scope),
        expired=wire.expired,
    )


def child_run_started(wire: judgements_pb2.ChildRunStarted) -> events.ChildRunStarted:
    return events.ChildRunStarted(
        step_id=wire.step_id,
        child_run_id=wire.child_run_id,
        template=wire.template,
        description=wire.description,
        limit=budget(wire.budget),
        inputs=values.json_object(wire.inputs_json),
        hints=tuple(wire.hints),
        lineage=tuple(wire.lineage),
        instructions=wire.instructions,
        tools=tuple(wire.tools),
        used=amounts(wire.used),
        agent=wire.agent,
    )


def child_run_ended(wire: judgements_pb2.ChildRunEnded) -> events.ChildRunEnded:
    return events.ChildRunEnded(
        step_id=wire.step_id,
        child_run_id=wire.child_run_id,
        state=runs.RunState(values.word(parts_pb2.RunState, wire.state)),
        used=amounts(wire.used),
    )


def text_delta(wire: events_pb2.TextDelta) -> events.TextDelta:
    return events.TextDelta(text=wire.text, offset=wire.offset, step_id=wire.step_id)


def progress(wire: events_pb2.Progress) -> events.Progress:
    return events.Progress(activity=wire.activity, fraction=wire.fraction, step_id=wire.step_id)


def run_started(_wire: events_pb2.RunStarted) -> events.RunStarted:
    return events.RunStarted()


def planning_started(wire: events_pb2.PlanningStarted) -> events.PlanningStarted:
    return events.PlanningStarted(reservation=amounts(wire.reservation))


def answer_started(wire: events_pb2.AnswerStarted) -> events.AnswerStarted:
    return events.AnswerStarted(reservation=amounts(wire.reservation))


def run_parked(_wire: events_pb2.RunParked) -> events.RunParked:
    return events.RunParked()


def run_resumed(_wire: events_pb2.RunResumed) -> events.RunResumed:
    return events.RunResumed()


def queued(wire: events_pb2.Queued) -> events.Queued:
    return events.Queued(ahead=wire.ahead)


_KINDS: dict[str, Callable[[Any], events.EventKind]] = {
    "run_created": run_created,
    "run_started": run_started,
    "planning_started": planning_started,
    "plan_adopted": plan_adopted,
    "planning_failed": planning_failed,
    "pass_started": pass_started,
    "step_started": step_started,
    "step_repaired": step_repaired,
    "step_ended": step_ended,
    "pass_ended": pass_ended,
    "answer_started": answer_started,
    "answer_composed": answer_composed,
    "budget_exhausted": budget_exhausted,
    "cancel_requested": cancel_requested,
    "run_parked": run_parked,
    "run_resumed": run_resumed,
    "run_suspended": run_suspended,
    "step_resolved": step_resolved,
    "run_ended": run_ended,
    "profile_inferred": profile_inferred,
    "route_chosen": route_chosen,
    "references_resolved": references_resolved,
    "pass_evaluated": pass_evaluated,
    "plan_refined": plan_refined,
    "budget_adjusted": budget_adjusted,
    "input_requested": input_requested,
    "input_answered": input_answered,
    "child_run_started": child_run_started,
    "child_run_ended": child_run_ended,
    "policy_decided": policy_decided,
    "approval_requested": approval_requested,
    "approval_decided": approval_decided,
    "operation_started": operation_started,
    "text_delta": text_delta,
    "progress": progress,
    "queued": queued,
}
