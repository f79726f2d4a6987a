"""Read the settings of the commands from a YAML file and `key=value` arguments, as llamafactory-cli reads recipes.

Each command has one typed class of settings. It says which keys exist, with their types, ranges, defaults and a line
of help each. The command line, `--help` and the documentation are all made from this class. The file may import
pydantic and yaml, and nothing heavier.
"""

import os
import re
import tempfile
import types
import typing
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
    model_validator,
)

from . import bundled
from .files import read_json
from .text import InputError, nearest, shown


class SettingsError(InputError):
    """A key does not exist, a value is out of range, or a file cannot be read. The message names it and the fix."""


def split_names(value: Any) -> Any:
    """Split `a,b` into a list, for `BeforeValidator`. Values that are not text are returned as they are.

    Raises:
        ValueError: for a text that begins with `[` and that YAML did not read as a list.
    """
    if isinstance(value, str) and value.startswith("["):
        fix = f"write {value.strip('[] ')} without brackets"
        raise ValueError(f"{value} is not a list in YAML, where a name that begins with a sign is quoted; {fix}")
    return [part for part in (part.strip() for part in value.split(",")) if part] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(split_names)]
"""A list of names: `a,b` on the command line, a list or `a,b` in YAML."""


def _no_range(value: Any) -> Any:
    if isinstance(value, str) and re.fullmatch(r"\d+\s*(-|\.\.)\s*\d+", value):  # pydantic reads `0-3` as -3
        raise ValueError("a range; name each number, such as 0,1,2")
    return value


Numbers = Annotated[tuple[Annotated[NonNegativeInt, BeforeValidator(_no_range)], ...], BeforeValidator(split_names)]
"""A list of integers of at least 0: `0,1` on the command line, a list in YAML."""

PositiveNumbers = Annotated[
    tuple[Annotated[PositiveInt, BeforeValidator(_no_range)], ...], BeforeValidator(split_names)
]
"""Like `Numbers`, with integers of at least 1."""

QuantizationBit = Annotated[
    Literal[4, 8] | None,
    BeforeValidator(lambda value: int(value) if value in ("4", "8") else value),  # on the command line it is text
    Field(description="4 or 8, as in the recipe: weights in so many bits, by bitsandbytes"),
]


def _no_folder(value: Path) -> Path:
    if value.is_dir():
        raise ValueError("this is a folder; give the name of a file.")
    return value


OutputFile = Annotated[Path, AfterValidator(_no_folder)]
"""A file to write."""


