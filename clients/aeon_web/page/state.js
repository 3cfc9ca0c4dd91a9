// What a run is, folded from its events. Nothing here touches the page, so that any past state can be computed too.

const OVER = new Set(["succeeded", "failed", "invalid", "skipped"]);
export const ENDED = new Set(["succeeded", "failed", "cancelled", "expired"]);

const OPERATIONS = {
  resolve: "reading the conversation",
  route: "choosing an approach",
  profile: "estimating the work",
  evaluate: "checking the results",
  refine: "improving the plan",
};

const newRun = (runId) => ({
  runId, seq: 0, state: "pending", text: "", sessionId: "", forkedFrom: "", activity: "starting", fraction: -1, steps: new Map(),
  questions: [], approvals: [], answer: null, answerText: "", problem: null, exhausted: "", suspended: "", suspendedSeq: 0, created: 0,
  changed: 0, ended: 0, toolCalls: 0, taint: [], children: new Map(),
});

const newStep = (step) => ({
  ...step, state: "pending", activity: "", text: "", output: null, error: "", effects: [], seconds: 0, started: 0, child: "",
});

// A run with the runs below it. `events` are its numbered events in order, each once.
export class RunView {
  constructor(runId) {
    this.runId = runId;
    this.runs = new Map([[runId, newRun(runId)]]);
    this.events = [];
  }

  static after(runId, events) {
    const view = new RunView(runId);
    for (const event of events) view.apply(event);
    return view;
  }

  get run() {
    return this.runs.get(this.runId);
  }

  // Applies an event; returns false for one that was applied before.
  apply(event) {
    const run = this.runs.get(event.run_id) ?? newRun(event.run_id);
    if (event.seq) {
      if (event.seq <= run.seq) return false;
      run.seq = event.seq;
      run.changed = event.time;
      this.events.push(event);
    }
    this.runs.set(event.run_id, run);
    run.taint = [...new Set([...run.taint, ...(event.data.taint ?? []), ...(event.data.adds ?? [])])];
    FOLDS[event.kind]?.(run, event.data, event.time || Date.now() / 1000);
    return true;
  }

  get ended() {
    return ENDED.has(this.run.state);
  }

  // Open questions and approvals of the run and of those below it, the oldest first: a later one does not take the place
  // of the one that the user is busy with. Ids are unique within a run only, `key` is unique.
  get asking() {
    const all = [...this.runs.values()].flatMap((run) => [
      ...run.questions.map((one) => ({ ...one, kind: "question", runId: run.runId, key: `question-${run.runId}/${one.question_id}` })),
      ...run.approvals.map((one) => ({ ...one, kind: "approval", runId: run.runId, key: `approval-${run.runId}/${one.approval_id}/${one.digest}` })),
    ]);
    return all.sort((a, b) => a.asked - b.asked);
  }

  // The run about which a person must decide after an interruption, and the step, if it is one. A suspended run with an
  // activity continues by itself, or is cancelled.
  get decision() {
    const run = [...this.runs.values()].find((one) => one.state === "suspended" && !one.activity);
    if (!run || run.approvals.length) return null;
    const step = [...run.steps.values()].find((one) => one.state === "unknown") ?? null;
    return { kind: "decision", runId: run.runId, reason: run.suspended, step, key: `decision-${run.runId}/${run.suspendedSeq}/${step?.step_id ?? ""}` };
  }

  // What the card is about; null if the run waits for nothing.
  get card() {
    return this.ended ? null : this.asking[0] ?? this.decision;
  }

  // The steps that wait for a person, by id.
  get waiting() {
    const below = new Set(this.asking.map((one) => one.runId));
    const held = this.run.approvals.flatMap((one) => one.step_ids);
    const parents = [...this.run.steps.values()].filter((step) => below.has(step.child)).map((step) => step.step_id);
    return new Set([...held, ...this.run.questions.map((one) => one.step_id), ...parents]);
  }

