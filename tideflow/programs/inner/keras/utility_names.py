"""What tests and libraries take from `tensorflow.python.keras.utils.generic_utils` and `data_utils`."""

from __future__ import annotations

import hashlib
import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from tideflow.keras.engine import dataset_checks
from tideflow.keras.layers import core
from tideflow.keras.utils import data_utils
from tideflow.layers.base import snake_case
from tideflow.variables import custom_objects

_GLOBAL_CUSTOM_OBJECTS = custom_objects.get_custom_objects()
is_generator_or_sequence = dataset_checks.is_generator
to_snake_case = snake_case
terminate_keras_multiprocessing_pools = data_utils.terminate_keras_multiprocessing_pools


def func_dump(func: Callable) -> tuple[str, Any, Any]:
    """A function as its code, its defaults and what it closes over.

    Args:
      func: The function.

    Returns:
      The three.
    """
    return core.dumped(func)


def func_load(code: Any, defaults: Any = None, closure: Any = None, globs: Any = None) -> Callable:
    """A function of what `func_dump` has returned.

    Args:
      code: The code, or all that `func_dump` has returned.
      defaults: The defaults of its arguments.
      closure: What it closes over.
      globs: The names that it sees; those of this module if None.

    Returns:
      The function.
    """
    if isinstance(code, (tuple, list)):
        code, defaults, closure = code
    return core.loaded(code, defaults, closure, globals() if globs is None else globs)


def has_arg(fn: Callable, name: str, accept_all: bool = False) -> bool:
    """Whether a function takes an argument.

    Args:
      fn: The function.
      name: The name of the argument.
      accept_all: Whether one that takes any keyword counts.

    Returns:
      Whether it does.
    """
    found = inspect.getfullargspec(fn)
    return (accept_all and found.varkw is not None) or name in [*found.args, *found.kwonlyargs]


def make_batches(size: int, batch_size: int) -> list[tuple[int, int]]:
    """Where batches begin and end.

    Args:
      size: How many samples there are.
      batch_size: How many are in a batch.

    Returns:
      Pairs of a first sample and the one after the last.
    """
    return [(first, min(size, first + batch_size)) for first in range(0, size, batch_size)]


def slice_arrays(arrays: Any, start: Any = None, stop: int | None = None) -> Any:
    """The same samples of arrays.

    Args:
      arrays: An array or a list of them; None stays None.
      start: The first sample, or the samples.
      stop: The one after the last.

    Returns:
      An array or a list of them.
    """
    if arrays is None:
        return [None]
    if isinstance(start, list) and stop is not None:
        raise ValueError(
            f"The stop argument has to be None if the value of start is a list. Received start={start}, "
            f"stop={stop}"
        )
    if not isinstance(arrays, list):
        return (
            _sliced(arrays, start, stop) if hasattr(start, "__len__") or hasattr(arrays, "shape") else [None]
        )
    return [None if each is None else _sliced(each, start, stop) for each in arrays]


def _sliced(array: Any, start: Any, stop: int | None) -> Any:
    return array[start] if hasattr(start, "__len__") else array[start:stop]


def to_list(x: Any) -> list[Any]:
    """A list, of one thing or of what is a list already.

    Args:
      x: The thing.

    Returns:
      The list.
    """
    return x if isinstance(x, list) else [x]


def object_list_uid(object_list: Any) -> str:
    """A text that tells lists of objects apart.

    Args:
      object_list: The objects, or one.

    Returns:
      The text.
    """
    return ", ".join(str(abs(id(each))) for each in _flat(object_list))


def is_all_none(structure: Any) -> bool:
    """Whether there is nothing but None.

    Args:
      structure: Values, nested.

    Returns:
      Whether it is so.
    """
    return all(each is None for each in _flat(structure))


def _flat(structure: Any) -> list[Any]:
    if isinstance(structure, dict):
        structure = [structure[key] for key in sorted(structure)]
    if not isinstance(structure, (list, tuple)):
        return [structure]
    return list(itertools.chain.from_iterable(map(_flat, structure)))


def check_for_unexpected_keys(name: str, input_dict: dict[str, Any], expected_values: list[str]) -> None:
    """Refuses keys that nobody expects.

    Args:
      name: What the dictionary is called.
      input_dict: The dictionary.
      expected_values: The keys that it may have.

    Raises:
      ValueError: If it has others.
    """
    unknown = set(input_dict).difference(expected_values)
    if unknown:
        raise ValueError(
            f"Unknown entries in {name} dictionary: {sorted(unknown)}. Only expected following keys: "
            f"{expected_values}"
        )


def validate_kwargs(
    kwargs: dict[str, Any], allowed_kwargs: Any, error_message: str = "Keyword argument not understood:"
) -> None:
    """Refuses arguments that nobody expects.

    Args:
      kwargs: The arguments.
      allowed_kwargs: The names that they may have.
      error_message: The words of the error.

    Raises:
      TypeError: If one has another name.
    """
    for name in kwargs:
        if name not in allowed_kwargs:
            raise TypeError(error_message, name)


def serialize_keras_class_and_config(cls_name: str, cls_config: Any) -> dict[str, Any]:
    """What stands for an object of a class in a config.

    Args:
      cls_name: The name of the class.
      cls_config: The arguments of the object.

    Returns:
      A dictionary of both.
    """
    return {"class_name": cls_name, "config": cls_config}


# ---------------------------------------------------------------------------------------------------- data


def _hash_file(fpath: str, algorithm: str = "sha256", chunk_size: int = 65535) -> str:
    """The checksum of a file, by SHA-256 or MD5; with "auto" by SHA-256."""
    checksum = hashlib.sha256() if algorithm in ("sha256", "auto") else hashlib.md5()
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            checksum.update(chunk)
    return checksum.hexdigest()


def validate_file(fpath: str, file_hash: str, algorithm: str = "auto", chunk_size: int = 65535) -> bool:
    """Whether a file has a checksum.

    Args:
      fpath: The path.
      file_hash: The checksum.
      algorithm: "sha256", "md5", or "auto" to tell by the length of the checksum.
      chunk_size: How many bytes are read at once.

    Returns:
      Whether it has.
    """
    is_long = algorithm == "sha256" or (algorithm == "auto" and len(file_hash) == 64)
    return _hash_file(fpath, "sha256" if is_long else "md5", chunk_size) == file_hash


def iter_sequence_infinite(seq: Any) -> Iterator[Any]:
    """The batches of a sequence, again and again.

    Args:
      seq: The sequence.

    Yields:
      Batches.
    """
    while True:
        yield from seq
