"""The client package as a program imports it."""

import subprocess
import sys

import aeond_client


def test_every_name_is_there() -> None:
    """All that the package promises can be imported from it, and nothing else."""
    for name in aeond_client.__all__:
        assert getattr(aeond_client, name).__name__ == name
    assert not hasattr(aeond_client, "nothing")


def test_errors_and_words_cost_no_grpc() -> None:
    """A program that only needs the errors, the records or the command line's help does not load gRPC."""
    program = (
        "import sys, aeond_client, aeond_client.errors, aeond_client.records.runs, aeond_client.events, aeon_cli.main; "
        "print(sorted({'grpc', 'rich', 'google.protobuf', 'asyncio'} & set(sys.modules)))"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (finished.stdout, finished.stderr) == ("[]\n", "")