  get stage() {
    const run = this.run;
    if (run.state === "failed" || run.state === "cancelled") return run.state;
    if (ENDED.has(run.state)) return "done";
    if (this.card) return this.card.kind;
    return run.steps.size ? "running" : "planning";
  }

  get over() {
    return [...this.run.steps.values()].filter((step) => OVER.has(step.state)).length;
  }

  // The changes that tools recorded, each with its step. Those of a run below are part of the step that started it, once
  // that has ended by itself; they are there, and can be undone, also if it was cut short.
  get changes() {
    const effectsOf = (step) => {
      const below = this.runs.get(step.child);
      return step.effects.length || !below ? step.effects : [...below.steps.values()].flatMap(effectsOf);
    };
    const counted = [...this.run.steps.values()].flatMap((step) => effectsOf(step).map((effect) => ({ step: step.step_id, ...effect })));
    return counted.length ? counted : (this.run.answer?.effects ?? []).map((effect) => ({ step: "", ...effect }));
  }
}

function plan(run, steps) {
  const known = run.steps;
  run.steps = new Map(steps.map((step) => [step.step_id, known.has(step.step_id) ? { ...known.get(step.step_id), ...step } : newStep(step)]));
}

function change(run, stepId, values) {
  run.steps.set(stepId, { ...(run.steps.get(stepId) ?? newStep({ step_id: stepId, description: "", tool: "", agent: "", depends_on: [], arguments: {} })), ...values });
}

const doing = (run, activity) => Object.assign(run, { activity, fraction: -1 });
const resumed = (run) => {
  run.state = run.questions.length || run.approvals.length ? "awaiting_input" : "running";
};

// Nothing new starts and nothing is asked: steps in these states, or with a question, are skipped.
const WAITING = ["pending", "ready"];
function skip(run, states) {
  const asking = new Set(run.questions.map((one) => one.step_id));
  for (const step of run.steps.values()) {
    if (states.includes(step.state) || asking.has(step.step_id)) change(run, step.step_id, { state: "skipped", activity: "", text: "", error: "" });
  }
  return Object.assign(run, { questions: [], approvals: [] });
}

// After a restart of the daemon: running steps start again, or wait for a person if they may have acted. A step with a child
// or a question only waits.
function cut(run) {
  const asking = new Set(run.questions.map((one) => one.step_id));
  for (const step of run.steps.values()) {
    const acted = step.recovery === "ask" && !step.child;
    if (step.state === "running" && !asking.has(step.step_id)) change(run, step.step_id, { state: acted ? "unknown" : "ready", activity: "", text: "" });
  }
  return Object.assign(run, { suspended: "" });
}

const RESOLVED = { retry: "ready", done: "succeeded", abort: "failed" };

const without = (list, field, value) => list.filter((one) => one[field] !== value);

