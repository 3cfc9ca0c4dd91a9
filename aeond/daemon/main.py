"""The command `aeond`. Each command imports only the modules it needs."""

import argparse
import faulthandler
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from aeond import __version__
from aeond.daemon.exits import Exit, errors_in, exit_for
from aeond.errors import AeondError

if TYPE_CHECKING:
    from aeond.daemon.config.paths import Paths
    from aeond.daemon.config.schema import Config

EXITS = "\n".join(
    f"  {code.value:<3} {words}"
    for code, words in (
        (Exit.OK, "success; `serve` was stopped in an orderly way"),
        (
            Exit.PROBLEM,
            "`doctor` found a problem, `models recommend` found no model, or `demo` or a setup failed",
        ),
        (Exit.CONFIG, "the command line or the configuration is invalid"),
        (Exit.ANOTHER_INSTANCE, "another daemon uses this state folder or this socket"),
        (Exit.JOURNAL, "the journal or the memory cannot be used; nothing was changed"),
        (Exit.SOCKET, "the socket cannot be created"),
        (Exit.SECRET, "a secret is readable by other users, or is missing"),
        (Exit.DISK, "the disk failed while the daemon was running; acknowledged data is stored"),
        (Exit.BUG, "an internal error: the log has the traceback"),
    )
)

