"""TOML files and ``key=value`` overrides into frozen dataclasses, and back.

Reading and type checking are the standard library's and pydantic's; what is ours is the text of
the error: a wrong key is answered with the nearest known one.
"""

from __future__ import annotations

import dataclasses
import json
import keyword
import tomllib
import types
import typing
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pydantic

from zh_albert.errors import ConfigError, nearest

T = TypeVar("T")


def renamed(old_name: str, *, default: Any) -> Any:
    """Return a dataclass field that is also read under the name it had before."""
    return dataclasses.field(default=default, metadata={"old_name": old_name})


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ConfigError: If the file is missing, not UTF-8 or not TOML; with the reader's position.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; expected a TOML configuration") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not a TOML file: {error}") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None


def parse_overrides(pairs: Sequence[str]) -> dict[str, Any]:
    """Turn ``["train.epochs=3", "seed=1"]`` into nested tables.

    A value is read as TOML; what is not TOML is taken as a string, so ``decay=linear`` needs no
    quotes.

    >>> parse_overrides(["train.epochs=3", "train.decay=linear"])
    {'train': {'epochs': 3, 'decay': 'linear'}}
    """
    result: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set takes key=value, got {pair!r}")
        try:
            parsed = tomllib.loads(f"v = {text}")
        except tomllib.TOMLDecodeError:
            parsed = {}
        value = parsed["v"] if parsed.keys() == {"v"} else text  # more keys: text with a line end
        table = result
        *parents, last = key.strip().split(".")
        for parent in parents:
            table = table.setdefault(parent, {})
            if not isinstance(table, dict):
                raise ConfigError(f"--set {pair}: {parent!r} was already given a value")
        table[last] = value
    return result


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay ``over`` on ``base``, table by table."""
    result = dict(base)
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merged(result[key], value)
        elif isinstance(value, Mapping) and key in result:
            raise ConfigError(f"{key} is a table, but the file gives it the value {result[key]!r}")
        else:
            result[key] = value
    return result


def build(schema: type[T], values: Mapping[str, Any], *, source: str = "configuration") -> T:
    """Make the dataclass ``schema`` out of plain values.

    Args:
        schema: A (nested) dataclass.
        values: What a TOML file or ``parse_overrides`` gave.
        source: Named in errors.

    Raises:
        ConfigError: For an unknown key (the nearest known one is named), a wrong type, a missing
            key, or whatever the dataclass itself refuses.
    """
    values = _with_new_names(schema, values, source, prefix="")
    _refuse_unknown(schema, values, source, prefix="")
    try:
        return pydantic.TypeAdapter(schema).validate_python(_field_names(values))
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, ConfigError):
            raise ConfigError(f"{source}: {cause}") from None
        place = _place(values, first["loc"])
        key = ".".join(part.removesuffix("_") for part in place)
        # A value of several kinds gives an error for each of them.
        kinds = [e["msg"] for e in error.errors() if _place(values, e["loc"]) == place]
        problem = " or ".join(kinds).replace("or Input should be", "or")
        problem = problem.replace("Input should be", "expected")
        found = "" if first["type"] == "missing" else f", found {first['input']!r}"
        raise ConfigError(f"{source}: {key}: {problem}{found}") from None


def write_toml(config: object) -> str:
    r"""Write a dataclass as TOML; ``None`` is left out, for TOML has no word for it.

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


def _write_table(values: Mapping[str, Any], name: str, tables: list[str]) -> None:
    plain = {k: v for k, v in values.items() if not isinstance(v, Mapping) and v is not None}
    lines = [f"{key.removesuffix('_')} = {_toml_value(value)}" for key, value in plain.items()]
    head = [f"[{name}]"] if name else []
    if lines:
        tables.append("\n".join(head + lines) + "\n")
    for key, value in values.items():
        if isinstance(value, Mapping):
            _write_table(value, f"{name}.{key}" if name else key, tables)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return repr(float(value))  # NumPy's would read np.float64(…)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _place(values: Mapping[str, Any], loc: tuple[int | str, ...]) -> tuple[str, ...]:
    """Return the keys that lead to a value; pydantic adds which of several kinds it tried."""
    place: list[str] = []
    found: Any = values
    for part in loc:
        if not isinstance(found, Mapping):
            break
        place.append(str(part))
        found = found.get(str(part).removesuffix("_"), {})
    return tuple(place)


def _field_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Rename keys that are Python's own words: ``from`` is the field ``from_``."""
    return {
        f"{key}_" if keyword.iskeyword(key) else key: _field_names(value)
        if isinstance(value, Mapping)
        else value
        for key, value in values.items()
    }


def _with_new_names(
    schema: Any, values: Mapping[str, Any], source: str, prefix: str
) -> dict[str, Any]:
    """Return values under the names that settings have now, with a note for each old one."""
    hints = typing.get_type_hints(schema)
    found: dict[str, Any] = {}
    new_names = {field.metadata.get("old_name"): field.name for field in dataclasses.fields(schema)}
    for key, value in values.items():
        name = new_names.get(key, key)
        if name != key:
            note = f"{source}: {prefix}{key} is called {prefix}{name} now; please rename it"
            warnings.warn(note, FutureWarning, stacklevel=2)
        nested = _dataclass_in(hints.get(name))
        if nested is not None and isinstance(value, Mapping):
            value = _with_new_names(nested, value, source, prefix=f"{prefix}{key}.")  # noqa: PLW2901
        found[name] = value
    return found


def _refuse_unknown(schema: Any, values: Mapping[str, Any], source: str, prefix: str) -> None:
    known = {name.removesuffix("_"): hint for name, hint in typing.get_type_hints(schema).items()}
    for key, value in values.items():
        if key not in known:
            there = [prefix + name for name in known]
            below = [f"{prefix}{name}.{key}" for name, hint in known.items() if key in _keys(hint)]
            meant = f"did you mean {' or '.join(map(repr, below))}?" if below else ""
            raise ConfigError(
                f"{source}: unknown key {prefix + key!r}; {meant or nearest(prefix + key, there)}"
            )
        nested = _dataclass_in(known[key])
        if nested is not None and isinstance(value, Mapping):
            _refuse_unknown(nested, value, source, prefix=f"{prefix}{key}.")


def _keys(hint: Any) -> set[str]:
    """Return the keys of a section; of a single setting none."""
    section = _dataclass_in(hint)
    return set() if section is None else {field.name for field in dataclasses.fields(section)}


def _dataclass_in(hint: Any) -> Any:
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return next((option for option in options if dataclasses.is_dataclass(option)), None)