const FOLDS = {
  run_created(run, data, time) {
    Object.assign(run, { text: data.text, sessionId: data.session_id, forkedFrom: data.forked_run_id, created: time });
    if (data.plan) plan(run, data.plan.steps);
  },
  queued: (run, data) => doing(run, data.ahead ? `waiting for ${data.ahead} other run${data.ahead === 1 ? "" : "s"}` : "next in the queue"),
  run_started: (run) => Object.assign(doing(run, ""), { state: "running" }),
  planning_started: (run) => doing(run, "working out a plan"),
  plan_adopted: (run, data) => plan(doing(run, ""), data.plan.steps),
  planning_failed: (run) => doing(run, "no plan: answering directly"),
  plan_refined: (run, data) => data.applied.length && plan(doing(run, ""), data.plan.steps),
  operation_started: (run, data) => doing(run, OPERATIONS[data.operation] ?? data.operation),
  references_resolved: (run) => doing(run, ""),
  route_chosen: (run) => doing(run, ""),
  profile_inferred: (run) => doing(run, ""),
  pass_evaluated: (run) => doing(run, ""),
  step_started(run, data, time) {
    doing(run, "");
    change(run, data.step.step_id, { ...data.step, state: "running", recovery: data.recovery, started: time, activity: "", text: "", error: "", output: null });
  },
  step_repaired: (run, data) => change(run, data.step.step_id, data.step),
  step_ended(run, data) {
    run.toolCalls += data.used?.tool_calls ?? 0;
    run.questions = without(run.questions, "step_id", data.step_id);
    change(run, data.step_id, {
      state: data.state, output: data.output, error: data.error, effects: data.effects, seconds: data.duration_seconds, activity: "", text: "",
    });
    if (run.state === "awaiting_input") resumed(run);
  },
  input_requested(run, data, time) {
    run.questions = [...without(run.questions, "question_id", data.question.question_id), { ...data.question, asked: time }];
    doing(run, "waiting for an answer").state = "awaiting_input";
    change(run, data.question.step_id, { activity: "waiting for you" });
  },
  input_answered(run, data) {
    const asked = run.questions.find((one) => one.question_id === data.question_id);
    run.questions = without(run.questions, "question_id", data.question_id);
    if (asked) change(run, asked.step_id, { state: "succeeded", output: data.answer, activity: "" });
    resumed(doing(run, ""));
  },
  approval_requested(run, data, time) {
    run.approvals = [...without(run.approvals, "approval_id", data.approval.approval_id), { ...data.approval, asked: time }];
    doing(run, "waiting for approval").state = "awaiting_input";
    if (data.step_id) change(run, data.step_id, { state: "ready", activity: "needs approval" });
  },
  approval_decided(run, data) {
    const decided = run.approvals.find((one) => one.approval_id === data.approval_id);
    run.approvals = without(run.approvals, "approval_id", data.approval_id);
    for (const stepId of decided?.step_ids ?? []) {
      const error = data.approved ? "" : data.expired ? "not approved in time" : "denied";
      if (run.steps.get(stepId)?.activity === "needs approval") change(run, stepId, { state: data.approved ? "ready" : "failed", error, activity: "" });
    }
    resumed(doing(run, ""));
  },
  child_run_started: (run, data) => change(run, data.step_id, { child: data.child_run_id }),
  answer_started: (run) => Object.assign(doing(run, "writing the answer"), { answerText: "" }),
  answer_composed: (run, data) => Object.assign(doing(run, ""), { answer: data.answer }),
  budget_exhausted: (run, data) => Object.assign(skip(run, WAITING), { exhausted: data.dimension }),
  cancel_requested: (run) => doing(skip(run, WAITING), "stopping"),
  run_parked: (run) => doing(run, "waiting to resume"),
  run_resumed: (run) => resumed(cut(doing(run, ""))),
  run_suspended(run, data) {
    const why = data.message || data.reason.replaceAll("_", " ");
    Object.assign(doing(run, data.reason === "disk_full" ? why : ""), { state: "suspended", suspendedSeq: run.seq, suspended: why });
  },
  step_resolved(run, data) {
    Object.assign(doing(run, ""), { state: "running", suspended: "" });
    if (data.step_id && RESOLVED[data.resolution]) change(run, data.step_id, { state: RESOLVED[data.resolution] });
  },
  run_ended: (run, data, time) => Object.assign(doing(skip(run, [...WAITING, "running"]), ""), { state: data.state, problem: data.problem, ended: time }),
  text_delta(run, data) {
    if (data.step_id) change(run, data.step_id, { text: (run.steps.get(data.step_id)?.text ?? "").slice(0, data.offset) + data.text });
    else {
      if (!run.answerText) doing(run, "writing the answer");
      run.answerText = run.answerText.slice(0, data.offset) + data.text;
    }
  },
  progress(run, data) {
    if (data.step_id) change(run, data.step_id, { activity: data.activity });
    else Object.assign(run, { activity: data.activity || run.activity, fraction: data.fraction });
  },
};
