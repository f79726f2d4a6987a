"""Where the recipes and the data lie that come with the package. Standard library only."""

from pathlib import Path


def folder() -> Path:
    """The folder that holds yaml_configs/ and data/: inside the package when it came as a wheel, else the checkout."""
    package = Path(__file__).parent
    inside = package / "share"
    return inside if inside.is_dir() else package.parents[1]


def found(path: Path) -> Path:
    """The path, or where nothing is there, what the package has under it: `data/cuset_mini.jsonl` is meant from any folder."""
    inside = folder() / path
    return inside if not path.exists() and inside.exists() else path


def data() -> Path:
    return folder() / "data"


def recipes() -> Path:
    return folder() / "yaml_configs"