def check_writable(key: str, path: Path, *inputs: Path | str | None) -> None:
    """Make the folder of a file that a command will write, and check that it is writable before the work begins.

    Args:
        key: the key that names the file, for messages.
        path: the file.
        inputs: what the command reads, which the file must not be. What is no file is ignored.

    Raises:
        SettingsError: if no file can be written there, or it is one of the inputs. The message names the key, the file
            and the reason.
    """
    for file in inputs:
        if file and path.exists() and Path(file).exists() and path.samefile(file):
            raise SettingsError(f"{key}={path}: the command reads this file; give another one.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        reason = f"no file can be written there ({error.strerror})"
        raise SettingsError(f"{key}={path}: {reason}; give a file in a folder of yours.") from None


# The keys that say where the rows of a data set are, by LLaMA-Factory's names.
SOURCES = {"file_name", "script_url", "cloud_file_name", "hf_hub_url", "ms_hub_url", "om_hub_url"}


def check_datasets(names: Iterable[str], dataset_dir: str) -> None:
    """Check that dataset_info.json has all the names, before anything heavy is imported.

    If the file cannot be read, nothing is checked here. It is reported later.

    Args:
        names: the data sets.
        dataset_dir: the folder with dataset_info.json, on its own or as one that comes with the package.

    Raises:
        SettingsError: if a name is not there. The message names the data set, the file and the nearest name in it, or
            what its entry lacks.
    """
    file = bundled.found(Path(str(dataset_dir))) / "dataset_info.json"
    if (info := read_json(file)) is None:
        return
    for name in names:
        if name not in info:
            raise SettingsError(
                f"dataset={name}: not in {file}; {bundled.where_data_set_is(name) or nearest(name, info)}"
            )
        if not isinstance(info[name], dict) or not info[name].keys() & SOURCES:
            raise SettingsError(
                f"dataset={name}: its entry in {file} is {shown(info[name])}; expected an object with file_name."
            )


# The commands have different keys for "only the first so many tasks or rows". Key -> its names in other commands.
SAME_ELSEWHERE = {"max_samples": ("limit", "samples"), "limit": ("max_samples", "samples")}


class Keys(BaseModel):
    """Base class of keys with values: those of a command, or those within one of its keys.

    Each key is a field with `Field(description=..., ge=..., ...)`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        """Refuse keys that do not exist, with a hint at the key that was probably meant."""
        for key in values if isinstance(values, dict) else ():
            if key in cls.model_fields:
                continue
            for other in SAME_ELSEWHERE.get(key, ()):
                if other in cls.model_fields:
                    raise ValueError(f"{key}: no such key; {other}= takes the first so many")
            raise ValueError(f"{key}: no such key; {nearest(str(key), cls.model_fields)}")
        return values

    @classmethod
    def describe(cls, place: str = "") -> Iterator[tuple[str, str, str, str]]:
        """Yield (key, type, default, description) of every key, for `--help` and the documentation.

        The keys within a key follow it, except those of another command's settings.

        Args:
            place: what stands before each key, such as `models: NAME: `.
        """
        for name, field in cls.model_fields.items():
            default = "required" if field.is_required() else _written(field.get_default(call_default_factory=True))
            yield place + name, _type_name(field.annotation), default, field.description or ""
            for inner in typing.get_args(field.annotation):
                if isinstance(inner, type) and issubclass(inner, Keys) and not issubclass(inner, Settings):
                    named = "NAME: " if typing.get_origin(field.annotation) is dict else ""
                    yield from inner.describe(f"{place}{name}: {named}")


class Settings(Keys):
    """Base class of a command's settings.

    `positional` names the fields that take the arguments without a `=`, in order. If the last of these fields is a
    list, it takes all arguments that are left.
    """

    model_config = ConfigDict(coerce_numbers_to_str=True)
    positional: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def read(cls, arguments: Sequence[str]) -> Self:
        """Return the settings of a command line: `[FILE.yaml] [value ...] [key=value ...]`. Later ones win.

        Raises:
            SettingsError: if an argument, a key or a value does not fit. The message names the argument, or the file
                and the key, with what was expected and the nearest known key.
        """
        values: dict[str, Any] = {}
        bare: list[str] = []
        by_key: dict[str, Any] = {}
        file = ""
        for place, argument in enumerate(arguments):
            if argument.startswith("-") and argument != "-":  # a switch such as --dry-run means dry_run=true
                key, equals, value = argument.lstrip("-").partition("=")
                field = cls.model_fields.get(key := key.replace("-", "_"))
                if field is None:
                    fix = nearest(key, cls.model_fields)
                    raise SettingsError(f"{argument}: settings are written key=value; {fix}")
                if field.annotation is not bool or equals:
                    value = value or "".join(arguments[place + 1 : place + 2]) or "..."
                    raise SettingsError(f"{argument}: settings are written key=value, so: {key}={value}")
                argument = f"{key}=true"
            key, equals, value = argument.partition("=")
            outer, *inner = key.split(".")
            if equals and key.isidentifier():
                by_key[key] = _parsed(value)
            elif equals and inner and outer in cls.model_fields and "/" not in key and not os.path.exists(argument):
                written = f"{outer}={{{': {'.join(inner)}: {value}{'}' * len(inner)}"
                fix = f"write {written} with all else that {outer} is to hold, or ./{argument} if this is a path"
                raise SettingsError(f"{argument}: a key has no dots; {fix}.")
            elif argument.endswith((".yaml", ".yml")) and not values and not bare:
                values, file = read_yaml(Path(argument)), argument
            else:
                bare.append(argument)
        given = cls._from_bare(bare) | by_key
        return cls.checked(values | given, dict.fromkeys(values.keys() - given.keys(), file))

    @classmethod
    def checked(cls, values: Mapping[str, Any], origins: Mapping[str, str] = types.MappingProxyType({})) -> Self:
        """Return the settings of a mapping.

        Args:
            values: the keys with their values.
            origins: key -> the file that it was read from, for messages.

        Raises:
            SettingsError: if a key or a value does not fit.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            details, places = error.errors(), {detail["loc"][:-1] for detail in error.errors()}
            # pydantic also calls a list too short whose items are wrong
            details = [detail for detail in details if detail["type"] != "too_short" or detail["loc"] not in places]
            raise SettingsError("; ".join(_problem(cls, detail, origins) for detail in details)) from None

    @classmethod
    def _from_bare(cls, bare: Sequence[str]) -> dict[str, Any]:
        """Assign the arguments without a key to the fields in `positional`."""
        values: dict[str, Any] = {}
        left = list(bare)
        for name in cls.positional[: len(bare)]:
            if name == cls.positional[-1] and typing.get_origin(cls.model_fields[name].annotation) in (list, tuple):
                values[name], left = left, []
            else:
                values[name] = left.pop(0)
        if left:
            raise SettingsError(f"{left[0]}: expected FILE.yaml or key=value; {nearest(left[0], cls.model_fields)}")
        return values


class _Loader(yaml.SafeLoader):
    """A YAML loader that reads 1e-4 as a number, as llamafactory-cli does.

    llamafactory-cli reads recipes with OmegaConf. That is not used here, because it would refuse `${` in a value.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if twice := [key for key, count in Counter(keys).items() if count > 1]:
            raise yaml.constructor.ConstructorError(None, None, f"the key {twice[0]} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def load_yaml(text: str) -> Any:
    """Return the content of a YAML text, read in the same way as `read_yaml` reads a file."""
    return yaml.load(text, _Loader)


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping that a YAML file holds. An empty file gives an empty mapping.

    Args:
        path: a file in the working directory, or else one that comes with the package.

    Raises:
        SettingsError: if the file cannot be read, or holds something else than a mapping with text as keys.
    """
    try:
        value = load_yaml(bundled.found(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not YAML: {error}") from None
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise SettingsError(f"{path}: expected `key: value` lines, found {shown(value)}")
    return value


def _parsed(text: str) -> Any:
    """Read lists, mappings and null as YAML does.

    Everything else stays text, which pydantic converts to the field's type.
    """
    if text == "null":
        return None
    try:
        return load_yaml(text) if text.startswith(("[", "{")) else text
    except yaml.YAMLError:
        return text


_NO_PATH = {"path_not_file": "there is no such file", "path_not_directory": "there is no such folder"}


def _problem(cls: type[Settings], error: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    """Return the message of an error, such as `file.yaml: models: mine: gpus[0]=x: expected a valid number`."""
    message = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    message = (message.partition(" should have ")[2] or message).replace(" after validation", "")
    message = message.replace("valid tuple", "list, such as [a, b]")
    message = message.replace("String should match pattern", "text that matches")
    key = str(error["loc"][0]) if error["loc"] else ""
    origin = origins.get(key or message.partition(":")[0])  # for an unknown key, the message starts with its name
    where = f"{origin}: " if origin else ""
    # pydantic adds `[key]` for the keys of mappings and names such as `list[any]` for alternatives: leave them out
    parts = [part for part in error["loc"] if isinstance(part, int) or "[" not in part]
    place = "".join(f"[{part}]" if isinstance(part, int) else f": {part}" for part in parts).removeprefix(": ")
    if error["type"] == "missing":
        field = cls.model_fields[key] if place == key else None
        return f"{where}{place}: missing; say {parts[-1]}=..." + (f" ({field.description})" if field else "")
    if error["type"] != "value_error":
        message = _NO_PATH.get(error["type"], f"expected {message.partition(', unable to parse')[0]}")
    elif not key or isinstance(error["input"], dict):  # a check of several keys together
        return f"{where}{place}: {message}" if key else f"{where}{message}"
    # A check may name its key at the start of its message, and `place` names it already.
    for repeated in (f"{key}={error['input']!r}: ", f"{key}: "):
        message = message.removeprefix(repeated)
    if error["loc"][-1] == "[key]":
        return f"{where}{place}: {message}, found {shown(error['input'])}"
    return f"{where}{place}={shown(error['input'])}: {message}"


def _type_name(annotation: Any) -> str:
    """Return the name of a field's type for `--help`."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _type_name(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type_name(argument) for argument in arguments if argument is not type(None))
    if origin is typing.Literal:
        return ", ".join(map(str, arguments))
    if origin in (list, tuple):
        return f"list of {_type_name(arguments[0])}"
    return {int: "integer", float: "number", bool: "true or false", str: "text", Path: "path"}.get(annotation, "value")


def _written(value: Any) -> str:
    """Return a default value as it would be written on the command line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    return str(value)
