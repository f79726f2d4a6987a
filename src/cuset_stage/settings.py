"""Settings of the commands: one typed class each, read from a YAML file and `key=value`, as llamafactory-cli reads recipes.

A command's class says which keys exist, their types, ranges and defaults, and a line of help for each; the command line, `--help`
and the documentation are made from it. May import pydantic and yaml.
"""

import json
import re
import tempfile
import types
import typing
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
from pydantic_core import PydanticUndefined

from . import bundled
from .text import InputError, nearest, shown


class SettingsError(InputError):
    """A key that does not exist, a value out of range, a file that cannot be read; the message names it and the fix."""


def split_names(value: Any) -> Any:
    """`a,b` as a list, for `BeforeValidator`."""
    if isinstance(value, str) and value.startswith("["):
        raise ValueError(
            f"{value} is not a list in YAML, where a name that begins with a sign is quoted; write {value.strip('[] ')} without brackets"
        )
    return [part for part in (part.strip() for part in value.split(",")) if part] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(split_names)]
"""A list of names: `a,b` on the command line, a list or `a,b` in YAML."""

Numbers = Annotated[tuple[NonNegativeInt, ...], BeforeValidator(split_names)]
"""A list of integers, at least 0 (of `0-3` pydantic makes -3): `0,1` on the command line, a list in YAML."""

PositiveNumbers = Annotated[tuple[PositiveInt, ...], BeforeValidator(split_names)]
"""The same, at least 1."""

QuantizationBit = Annotated[
    Literal[4, 8] | None,
    BeforeValidator(lambda value: int(value) if value in ("4", "8") else value),  # text, on the command line
    Field(description="4 or 8, as in the recipe: weights in so many bits, by bitsandbytes"),
]


def _no_folder(value: Path) -> Path:
    if value.is_dir():
        raise ValueError("this is a folder; give the name of a file.")
    return value


OutputFile = Annotated[Path, AfterValidator(_no_folder)]
"""A file to write."""


