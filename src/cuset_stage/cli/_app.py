"""The parts that the sub-commands share.

These are the application that they register with, the way they read their settings, and the way they end on bad input.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer
from pydantic import Field, PositiveInt
from typer.core import TyperGroup

from ..files import full_disk
from ..settings import Names, Settings, SettingsError
from ..text import InputError


S = TypeVar("S", bound=Settings)


class TaskSettings(Settings):
    """The task set that a command works on, and the choice of tasks from it."""

    tasks: Path = Field(
        description="the task set: your copy of CUDABench, KernelBench, ComputeEval or robust-kbench, or our own format"
    )
    format: Literal["auto", "cudabench", "cuset", "kernelbench", "computeeval", "robust-kbench"] = Field(
        "auto", description="the task set's format"
    )
    split: str | None = Field(None, description="only the tasks of this split")
    only: Names = Field((), description="only these tasks, by id or name")
    limit: PositiveInt | None = Field(None, description="only the first so many tasks")

    @property
    def chosen(self) -> dict[str, Any]:
        """Those of `split`, `only` and `limit` that the user set, as arguments of `tasks.choose_tasks`."""
        return self.model_dump(include={"split", "only", "limit"}, exclude_defaults=True)


# What an error of a full disk is about if it names no file.
UNNAMED = "a file that the system does not name, of output=, TMPDIR, HF_HOME or CUSET_CACHE (`df -h` shows the disks)"
COMMANDS: dict[str, type[Settings]] = {}
"""The settings class of every command, such as "report" or "curate prove". The documentation is generated from it."""


class Group(TyperGroup):
    """A group that lists every command with the whole first sentence of its help.

    Without this class, the sentence would be cut at 45 characters.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        subcommand = super().get_command(ctx, cmd_name)
        if subcommand is not None and subcommand.help and not subcommand.short_help:
            sentence = " ".join(subcommand.help.split("\n\n")[0].split()).partition(". ")[0]
            subcommand.short_help = sentence.removesuffix(".") + "."
        return subcommand


app = typer.Typer(
    cls=Group,
    help="Tools around `stage: cuset`, the CUDA-sensitive training stage of LLaMA-Factory. Training itself is "
    "`llamafactory-cli train recipe.yaml`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def add_group(name: str, help: str) -> typer.Typer:
    """Make a group of sub-commands, such as `cuset curate`, and add it to `cuset`."""
    group = typer.Typer(name=name, cls=Group, help=help, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group)
    return group


def _print_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(__version__)
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Define the options of `cuset` itself. Its help text is that of `app`."""


def fail(message: str) -> typer.Exit:
    """Print the message to standard error and return an exit with code 2, which the caller has to raise."""
    typer.echo(f"cuset: {message}", err=True)
    return typer.Exit(2)


def command(group: typer.Typer, name: str, settings: type[S]) -> Callable[[Callable[[S], None]], Callable[[S], None]]:
    """Return a decorator that registers a function as the command `NAME [FILE.yaml] [key=value ...]`.

    The function is called with the settings that were read from the command line. Its docstring is the command's help,
    or the docstring of the settings where it has none. The list of keys follows in the help. Errors in the input, in
    files and in the sandbox end the command with a message and exit code 2, and Ctrl-C with exit code 130.
    """
    called = f"{group.info.name} {name}" if isinstance(group.info.name, str) else name
    COMMANDS[called] = settings

    def register(function: Callable[[S], None]) -> Callable[[S], None]:
        bare = " ".join(key.upper() for key in settings.positional)

        @group.command(
            name,
            help=function.__doc__ or settings.__doc__,
            epilog=_keys_text(settings),
            no_args_is_help=any(field.is_required() for field in settings.model_fields.values()),
            context_settings={"ignore_unknown_options": True, "max_content_width": 120},
        )
        def run(
            arguments: Annotated[
                list[str] | None,
                typer.Argument(
                    metavar=f"[FILE.yaml] {bare} [KEY=VALUE ...]".replace("  ", " "),
                    show_default=False,
                    autocompletion=lambda incomplete: [
                        f"{key}=" for key in settings.model_fields if key.startswith(incomplete)
                    ],
                ),
            ] = None,
        ) -> None:
            try:
                function(settings.read(arguments or []))
            except SettingsError as error:
                raise fail(f"{called}: {error}") from None
            except InputError as error:
                raise fail(str(error)) from None
            except RuntimeError as error:
                # Imported only here, so that `cuset --help` and completion answer at once.
                from ..sandbox import SandboxError

                if not isinstance(error, SandboxError):
                    raise
                raise fail(str(error)) from None
            except KeyboardInterrupt:
                text = "interrupted; what was written is kept. Run the same command again to go on."
                typer.echo(f"\ncuset: {text}", err=True)
                raise typer.Exit(130) from None
            except OSError as error:
                place = error.filename2 or error.filename  # of a copy, the target
                if place is None and full_disk(error) is None:
                    raise
                raise fail(f"{called}: {place or UNNAMED}: {error.strerror}.") from None

        return function

    return register


def _keys_text(settings: type[Settings]) -> str:
    """Return the list of keys for the help, one paragraph per key, because click wraps paragraphs one by one."""
    lines = ["Keys, in FILE.yaml or as KEY=VALUE:"]
    for key, type_name, default, description in settings.describe():
        necessity = "required" if default == "required" else f"default {default}" if default else "optional"
        lines.append(f"{key} ({type_name}; {necessity}): {description}")
    return "\n\n".join(lines)
