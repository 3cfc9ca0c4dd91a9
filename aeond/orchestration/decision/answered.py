"""What models have answered about the last runs."""

from dataclasses import field

from aeond.frozen import frozen
from aeond.orchestration.decision.conversations.correction import Correction
from aeond.orchestration.decision.conversations.fitting import FittingTools
from aeond.orchestration.decision.conversations.subject import Subjects
from aeond.orchestration.last_runs import LastRuns


@frozen
class Answered:
    """Kept while runs are suspended, so that a run which waited for a person asks nothing twice and forgets nothing that it found out.

    `findings` holds the results of looks in runs that go on, by run; `questions` what is asked besides a change, by run and request; `words` and `files` those of searches, by run and request;
    `corrections` the facts that requests correct, by run and request; `unwritten` the conversations in which a model did not write an argument, by run, tool and view.
    """

    subjects: Subjects = field(default_factory=Subjects)
    fitting: FittingTools = field(default_factory=FittingTools)
    findings: LastRuns[str, str] = field(default_factory=LastRuns)
    questions: LastRuns[tuple[str, str], str] = field(default_factory=LastRuns)
    words: LastRuns[tuple[str, str], str] = field(default_factory=LastRuns)
    files: LastRuns[tuple[str, str], tuple[str, ...]] = field(default_factory=LastRuns)
    corrections: LastRuns[tuple[str, str], Correction | None] = field(default_factory=LastRuns)
    unwritten: LastRuns[tuple[str, str, str], None] = field(default_factory=LastRuns)
