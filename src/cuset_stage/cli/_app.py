"""What the sub-commands share: the application they register with, how they read settings, and how they end on bad input."""

from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from ..settings import Settings, SettingsError


S = TypeVar("S", bound=Settings)

COMMANDS: dict[str, type[Settings]] = {}
"""The settings of every command, such as "report" or "curate verify"; the documentation is made from it."""

app = typer.Typer(
    help="Tools around `stage: cuset`, the CUDA-sensitive training stage of LLaMA-Factory. Training itself is "
    "`llamafactory-cli train recipe.yaml`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def fail(message: str) -> typer.Exit:
    """Print the message to standard error; the caller raises what is returned (exit code 2)."""
    typer.echo(f"cuset: {message}", err=True)
    return typer.Exit(2)


def command(group: typer.Typer, name: str, settings: type[S]) -> Callable[[Callable[[S], None]], Callable[[S], None]]:
    """Register `NAME [FILE.yaml] [key=value ...]`: the function gets what was read; its docstring and the keys are the help."""

    def register(function: Callable[[S], None]) -> Callable[[S], None]:
        COMMANDS[f"{group.info.name} {name}" if isinstance(group.info.name, str) else name] = settings
        bare = " ".join(key.upper() for key in settings.positional)

        @group.command(
            name,
            help=function.__doc__,
            epilog=_keys_text(settings),
            no_args_is_help=any(field.is_required() for field in settings.model_fields.values()),
            context_settings={"ignore_unknown_options": True, "max_content_width": 120},
        )
        def run(
            arguments: Annotated[
                list[str] | None,
                typer.Argument(metavar=f"[FILE.yaml] {bare} [KEY=VALUE ...]".replace("  ", " "), show_default=False),
            ] = None,
        ) -> None:
            try:
                function(settings.read(arguments or []))
            except SettingsError as error:
                raise fail(f"{name}: {error}") from None
            except OSError as error:
                if error.filename is None:
                    raise
                raise fail(f"{name}: {error.filename}: {error.strerror}.") from None

        return function

    return register


def _keys_text(settings: type[Settings]) -> str:
    """The keys as paragraphs that click wraps one by one."""
    lines = ["Keys, in FILE.yaml or as KEY=VALUE:"]
    for key, kind, default, description in settings.describe():
        given = "required" if default == "required" else f"default {default}" if default else "optional"
        lines.append(f"{key} ({kind}; {given}): {description}")
    return "\n\n".join(lines)


def names(value: str) -> tuple[str, ...]:
    """The parts of a comma-separated option."""
    return tuple(part for part in (part.strip() for part in value.split(",")) if part)
