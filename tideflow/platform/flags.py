"""`tf.flags`: absl's flags, read as TensorFlow 1 reads them: the command line is parsed when a flag is first
used, and DEFINE_* take their arguments by their old names too.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from absl import flags as absl_flags
from absl.flags import *  # noqa: F403 - tf.flags is the whole of absl.flags

from tideflow.export import expose

absl_flags.disclaim_key_flags()  # a flag belongs to the module that calls DEFINE_*, not to this one

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}
_parsed = absl_flags.FLAGS


def _with_old_names(define: Callable) -> Callable:
    @functools.wraps(define)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_OLD_NAMES.get(key, key): value for key, value in kwargs.items()})

    return wrapper


DEFINE_string = _with_old_names(absl_flags.DEFINE_string)
DEFINE_boolean = _with_old_names(absl_flags.DEFINE_boolean)
DEFINE_bool = DEFINE_boolean
DEFINE_float = _with_old_names(absl_flags.DEFINE_float)
DEFINE_integer = _with_old_names(absl_flags.DEFINE_integer)


class _LazyFlags:
    """absl's FLAGS, which parse `sys.argv` by themselves when a flag is read and nobody has parsed it yet."""

    def __getattr__(self, name: str) -> Any:
        is_flag = not hasattr(type(_parsed), name)
        if is_flag and not _parsed.is_parsed():
            _parsed(sys.argv)
        return getattr(_parsed, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_parsed, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_parsed, name)

    def __dir__(self) -> list[str]:
        return dir(_parsed)

    def __getitem__(self, name: str) -> Any:
        return _parsed[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        _parsed[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in _parsed

    def __iter__(self) -> Iterator[str]:
        return iter(_parsed)

    def __len__(self) -> int:
        return len(_parsed)

    def __call__(self, argv: Any, known_only: bool = False) -> list[str]:
        return _parsed(argv, known_only=known_only)

    def __repr__(self) -> str:
        return repr(_parsed)

    def __str__(self) -> str:
        return str(_parsed)


FLAGS = _LazyFlags()

expose(sys.modules[__name__], "flags", "app.flags")
