"""Conversion of TOML files and ``key=value`` overrides to frozen dataclasses, and back.

tomllib reads and pydantic checks types; this module adds error messages that name the nearest known
key, and checks of ranges.
"""

from __future__ import annotations

import dataclasses
import json
import keyword
import math
import re
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pydantic

from zh_albert.errors import ConfigError, nearest
from zh_albert.files.plain_files import read_plain

T = TypeVar("T")


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ConfigError: If the file is missing, not UTF-8 or not TOML; with the parser's position.
    """
    try:
        return tomllib.loads(read_plain(path).decode("utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; expected a TOML configuration") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not a TOML file: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: not a TOML file: its values are nested too deep") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None


def parse_overrides(pairs: Sequence[str]) -> dict[str, Any]:
    """Convert ``["train.epochs=3", "seed=1"]`` to nested tables.

    A value is parsed as TOML; if it is not valid TOML, it is a string, so ``decay=linear`` needs no
    quotes.

    >>> parse_overrides(["train.epochs=3", "train.decay=linear"])
    {'train': {'epochs': 3, 'decay': 'linear'}}
    """
    result: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"expected --set key=value, found {pair!r}")
        try:
            parsed = tomllib.loads(f"v = {text}")
        except (tomllib.TOMLDecodeError, RecursionError):
            parsed = {}
        value = parsed["v"] if parsed.keys() == {"v"} else text  # more keys: a text of two lines
        table = result
        *parents, last = key.strip().split(".")
        for parent in parents:
            table = table.setdefault(parent, {})
            if not isinstance(table, dict):
                raise ConfigError(f"--set {pair}: {parent!r} already has a value")
        table[last] = value
    return result


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two nested tables; values of ``over`` take precedence."""
    result = dict(base)
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merged(result[key], value)
        elif isinstance(value, Mapping) and key in result:
            raise ConfigError(f"{key} is a table, but the file has the value {result[key]!r}")
        else:
            result[key] = value
    return result


def build(schema: type[T], values: Mapping[str, Any], *, source: str = "configuration") -> T:
    """Return the dataclass ``schema`` with these values.

    Args:
        schema: A (nested) dataclass.
        values: From a TOML file or ``parse_overrides``.
        source: Named in errors.

    Raises:
        ConfigError: For an unknown key (the nearest known one is named), a wrong type, a missing
            key, or an error of the dataclass itself.
    """
    fields = _checked_fields(schema, values, source, prefix="")
    try:
        return pydantic.TypeAdapter(schema).validate_python(fields)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, ConfigError):
            raise ConfigError(f"{source}: {cause}") from None
        place = _place(fields, first["loc"])
        key = ".".join(part.removesuffix("_") for part in place)
        # A value of a union gives an error for each of its types.
        problems = [e["msg"] for e in error.errors() if _place(fields, e["loc"]) == place]
        problem = " or ".join(problems).replace("or Input should be", "or")
        problem = problem.replace("Input should be", "expected")
        found = "" if first["type"] == "missing" else f", found {first['input']!r}"
        raise ConfigError(f"{source}: {key}: {problem}{found}") from None


def check_at_least(least: int, name: str, value: float | None) -> None:
    """Check a setting that has a smallest value; None is not set.

    Raises:
        ConfigError: If it is smaller, or not finite.
    """
    if value is not None and not least <= value < math.inf:
        raise ConfigError(f"{name} must be at least {least}, got {value}")


def check_above_0(name: str, value: float) -> None:
    """Check a setting such as a weight or a temperature.

    Raises:
        ConfigError: If it is not above 0, or not finite.
    """
    if not 0 < value < math.inf:
        raise ConfigError(f"{name} must be above 0, got {value}")


def check_fraction(name: str, value: float) -> None:
    """Check a setting that is a fraction of something.

    Raises:
        ConfigError: If it is not from 0 to 1.
    """
    if not 0 <= value <= 1:
        raise ConfigError(f"{name} must be from 0 to 1, got {value}")


def check_named_once(what: str, names: Sequence[str]) -> None:
    """Check the names of some settings that are told apart by them.

    Raises:
        ConfigError: If two have the same.
    """
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"two {what}s are called {twice!r}; give one another name")


