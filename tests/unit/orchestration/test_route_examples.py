from aeond.capabilities.memory.in_memory_memory import InMemoryMemory
from aeond.capabilities.tools.beneath import best_resolver
from aeond.capabilities.tools.builtin import builtin_tools
from aeond.capabilities.tools.contained_files import ContainedFiles
from aeond.capabilities.tools.threads import WorkerThreads
from aeond.daemon.clocks import SystemClock
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject
from aeond.orchestration.call_schema import CallSchemas
from aeond.orchestration.route_examples import EXAMPLES, NoResult, RouteExample, examples_for
from tests.support.strategy import SPECS, spec, validator

TEXT: JsonObject = {"type": "string"}
READ = spec("read_file", {"path": TEXT}, ("path",))
WRITE = spec("memory_write", {"key": TEXT, "value": TEXT}, ("key", "value"))
OTHER_READ = spec("read_file", {"file": TEXT}, ("file",))


def shown(*specs: ToolSpec) -> tuple[RouteExample, ...]:
    return examples_for(specs, validator(*specs))


def tools_in(*specs: ToolSpec) -> set[object]:
    return {turn["tool"] for example in shown(*specs) for turn in example.turns if "tool" in turn}


def test_only_calls_that_can_be_made_are_shown() -> None:
    """An example appears only when all its tools are offered and would take its arguments."""
    assert tools_in(*SPECS) == set()
    assert tools_in(READ) == {"read_file"}
    assert tools_in(READ, WRITE) == {"read_file", "memory_write"}
    assert tools_in(OTHER_READ, WRITE) == {"memory_write"}


def test_requests_without_tools_are_always_shown() -> None:
    """The model sees that many requests need no tool, and some a plan."""
    routes = [example.turns[0].get("route") for example in shown()]
    assert routes.count("reply") >= 3
    assert routes.count("plan") >= 1


def test_every_turn_could_be_said() -> None:
    """What the model is shown satisfies the schema that it writes under: the route first, then what follows."""
    specs = (READ, WRITE)
    schemas, check = CallSchemas(), validator(*specs)
    for example in shown(*specs):
        first, *following = example.turns
        assert check.validate_output(first, schemas.route(specs)) == ()
        assert [t for t in following if check.validate_output(t, schemas.following(specs))] == []


def test_every_call_is_followed_by_its_result() -> None:
    """A call is never the last word of an example, and nothing else has a result."""
    for example in shown(READ, WRITE):
        calls = [turn for turn in example.turns if "tool" in turn]
        assert len(calls) == len(example.results)
        assert "tool" not in example.turns[-1]


def test_the_built_in_tools_carry_out_every_example() -> None:
    """No example is lost with the tools that aeond comes with, and each result is one that its tool could give."""
    files = ContainedFiles(best_resolver(), (), ())
    tools = builtin_tools(SystemClock(), InMemoryMemory(), files, WorkerThreads())
    specs = {tool.spec.name: tool.spec for tool in tools}
    check = validator(*specs.values())
    called = [
        (specs[str(turn["tool"])], result)
        for example in examples_for(tuple(specs.values()), check)
        for turn, result in zip(example.turns, example.results, strict=False)
    ]
    assert len(called) == sum(len(example.results) for example in EXAMPLES)
    given = [(its, result) for its, result in called if not isinstance(result, NoResult)]
    assert [its.name for its, result in given if check.validate_output(result, its.output_schema)] == []
