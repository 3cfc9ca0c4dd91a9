"""The version of the installed program."""

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """The version of the distribution that brought this program: aeonctl, or aeond with everything."""
    try:
        return version("aeonctl")
    except PackageNotFoundError:
        return version("aeond")