# While a thread computes, the event loop waits for the interpreter after each look at a socket: for up to 5 ms with Python's own value, which
# is longer than most calls take. ADR 0126 has the measurements.
_SWITCH_SECONDS = 0.0005


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; exit codes are in daemon/exits.py."""
    # gRPC's fork handlers are useless to a program that never forks, and can crash child processes.
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
    # gRPC's own log repeats client input, including invalid bytes; our log has the relevant parts.
    os.environ["GRPC_VERBOSITY"] = "NONE"
    # Installed plugins must not change how the configuration is read.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    options = command_line().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        code = command(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return Exit.OK
    except BrokenPipeError:  # the reader of our output closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return Exit.OK
    except ModuleNotFoundError as error:
        print(
            f"aeond: {error.name} is not installed, but the daemon needs it; in a checkout: pip install"
            " '.[daemon]'",
            file=sys.stderr,
        )
        return Exit.CONFIG
    except Exception as error:  # noqa: BLE001 - the last place: known errors become an exit code, others a trace
        from aeond.daemon.logs.printable import printable

        known = [one for one in errors_in(error) if isinstance(one, AeondError)]
        if not known:
            import traceback

            print(printable(traceback.format_exc()), end="", file=sys.stderr)
            print("aeond: this is a bug; please report it with the lines above", file=sys.stderr)
            return Exit.BUG
        print(f"aeond: {printable(known[0].message)}", file=sys.stderr)
        return exit_for(known[0])
    else:
        return code


def program() -> NoReturn:
    """The entry point of the process: runs one command and ends with its exit code.

    The interpreter is not taken down: gRPC's poller is a daemon thread, which can crash the process with SIGSEGV in
    place of its exit code if it runs while the interpreter is finalized.
    """
    try:
        code = int(main())
    except SystemExit as stopped:  # argparse: help, version and mistakes on the command line
        code = stopped.code if isinstance(stopped.code, int) else Exit.OK
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the reader is gone; main() reported what matters
            stream.flush()
    os._exit(code)


def command_line() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="aeond",
        description="A local AI daemon: executes requests in plain language, within limits and"
        " journaled, over a Unix socket.",
        epilog=f"exit codes:\n{EXITS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"aeond {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="run the daemon in the foreground")
    _add_config(serve)
    serve.set_defaults(command=_serve)

    check = commands.add_parser("check-config", help="validate a configuration file")
    check.add_argument("file", nargs="?", type=Path, help="the file (default: the usual place)")
    check.add_argument("--defaults", action="store_true", help="print a file with every key at its default")
    check.set_defaults(command=_check_config)

    doctor = commands.add_parser("doctor", help="find problems that keep the daemon from working")
    _add_config(doctor)
    doctor.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    doctor.set_defaults(command=_doctor)

    models = commands.add_parser(
        "models", help="the models of the catalogue, and which of them fit this machine"
    )
    of_models = models.add_subparsers(required=True, metavar="ACTION")
    listing = of_models.add_parser("list", help="print the catalogue")
    listing.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    listing.set_defaults(command=_models_list)
    recommend = of_models.add_parser(
        "recommend", help="print the models that fit, with the configuration for each"
    )
    recommend.add_argument("--ram", type=float, metavar="GIB", help="main memory (default: of this machine)")
    recommend.add_argument(
        "--gpu", type=float, metavar="GIB", help="GPU memory, 0 for none (default: of this machine)"
    )
    recommend.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    recommend.set_defaults(command=_models_recommend)

    setup = commands.add_parser(
        "engine-setup", help="install vLLM into a separate environment, or build llama.cpp for this processor"
    )
    _add_config(setup)
    setup.add_argument("--path", type=Path, metavar="FOLDER", help="folder (default: as configured)")
    setup.add_argument("--cpu", action="store_true", help="for CPUs, even if there is a GPU")
    setup.add_argument(
        "--native", action="store_true", help="build llama.cpp for this processor in place of installing vLLM"
    )
    setup.add_argument("--again", action="store_true", help="install it even if it exists")
    setup.set_defaults(command=_engine_setup)

    aider = commands.add_parser("aider-setup", help="install Aider into a separate environment")
    _add_config(aider)
    aider.add_argument("--path", type=Path, metavar="FOLDER", help="folder (default: as configured)")
    aider.add_argument("--again", action="store_true", help="install it even if it exists")
    aider.set_defaults(command=_aider_setup)

    quarantine = commands.add_parser(
        "quarantine", help="move a run that cannot be resumed out of the journal (the daemon must be stopped)"
    )
    _add_config(quarantine)
    quarantine.add_argument("run_id", metavar="RUN", help="run id, as shown by `aeonctl status`")
    quarantine.set_defaults(command=_quarantine)

    export = commands.add_parser("export", help="export a run as JSON lines, to archive or replay it")
    _add_config(export)
    export.add_argument("run_id", metavar="RUN", help="run id, as shown by `aeonctl runs`, or last")
    export.add_argument("--output", type=Path, metavar="FILE", help="a new file (default: standard output)")
    export.set_defaults(command=_export)

    facade = commands.add_parser(
        "facade", help="serve a protocol of other programs, as a client of the daemon"
    )
    protocols = facade.add_subparsers(required=True, metavar="PROTOCOL")
    mcp = protocols.add_parser("mcp", help="serve MCP on standard input and output, or by streamable HTTP")
    _add_listeners(mcp, "to be created")
    mcp.set_defaults(command=_facade_mcp)
    openai = protocols.add_parser(
        "openai",
        help="serve the API of OpenAI by HTTP: models of the daemon, and its runs as the model aeond",
    )
    _add_listeners(openai, "default without --port: aeond-openai.sock in the runtime folder")
    openai.set_defaults(command=_facade_openai)

    demo = commands.add_parser("demo", help="start a private daemon, send it requests, stop it")
    demo.add_argument(
        "requests", metavar="REQUEST", nargs="*", help="a request to send in place of the four included ones"
    )
    demo.add_argument(
        "--model", default="", metavar="NAME", help="a model of the catalogue (default: its default)"
    )
    demo.add_argument("--engine", default="llama_cpp", choices=("llama_cpp", "vllm"), help="the engine")
    demo.add_argument("--keep", action="store_true", help="keep the folder with the journal and the files")
    demo.set_defaults(command=_demo)
    return parser


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="configuration file (default: the usual place)"
    )


def _add_listeners(parser: argparse.ArgumentParser, socket: str) -> None:
    """The options of a façade: the daemon that it is a client of, and where it listens."""
    parser.add_argument(
        "--daemon", default="", metavar="SOCKET", help="the daemon's socket (default: as aeonctl)"
    )
    parser.add_argument(
        "--socket", type=Path, metavar="FILE", help=f"serve HTTP on this Unix socket ({socket})"
    )
    parser.add_argument(
        "--port", type=int, metavar="NUMBER", help="serve HTTP on this port of 127.0.0.1; 0 is any free one"
    )
    parser.add_argument(
        "--key-file", default="", metavar="FILE", help="file with the key that clients of the port send"
    )


def _serve(options: argparse.Namespace) -> int:
    faulthandler.enable()  # a crash in native code, and the watchdog's abort, print the stacks of all threads
    from aeond.daemon.lifecycle.footprint import share_arenas, start_lean

    start_lean()
    share_arenas()
    sys.setswitchinterval(_SWITCH_SECONDS)
    from aeond.daemon.config.files import load_config
    from aeond.daemon.config.paths import default_config_file, paths_of
    from aeond.daemon.config.secrets import refuse_secrets_in_environment
    from aeond.daemon.logs.setup import start_logging
    from aeond.daemon.notify import notifier_from_environment
    from aeond.daemon.socket_activation import inherited_descriptors

    refuse_secrets_in_environment(os.environ)
    file = options.config or default_config_file()
    read = partial(load_config, file, required=options.config is not None)
    config = read()
    start_logging(config.log.level, config.log.format, sys.stderr)

    import anyio

    from aeond.daemon.clocks import SystemClock
    from aeond.daemon.config.reloading import LiveConfig
    from aeond.daemon.lifecycle.serving import serve

    with closing(notifier_from_environment()) as notifier:
        live = LiveConfig(config, read, notifier, SystemClock())
        anyio.run(serve, live, paths_of(config, file), notifier, inherited_descriptors())
    return Exit.OK


def _configured(options: argparse.Namespace) -> "tuple[Config, Paths]":
    """The configuration of a command, and the paths that follow from it."""
    from aeond.daemon.config.files import load_config
    from aeond.daemon.config.paths import default_config_file, paths_of

    file = options.config or default_config_file()
    config = load_config(file, required=options.config is not None)
    return config, paths_of(config, file)


def _check_config(options: argparse.Namespace) -> int:
    from aeond.daemon.config.files import documented_defaults, load_config
    from aeond.daemon.config.paths import default_config_file, paths_of

    if options.defaults:
        print(documented_defaults(), end="")
        return Exit.OK
    path = options.file or default_config_file()
    config = load_config(path, required=True)
    if config.policy.file:
        from aeond.daemon.compose.policy import check_policy

        check_policy(config)
    if config.egress.hosts or config.egress.local or config.egress.search_url:
        from aeond.daemon.compose.tooling.web import why_no_web

        why_no_web(config, paths_of(config, path))
    print(f"{path} is valid")
    return Exit.OK


def _doctor(options: argparse.Namespace) -> int:
    from aeond.daemon.commands.doctor import examine

    return examine(options.config, as_json=options.json)


def _models_list(options: argparse.Namespace) -> int:
    from aeond.daemon.commands.models import show_models

    return show_models(as_json=options.json)


def _models_recommend(options: argparse.Namespace) -> int:
    from aeond.daemon.commands.models import recommend

    return recommend(ram_gib=options.ram, gpu_gib=options.gpu, as_json=options.json)


def _engine_setup(options: argparse.Namespace) -> int:
    from aeond.daemon.commands.engine_setup import fetch_embedding, set_up, set_up_native

    config, paths = _configured(options)
    if options.native:
        folder = (options.path or paths.native_build).absolute()
        return set_up_native(folder, (paths.models_dir, *paths.own_models_dirs), again=options.again)
    code = set_up((options.path or paths.engine_environment).absolute(), cpu=options.cpu, again=options.again)
    if code is Exit.OK and config.embedding.enabled and config.embedding.fetch:
        from aeond.daemon.compose.embedding import embedding_files

        fetch_embedding(embedding_files(config, paths).fetch)
    return code


def _aider_setup(options: argparse.Namespace) -> int:
    from aeond.daemon.commands.aider_setup import set_up

    _, paths = _configured(options)
    return set_up((options.path or paths.aider_environment).absolute(), again=options.again)


def _quarantine(options: argparse.Namespace) -> int:
    from aeond.daemon.commands.quarantine import quarantine

    _, paths = _configured(options)

    import anyio

    print(f"{options.run_id} was moved to {anyio.run(quarantine, paths, options.run_id)}")
    return Exit.OK


def _export(options: argparse.Namespace) -> int:
    from aeond.daemon.commands.export import export

    _, paths = _configured(options)

    import anyio

    count, ended = anyio.run(export, paths, options.run_id, options.output)
    rest = "" if ended else ", which has not ended: replays need its end, so export it again later"
    print(f"{count} events of {options.run_id}{rest}", file=sys.stderr)
    return Exit.OK


def _facade_mcp(options: argparse.Namespace) -> int:
    from aeond.daemon.commands.facade import serve_mcp

    return serve_mcp(options.daemon, options.socket, options.port, options.key_file)


def _facade_openai(options: argparse.Namespace) -> int:
    from aeond.daemon.commands.facade import serve_openai

    return serve_openai(options.daemon, options.socket, options.port, options.key_file)


def _demo(options: argparse.Namespace) -> int:
    from aeond.daemon.commands.demo import REQUESTS, show

    return show(options.requests or REQUESTS, model=options.model, engine=options.engine, keep=options.keep)


if __name__ == "__main__":
    program()
