"""Settings of the commands: one typed class each, read from a YAML file and `key=value`, as llamafactory-cli reads recipes.

A command's class says which keys exist, their types, ranges and defaults, and a line of help for each; the command line, `--help`
and the documentation are made from it. May import pydantic and yaml.
"""

import re
import shlex
import tempfile
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, NonNegativeInt, ValidationError
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


class Settings(BaseModel):
    """The settings of a command. A subclass lists its keys as fields with `Field(description=..., ge=..., ...)`.

    `positional` names the fields that arguments without a `=` are for, in order; the last takes all that are left when it is a list.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True, validate_default=False)
    positional: ClassVar[tuple[str, ...]] = ()
    retired: ClassVar[Mapping[str, str]] = {}
    """Keys of earlier versions: what became of each, and what to use instead."""

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
        for argument in arguments:
            if argument.startswith("-") and argument != "-":  # --dry-run says dry_run=true, as any switch does
                key, equals, _ = argument.lstrip("-").replace("-", "_").partition("=")
                field = cls.model_fields.get(key)
                if field is None:
                    fix = nearest(key, cls.model_fields)
                    raise SettingsError(f"{argument}: settings are written key=value; {fix}")
                if field.annotation is not bool or equals:
                    written = " ".join(cls._as_keys(arguments))
                    raise SettingsError(f"{argument}: settings are written key=value, so: {written}")
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
    def _as_keys(cls, arguments: Sequence[str]) -> Iterator[str]:
        """The words of a command line with `--key value`, `--key=value` and switches as `key=value`, quoted for a shell."""
        left = list(arguments)
        while left:
            name, equals, value = left.pop(0).partition("=")
            key = name.lstrip("-").replace("-", "_")
            field = cls.model_fields.get(key)
            if name.startswith("--") and field is not None:
                if not equals:
                    value = "true" if field.annotation is bool else left.pop(0) if left else "..."
                name, equals = key, "="
            yield shlex.quote(f"{name}{equals}{value}")

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
    key = str(error["loc"][0]) if error["loc"] else ""
    where = f"{origins[key]}: " if key in origins else ""
    place, holder, field = _place(cls, error["loc"])
    if error["type"] == "extra_forbidden" and (fate := getattr(holder, "retired", {}).get(field)):
        return f"{where}{place}: no longer a key: {fate}. Leave it out"
    if error["type"] == "extra_forbidden":
        return f"{where}{place}: no such key; {nearest(field, holder.model_fields)}"
    if error["type"] == "missing":
        description = holder.model_fields[field].description
        return f"{where}{place}: missing; say {field}=..." + (f" ({description})" if description else "")
    message = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    message = (message.partition(" should have ")[2] or message).replace(" after validation", "")
    if not key:  # a check of several keys
        return f"{where}{message}"
    for said in (f"{key}={error['input']!r}: ", f"{key}: "):  # by a check that names its key
        message = message.removeprefix(said)
    if error["type"] != "value_error":
        message = _NO_PATH.get(error["type"], f"expected {message.partition(', unable to parse')[0]}")
    if error["loc"][-1] == "[key]":  # of a mapping
        return f"{where}{place}: {message}, found {shown(error['input'])}"
    return f"{where}{place}={shown(error['input'])}: {message}"


def _place(cls: type[BaseModel], parts: Sequence[int | str]) -> tuple[str, type[BaseModel], str]:
    """Where an error is, as `seeds[1]` or `models: mine: gpus`; the class that this is a key of or in, and the key."""
    text, holder, field = "", cls, ""
    held: Any = cls
    for part in parts:
        if isinstance(held, type) and issubclass(held, BaseModel):
            holder, field = held, str(part)
            held = held.model_fields[field].annotation if field in held.model_fields else None
            if isinstance(held, types.UnionType):  # `X | None`
                held = typing.get_args(held)[0]
            text += f": {part}" if text else str(part)
        elif typing.get_origin(held) is dict:
            held = typing.get_args(held)[1]
            text += f": {part}"
        elif isinstance(part, int):
            held = next(iter(typing.get_args(held)), None)
            text += f"[{part}]"
    return text, holder, field


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
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(str(one.value) for one in annotation)
    return {int: "integer", float: "number", bool: "true or false", str: "text", Path: "path"}.get(annotation, "value")


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    return str(value.value if isinstance(value, Enum) else value)