def check_writable(key: str, path: Path) -> None:
    """Make the folder of a file that a command will write, and try it out, before the work begins.

    Raises:
        SettingsError: names the key, the file and what stands against it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        reason = f"no file can be written there ({error.strerror})"
        raise SettingsError(f"{key}={path}: {reason}; give a file in a folder of yours.") from None


def check_datasets(names: Iterable[str], dataset_dir: str) -> None:
    """Refuse a name that dataset_info.json does not have, before anything heavy is imported. A file that cannot be read is named later.

    Raises:
        SettingsError: names the data set, the file and the nearest name there.
    """
    file = bundled.found(Path(str(dataset_dir))) / "dataset_info.json"
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    for name in names:
        if name not in known:
            raise SettingsError(f"dataset={name}: not in {file}; {nearest(name, known)}")


# A key that some commands have for the first so many tasks or rows -> what others call it.
SAME_ELSEWHERE = {"max_samples": ("limit", "samples"), "limit": ("max_samples", "samples")}


class Keys(BaseModel):
    """Keys with values, listed as fields with `Field(description=..., ge=..., ...)`: a command's, or those that one of its keys holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    retired: ClassVar[Mapping[str, str]] = {}
    """Keys of earlier versions: what became of each, and what to use instead."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        for key in values if isinstance(values, dict) else ():
            if key in cls.model_fields:
                continue
            if key in cls.retired:
                raise ValueError(f"{key}: no longer a key: {cls.retired[key]}. Leave it out")
            for other in SAME_ELSEWHERE.get(key, ()):
                if other in cls.model_fields:
                    raise ValueError(f"{key}: no such key; {other}= takes the first so many")
            raise ValueError(f"{key}: no such key; {nearest(str(key), cls.model_fields)}")
        return values


class Settings(Keys):
    """The settings of a command.

    `positional` names the fields that arguments without a `=` are for, in order; the last takes all that are left when it is a list.
    """

    model_config = ConfigDict(coerce_numbers_to_str=True)
    positional: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def read(cls, arguments: Sequence[str]) -> Self:
        """Settings from a command line: `[FILE.yaml] [value ...] [key=value ...]`; later ones win.

        Raises:
            SettingsError: names the argument or the file and the key, what was expected, and the nearest known key.
        """
        values: dict[str, Any] = {}
        origins: dict[str, str] = {}
        bare: list[str] = []
        given: dict[str, Any] = {}
        for place, argument in enumerate(arguments):
            if argument.startswith("-") and argument != "-":  # --dry-run says dry_run=true, as any switch does
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
            if equals and key.isidentifier():
                given[key] = _parsed(value)
            elif argument.endswith((".yaml", ".yml")) and not values and not bare:
                values = read_yaml(Path(argument))
                origins = dict.fromkeys(values, argument)
            else:
                bare.append(argument)
        for key, value in {**cls._from_bare(bare), **given}.items():
            values[key] = value
            origins.pop(key, None)
        return cls.checked(values, origins)

    @classmethod
    def checked(cls, values: Mapping[str, Any], origins: Mapping[str, str] = types.MappingProxyType({})) -> Self:
        """Settings from a mapping. origins: key -> the file it was read from, for messages."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise SettingsError("; ".join(_problem(cls, one, origins) for one in error.errors())) from None

    @classmethod
    def _from_bare(cls, bare: Sequence[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        left = list(bare)
        for name in cls.positional:
            if not left:
                break
            if name == cls.positional[-1] and typing.get_origin(cls.model_fields[name].annotation) in (list, tuple):
                found[name], left = left, []
            else:
                found[name] = left.pop(0)
        if left:
            raise SettingsError(f"{left[0]}: expected FILE.yaml or key=value; {nearest(left[0], cls.model_fields)}")
        return found

    @classmethod
    def describe(cls) -> Iterator[tuple[str, str, str, str]]:
        """(key, type, default, description) of every key, for `--help` and the documentation."""
        yield from _described(cls, "")


def _described(cls: type[BaseModel], place: str) -> Iterator[tuple[str, str, str, str]]:
    """After a key, those of the class that it holds; settings of another command are described there."""
    for name, field in cls.model_fields.items():
        default = "" if field.default is PydanticUndefined else _written(field.get_default(call_default_factory=True))
        given = "required" if field.is_required() else default
        yield place + name, _type_name(field.annotation), given, field.description or ""
        for inner in typing.get_args(field.annotation):
            if isinstance(inner, type) and issubclass(inner, BaseModel) and not issubclass(inner, Settings):
                named = "NAME: " if typing.get_origin(field.annotation) is dict else ""
                yield from _described(inner, f"{place}{name}: {named}")


class _Loader(yaml.SafeLoader):
    """YAML where 1e-4 is a number, as llamafactory-cli reads it. OmegaConf, which reads recipes there, would refuse `${` in a value."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def load_yaml(text: str) -> Any:
    """What a YAML text says, read as `read_yaml` reads a file."""
    return yaml.load(text, _Loader)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping a YAML file holds, of the working directory or of the package.

    Raises:
        SettingsError: the file cannot be read, holds something else, or gives a key twice.
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
    """Lists, mappings and null as YAML has them; everything else stays text, of which pydantic makes what the field holds."""
    if text == "null":
        return None
    try:
        return load_yaml(text) if text.startswith(("[", "{")) else text
    except yaml.YAMLError:
        return text


_NO_PATH = {"path_not_file": "there is no such file", "path_not_directory": "there is no such folder"}


def _problem(cls: type[Settings], error: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    """What is wrong, such as `file.yaml: models: mine: gpus[0]=x: expected a valid number`."""
    message = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    message = (message.partition(" should have ")[2] or message).replace(" after validation", "")
    key = str(error["loc"][0]) if error["loc"] else ""
    origin = origins.get(key or message.partition(":")[0])  # of an unknown key the message names it first
    where = f"{origin}: " if origin else ""
    # without `[key]` of mappings and `list[any]` of alternatives
    parts = [part for part in error["loc"] if isinstance(part, int) or "[" not in part]
    place = "".join(f"[{part}]" if isinstance(part, int) else f": {part}" for part in parts).removeprefix(": ")
    if error["type"] == "missing":
        field = cls.model_fields[key] if place == key else None
        return f"{where}{place}: missing; say {parts[-1]}=..." + (f" ({field.description})" if field else "")
    if error["type"] != "value_error":
        message = _NO_PATH.get(error["type"], f"expected {message.partition(', unable to parse')[0]}")
    elif not key or isinstance(error["input"], dict):  # a check of several keys
        return f"{where}{place}: {message}" if key else f"{where}{message}"
    for said in (f"{key}={error['input']!r}: ", f"{key}: "):  # by a check that names its key
        message = message.removeprefix(said)
    if error["loc"][-1] == "[key]":
        return f"{where}{place}: {message}, found {shown(error['input'])}"
    return f"{where}{place}={shown(error['input'])}: {message}"


def _type_name(annotation: Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _type_name(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type_name(one) for one in arguments if one is not type(None))
    if origin is typing.Literal:
        return ", ".join(map(str, arguments))
    if origin in (list, tuple):
        return f"list of {_type_name(arguments[0])}"
    return {int: "integer", float: "number", bool: "true or false", str: "text", Path: "path"}.get(annotation, "value")


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    return str(value)
