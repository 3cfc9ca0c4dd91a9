from dataclasses import replace

from aeond.domain.plans.evaluations import RefinementAction, RefinementOperation
from aeond.domain.plans.profiles import DEFAULT_PROFILE, Route
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.runs.budgets import Amounts, Budget, Grant
from aeond.domain.runs.events import PlanningStarted
from aeond.orchestration.null_objects import (
    AcceptAll,
    AlwaysPlan,
    AlwaysWait,
    AsSaid,
    FixedDepth,
    NamedTemplates,
    NeverRefine,
    NoTemplates,
)
from tests.support.judging import after_pass, ran
from tests.support.strategy import calls, thinks

RUN = after_pass(1, ran(calls("s1", "look", path="garden"), error="no garden"))
NOTHING = Grant(Amounts())


async def test_a_request_means_what_it_says() -> None:
    """Without a resolver the words are the request, and no context comes with them."""
    resolved = (await AsSaid().resolve(RUN, NOTHING)).value
    assert (resolved.text, resolved.context) == (RUN.request.text, "")


async def test_every_request_is_planned() -> None:
    """Without a router a request takes the way that suits any."""
    assert (await AlwaysPlan().choose(RUN, NOTHING, lambda _: None)).value.route is Route.PLAN


async def test_every_task_is_an_average_one_and_gets_all() -> None:
    """Without depth the profile is the default, the budget the bound, and neither ever changes."""
    depth = FixedDepth()
    assert (await depth.infer(RUN, NOTHING)).value == DEFAULT_PROFILE
    assert depth.allocate(DEFAULT_PROFILE, Budget(ttl=7)) == Budget(ttl=7)
    assert depth.adapt(RUN) is None


async def test_what_gave_its_results_is_accepted() -> None:
    """Without an evaluator a plan is good, and a pass as good as its steps."""
    for run, converged, reason in (
        (replace(RUN, pass_index=0, steps={}), True, "ACCEPTED"),
        (after_pass(1, ran(calls("s1", "look", path="garden"))), True, "ACCEPTED"),
        (RUN, False, "STEPS_FAILED"),
    ):
        evaluation = (await AcceptAll().evaluate(run, NOTHING)).value.evaluation
        assert (evaluation.pass_index, evaluation.converged) == (run.pass_index, converged)
        assert evaluation.reasons == (reason,)


async def test_a_plan_stays_as_it_is() -> None:
    """Without a refiner no action applies, and each is reported as skipped."""
    action = RefinementAction(RefinementOperation.ADD, "s2", thinks("s2", "Sing."))
    refined = NeverRefine().apply(RUN, (action,))
    assert (refined.plan, refined.applied) == (RUN.plan, ())
    assert [problem.reason for problem in refined.skipped] == ["REFINEMENT_OFF"]
    assert (await NeverRefine().refine(replace(RUN, plan=None), NOTHING)).value.plan.steps == ()


def test_no_template_fits() -> None:
    """Without a library every subtask fails because no template fits."""
    outcome = NoTemplates().match(SubtaskRequest("count the herbs"))
    assert outcome.problem is not None
    assert outcome.problem.reason == "TEMPLATE_NOT_FOUND"


async def test_a_request_keeps_the_template_that_it_names() -> None:
    """Without a choice of templates a request goes on as it was."""
    request = SubtaskRequest("count the herbs", hints=("count",))
    assert (await NamedTemplates().choose(request, NOTHING)).value is request


def test_everything_is_waited_for() -> None:
    """Without immediate work no intent is done in the turn that records it."""
    assert AlwaysWait().perform(PlanningStarted(Amounts()), RUN) == ()