def write_toml(config: object) -> str:
    r"""Write a dataclass as TOML; ``None`` is omitted, because TOML has no such value.

    >>> @dataclasses.dataclass
    ... class Run:
    ...     seed: int = 1
    ...     note: str | None = None
    >>> write_toml(Run())
    'seed = 1\n'
    """
    tables: list[str] = []
    _write_table(dataclasses.asdict(config), "", tables)  # type: ignore[call-overload]
    return "\n".join(tables)


def _write_table(
    values: Mapping[str, Any],
    name: str,
    tables: list[str],
    *,
    head: str = "[{}]",
    in_array: bool = False,
) -> None:
    nested = {key: value for key, value in values.items() if _holds_tables(value)}
    plain = {k: v for k, v in values.items() if k not in nested and v is not None}
    lines = [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in plain.items()]
    first = [head.format(name)] if name else []
    # An element of an array is there, even if all its values are defaults, and so is its table.
    if lines or in_array:
        tables.append("\n".join(first + lines) + "\n")
    for key, value in nested.items():
        below = f"{name}.{_toml_key(key)}" if name else _toml_key(key)
        if isinstance(value, Mapping):
            _write_table(value, below, tables, in_array=in_array)
        else:
            for element in value:
                _write_table(element, below, tables, head="[[{}]]", in_array=True)


def _holds_tables(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(one, Mapping) for one in value)
    return isinstance(value, Mapping)


def _toml_key(key: str) -> str:
    if keyword.iskeyword(name := key.removesuffix("_")):  # see _checked_fields
        return name
    bare = re.fullmatch(r"[A-Za-z0-9_-]+", key)  # names of classes may be anything
    return key if bare else _toml_value(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return repr(float(value))  # a NumPy number would become np.float64(…)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, Mapping):  # in a list of other values
        return f"{{{', '.join(f'{_toml_key(k)} = {_toml_value(v)}' for k, v in value.items())}}}"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _place(fields: Mapping[str, Any], loc: tuple[int | str, ...]) -> tuple[str, ...]:
    """Return the path of a value, without the union members that pydantic appends to it."""
    place: list[str] = []
    found: Any = fields
    for part in loc:
        if isinstance(found, list) and isinstance(part, int):
            place[-1] += f"[{part}]"
            found = found[part] if part < len(found) else None  # one that is missing
        elif isinstance(found, Mapping):
            place.append(str(part))
            found = found.get(str(part), {})
        else:
            break
    return tuple(place)


def _checked_fields(
    schema: Any, values: Mapping[str, Any], source: str, prefix: str
) -> dict[str, Any]:
    """Return values by the names of the dataclass's fields.

    A field whose name is a Python keyword has an underscore after it: ``from`` is ``from_``.
    """
    hints = typing.get_type_hints(schema)
    names = {field.name.removesuffix("_"): field.name for field in dataclasses.fields(schema)}
    sections = {key: _dataclass_in(hints[name]) for key, name in names.items()}
    found: dict[str, Any] = {}
    for key, value in values.items():
        if key not in names:
            below = [
                repr(f"{prefix}{name}.{key}")
                for name, section in sections.items()
                if section and key in {field.name for field in dataclasses.fields(section)}
            ]
            meant = f"did you mean {' or '.join(below)}?" if below else ""
            hint = meant or nearest(prefix + key, [prefix + name for name in names])
            raise ConfigError(f"{source}: unknown key {prefix + key!r}; {hint}")
        kinds = {hints[names[key]], *typing.get_args(hints[names[key]])}
        if isinstance(value, bool) and kinds & {int, float} and bool not in kinds:
            said = str(value).lower()  # pydantic reads it as 1 or 0
            raise ConfigError(f"{source}: {prefix}{key}: expected a number, found {said}")
        if sections[key] and isinstance(value, Mapping):
            value = _checked_fields(sections[key], value, source, f"{prefix}{key}.")  # noqa: PLW2901
        elif sections[key] and isinstance(value, list):
            value = [  # noqa: PLW2901
                _checked_fields(sections[key], one, source, f"{prefix}{key}[{number}].")
                if isinstance(one, Mapping)
                else one
                for number, one in enumerate(value)
            ]
        found[names[key]] = value
    return found


def _dataclass_in(hint: Any) -> Any:
    """Return the dataclass that a value of this type is, may be, or is a sequence of."""
    several = isinstance(hint, types.UnionType) or typing.get_origin(hint) is tuple
    options = typing.get_args(hint) if several else (hint,)
    return next((option for option in options if dataclasses.is_dataclass(option)), None)
