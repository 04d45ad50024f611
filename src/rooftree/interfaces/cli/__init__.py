"""The command line: `main` is the entry, each verb a file of its own that is loaded when it is asked for."""

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

import click

from rooftree.interfaces.cli.group import INTERRUPTED, PIPE_CLOSED, cli, mute

__all__ = ["cli", "main"]


USER_ERROR = 2


def _ready() -> None:
    """Make the output streams take any text: a closed one swallows it, one of few letters shows a sign for the rest."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (open to the end)
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0 fine, 1 a check failed, 2 the user's error."""
    _ready()
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
    except OSError as fault:
        mute()
        click.echo(f"Error: the output cannot be written: {fault.strerror or fault}; free some space", err=True)
        return USER_ERROR
    return status if isinstance(status, int) else 0
