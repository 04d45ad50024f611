"""The group of verbs. Help and wrong verbs are answered without loading any of them."""

import importlib
import os
import sys

import click

from rooftree import __version__
from rooftree.errors import RooftreeError, nearest

VERBS = {
    "run": "Answer a scenario file: summary, report.html and result.json.",
    "train": "Predict how fast a model trains on a cluster, and with which layout.",
    "infer": "Predict how fast a model serves on a cluster, and with which layout.",
    "collective": "Time one collective operation.",
    "catalogue": "Show the parts and their figures, each with its source.",
    "explain": "Explain a metric: equation, inputs, validity, source.",
    "doctor": "Check what is installed and works here.",
}


INTERRUPTED, PIPE_CLOSED = 130, 141
"""Exit statuses as a shell gives them for SIGINT and SIGPIPE."""


def mute() -> None:
    """Send what is left for a closed standard output nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Fault(click.ClickException):
    """A RooftreeError on its way out of the command line."""

    exit_code = 2


class Verbs(click.Group):
    """A group that loads the module of a verb when that verb is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of their help."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a verb."""
        if cmd_name not in VERBS:
            return None
        command = importlib.import_module(f"rooftree.interfaces.cli.{cmd_name}").command
        assert isinstance(command, click.Command)  # noqa: S101
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options before the verb, or say that one belongs behind it."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as fault:
            option = fault.option_name
            takers = [verb for verb in VERBS if option in self._options(ctx, verb)]
            if not takers:
                raise
            only = takers[0] if len(takers) == 1 else "VERB"
            verb = next((word for word in words if word in takers), only)
            raise click.UsageError(f"options come after the verb; write rooftree {verb} … {option}", ctx) from None

    def _options(self, ctx: click.Context, verb: str) -> set[str]:
        """Return the options of a verb as they are written."""
        command = self.get_command(ctx, verb)
        return {spelling for parameter in command.params for spelling in parameter.opts} if command else set()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or say which one was probably meant."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no verb '{args[0][:60]}'; {nearest(args[0][:60], VERBS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs from the table above."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def invoke(self, ctx: click.Context) -> object:
        """Run a verb; the user's errors become messages."""
        try:
            return super().invoke(ctx)
        except RooftreeError as fault:
            raise Fault(str(fault)) from None
        except BrokenPipeError:  # the reader, `head` for example, has seen enough
            mute()
            raise click.exceptions.Exit(PIPE_CLOSED) from None


@click.group(
    cls=Verbs,
    subcommand_metavar="VERB …",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nExamples:\n  rooftree train llama-3.1-405b --cluster azure-gb300-4608 --gpus 512\n"
    '  rooftree collective all_reduce --bytes "1 GiB" --gpus 72\n'
    "  rooftree run scenarios/azure-gb300.toml -o out/first",
)
@click.version_option(__version__, prog_name="rooftree")
def cli() -> None:
    """Predict the speed, memory, power and cost of rack-scale AI clusters, each with its range and its sources.

    Exit status: 0 fine, 1 a check failed, 2 something in the question is wrong.
    """
