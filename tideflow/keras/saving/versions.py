"""What is said of files that newer versions of Keras wrote."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

_OURS = (2, 2, 5)  # the last version whose configs are those of tf.keras here

_KINDS = (AttributeError, KeyError, TypeError, ValueError)


@contextlib.contextmanager
def explained_by_version(version: str) -> Iterator[None]:
    """An error inside tells that the file is of a newer Keras, where it is."""
    try:
        yield
    except _KINDS as error:
        numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
        if numbers <= _OURS:
            raise
        words = " ".join(str(part) for part in error.args)
        kind = next(kind for kind in _KINDS if isinstance(error, kind))
        raise kind(
            f"{words}. The model was saved by Keras {version}; this is Keras 2.2.4-tf, which does not know "
            "all that newer configs have. Make the model here, and read the file by `load_weights`."
        ) from error
