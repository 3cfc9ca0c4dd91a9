"""The command `aeond`. What a command needs is imported by that command alone."""

import argparse
import faulthandler
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from aeond import __version__
from aeond.daemon.exits import Exit, errors_in, exit_for
from aeond.errors import AeondError

EXITS = "\n".join(
    f"  {code.value:<3} {words}"
    for code, words in (
        (Exit.OK, "it worked; `serve` was told to stop and did"),
        (Exit.PROBLEM, "`doctor` found a problem, or `demo` did not get through"),
        (Exit.CONFIG, "the command line or the configuration is wrong"),
        (Exit.ANOTHER_INSTANCE, "another daemon uses this state folder or this socket"),
        (Exit.JOURNAL, "the journal or the memory cannot be used; it was left as it is"),
        (Exit.SOCKET, "the socket cannot be made"),
        (Exit.SECRET, "a secret lies where others can read it, or is not where the configuration says"),
        (Exit.DISK, "the disk failed while the daemon ran; what was acknowledged is there"),
        (Exit.BUG, "a bug: the log has the trace"),
    )
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit codes are those of daemon/exits.py."""
    # gRPC's fork handlers are of no use to a program that never forks, and cost children their lives.
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
    # gRPC's own log repeats what clients send, broken bytes and all; what matters of it reaches ours.
    os.environ["GRPC_VERBOSITY"] = "NONE"
    # Nothing that happens to be installed may change how the configuration is read.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    options = command_line().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        code = command(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return Exit.OK
    except BrokenPipeError:  # who read what we print has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return Exit.OK
    except ModuleNotFoundError as error:
        print(
            f"aeond: {error.name} is not installed; the daemon needs, in a checkout: pip install '.[daemon]'",
            file=sys.stderr,
        )
        return Exit.CONFIG
    except Exception as error:  # noqa: BLE001 - the last place: known errors become an exit code, others a trace
        known = [one for one in errors_in(error) if isinstance(one, AeondError)]
        if not known:
            import traceback

            traceback.print_exc()
            print("aeond: this is a bug; please report it with the lines above", file=sys.stderr)
            return Exit.BUG
        print(f"aeond: {known[0].message}", file=sys.stderr)
        return exit_for(known[0])
    else:
        return code


def command_line() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="aeond",
        description="A local AI daemon: requests in plain words, bounded, journaled, over a Unix socket.",
        epilog=f"exit codes:\n{EXITS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"aeond {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="run the daemon in the foreground")
    _add_config(serve)
    serve.set_defaults(command=_serve)

    check = commands.add_parser("check-config", help="say whether a configuration file is right")
    check.add_argument("file", nargs="?", type=Path, help="the file (the usual place if left out)")
    check.add_argument("--defaults", action="store_true", help="print a file with every key at its default")
    check.set_defaults(command=_check_config)

    doctor = commands.add_parser("doctor", help="look for what keeps the daemon from working")
    _add_config(doctor)
    doctor.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    doctor.set_defaults(command=_doctor)

    setup = commands.add_parser("engine-setup", help="install vLLM into an environment of its own")
    _add_config(setup)
    setup.add_argument("--path", type=Path, metavar="FOLDER", help="where (where the configuration says)")
    setup.add_argument("--cpu", action="store_true", help="for CPUs, also where there is a GPU")
    setup.add_argument("--again", action="store_true", help="install it also when it is there")
    setup.set_defaults(command=_engine_setup)

    quarantine = commands.add_parser(
        "quarantine", help="move a run that cannot be continued out of the journal (no daemon may run)"
    )
    _add_config(quarantine)
    quarantine.add_argument("run_id", metavar="RUN", help="the run's id, as `aeonctl status` names it")
    quarantine.set_defaults(command=_quarantine)

    export = commands.add_parser("export", help="write a run down as lines of JSON, to keep or to replay")
    _add_config(export)
    export.add_argument("run_id", metavar="RUN", help="the run's id, as `aeonctl runs` names it, or last")
    export.add_argument(
        "--output", type=Path, metavar="FILE", help="a new file (standard output if left out)"
    )
    export.set_defaults(command=_export)

    demo = commands.add_parser("demo", help="start a daemon of its own, ask it three things, stop it")
    demo.add_argument("--model", default="", metavar="NAME", help="a model of the catalogue (its default)")
    demo.add_argument("--engine", default="llama_cpp", choices=("llama_cpp", "vllm"), help="what runs it")
    demo.add_argument("--keep", action="store_true", help="keep the folder with the journal and the files")
    demo.set_defaults(command=_demo)
    return parser


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration file (the usual place)")


def _serve(options: argparse.Namespace) -> int:
    faulthandler.enable()  # a crash in native code, and the watchdog's abort, leave the stacks of all threads
    from aeond.daemon.footprint import share_arenas, start_lean

    start_lean()
    share_arenas()
    from aeond.daemon.config_files import load_config
    from aeond.daemon.inheriting import inherited_descriptor
    from aeond.daemon.logs import start_logging
    from aeond.daemon.notify import notifier_from_environment
    from aeond.daemon.paths import default_config_file, paths_of
    from aeond.daemon.secrets import refuse_secrets_in_environment

    refuse_secrets_in_environment(os.environ)
    file = options.config or default_config_file()
    read = partial(load_config, file, required=options.config is not None)
    config = read()
    start_logging(config.log.level, config.log.format, sys.stderr)

    import anyio

    from aeond.daemon.clocks import SystemClock
    from aeond.daemon.lifecycle import serve
    from aeond.daemon.reloading import LiveConfig

    with closing(notifier_from_environment()) as notifier:
        live = LiveConfig(config, read, notifier, SystemClock())
        anyio.run(serve, live, paths_of(config, file), notifier, inherited_descriptor())
    return Exit.OK


def _check_config(options: argparse.Namespace) -> int:
    from aeond.daemon.config_files import documented_defaults, load_config
    from aeond.daemon.paths import default_config_file

    if options.defaults:
        print(documented_defaults(), end="")
        return Exit.OK
    path = options.file or default_config_file()
    load_config(path, required=True)
    print(f"{path} is right")
    return Exit.OK


def _doctor(options: argparse.Namespace) -> int:
    from aeond.daemon.doctor import examine

    return examine(options.config, as_json=options.json)


def _engine_setup(options: argparse.Namespace) -> int:
    from aeond.daemon.config_files import load_config
    from aeond.daemon.engine_setup import set_up
    from aeond.daemon.paths import default_config_file, paths_of

    file = options.config or default_config_file()
    folder = options.path
    if folder is None:
        folder = paths_of(load_config(file, required=options.config is not None), file).engine_environment
    return set_up(folder.absolute(), cpu=options.cpu, again=options.again)


def _quarantine(options: argparse.Namespace) -> int:
    from aeond.daemon.config_files import load_config
    from aeond.daemon.paths import default_config_file, paths_of
    from aeond.daemon.quarantining import quarantine

    file = options.config or default_config_file()
    paths = paths_of(load_config(file, required=options.config is not None), file)

    import anyio

    print(f"{options.run_id} is in {anyio.run(quarantine, paths, options.run_id)} now")
    return Exit.OK


def _export(options: argparse.Namespace) -> int:
    from aeond.daemon.config_files import load_config
    from aeond.daemon.exporting import export
    from aeond.daemon.paths import default_config_file, paths_of

    file = options.config or default_config_file()
    paths = paths_of(load_config(file, required=options.config is not None), file)

    import anyio

    count, ended = anyio.run(export, paths, options.run_id, options.output)
    rest = "" if ended else ", which has not ended: replays want its end too, so export it again then"
    print(f"{count} events of {options.run_id}{rest}", file=sys.stderr)
    return Exit.OK


def _demo(options: argparse.Namespace) -> int:
    from aeond.daemon.demo import show

    return show(model=options.model, engine=options.engine, keep=options.keep)


if __name__ == "__main__":
    sys.exit(main())
