"""`tensorflow.python.data.util.options`: classes of options, as TensorFlow's own are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class OptionsBase:
    """Attributes that `create_option` makes, and no others."""

    def __init__(self) -> None:
        object.__setattr__(self, "_options", {})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, self.__class__):
            return NotImplemented
        names = {*self._options, *other._options}
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(self, name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    _options: dict[str, Any]


def create_option(
    name: str, ty: Any, docstring: str, default_factory: Callable[[], Any] = lambda: None
) -> property:
    """Makes an attribute of a class of options.

    Args:
      name: The name.
      ty: What its values are instances of.
      docstring: What it is for.
      default_factory: Makes the value that it has until another is set.

    Returns:
      The property.
    """

    def get(option: OptionsBase) -> Any:
        if name not in option._options:
            option._options[name] = default_factory()
        return option._options[name]

    def change(option: OptionsBase, value: Any) -> None:
        if not isinstance(value, ty):
            raise TypeError(f'Property "{name}" must be of type {ty}, got: {value!r} (type: {type(value)!r})')
        option._options[name] = value

    return property(get, change, None, docstring)


def merge_options(*options_list: Any) -> Any:
    """Options that say what any of them says.

    Args:
      *options_list: Options of one class.

    Returns:
      The options.

    Raises:
      TypeError: If they are of several classes, or no options.
      ValueError: If there are none, or two disagree.
    """
    if not options_list:
        raise ValueError("At least one options should be provided")
    kind = type(options_list[0])
    for options in options_list:
        if not isinstance(options, kind):
            raise TypeError(f"Incompatible options type: {type(options)!r} vs {kind!r}")
    if hasattr(options_list[0], "merged"):  # of a dataset
        result = options_list[0]
        for options in options_list[1:]:
            result = result.merged(options)
        return result
    if not isinstance(options_list[0], OptionsBase):
        raise TypeError("The inputs should inherit from `OptionsBase`")
    unsaid, result = kind(), kind()
    for options in options_list:
        for name in options._options:
            mine, given, default = (getattr(each, name) for each in (result, options, unsaid))
            if given == default:
                continue
            if mine == default:
                setattr(result, name, given)
            elif isinstance(mine, OptionsBase):
                setattr(result, name, merge_options(mine, given))
            elif mine != given:
                raise ValueError(
                    f"Cannot merge incompatible values ({mine!r} and {given!r}) of option: {name}"
                )
    return result
