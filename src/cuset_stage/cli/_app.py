"""What the sub-commands share: the application they register with, and how they end on bad input."""

import typer


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


def names(value: str) -> tuple[str, ...]:
    """The parts of a comma-separated option."""
    return tuple(part for part in (part.strip() for part in value.split(",")) if part)
