"""The command line: `main` is the entry, each verb a file of its own that is loaded when it is asked for."""

import sys
from collections.abc import Sequence

import click

from rooftree.interfaces.cli.group import INTERRUPTED, PIPE_CLOSED, cli, mute

__all__ = ["cli", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0 fine, 1 a check failed, 2 the user's error."""
    try:
        status = cli.main(arguments, prog_name="rooftree", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as fault:
        fault.show()
        return fault.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        mute()
        return PIPE_CLOSED
    return status if isinstance(status, int) else 0
