"""Files that programs fetch before they train: `maybe_download` of contrib.learn, and its kin."""

from __future__ import annotations

import errno
import os
import random
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from tideflow.export import export
from tideflow.platform import gfile
from tideflow.platform.deprecation import deprecated


def _retried(
    initial_delay: float,
    max_delay: float,
    factor: float = 2.0,
    jitter: float = 0.25,
    is_retriable: Callable[[Exception], bool] | None = None,
) -> Callable[[Callable], Callable]:
    if factor < 1:
        raise ValueError(f"factor must be >= 1; was {factor:f}")
    if jitter >= 1:
        raise ValueError(f"jitter must be < 1; was {jitter:f}")

    def delays() -> Iterator[float]:
        delay = initial_delay
        while delay <= max_delay:
            yield delay * random.uniform(1 - jitter, 1 + jitter)
            delay *= factor

    def around(function: Callable) -> Callable:
        @wraps(function)
        def with_retries(*args: Any, **kwargs: Any) -> Any:
            for delay in delays():
                try:
                    return function(*args, **kwargs)
                except Exception as error:
                    if is_retriable is None:
                        continue
                    if not is_retriable(error):
                        raise
                    time.sleep(delay)
            return function(*args, **kwargs)

        return with_retries

    return around


@export("contrib.learn.datasets.base.retry")
@deprecated(None, "Use the retry module or similar alternatives.")
def retry(
    initial_delay: float,
    max_delay: float,
    factor: float = 2.0,
    jitter: float = 0.25,
    is_retriable: Callable[[Exception], bool] | None = None,
) -> Callable[[Callable], Callable]:
    """Makes a decorator for functions that are called again when they fail.

    Args:
      initial_delay: How many seconds to wait after the first failure.
      max_delay: The longest wait; after that one, a failure is raised.
      factor: By how much each wait is longer than the one before, at least 1.
      jitter: Which part of a wait is left to chance, less than 1.
      is_retriable: Whether to try again after an exception. If None, each is followed by another try at once.

    Returns:
      The decorator.

    Raises:
      ValueError: If `factor` or `jitter` is out of its range.
    """
    return _retried(initial_delay, max_delay, factor, jitter, is_retriable)


def _timed_out(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno == errno.ETIMEDOUT


@export("contrib.learn.datasets.base.urlretrieve_with_retry")
@deprecated(None, "Please use urllib or similar directly.")
@_retried(initial_delay=1.0, max_delay=16.0, is_retriable=_timed_out)
def urlretrieve_with_retry(url: str, filename: str | None = None) -> tuple[str, Any]:
    """Fetches what an address has, and tries again when the connection times out.

    Args:
      url: The address.
      filename: Where to put it; a temporary file if None.

    Returns:
      The path of the file, and the headers of the answer.
    """
    return urllib.request.urlretrieve(url, filename)


@export("contrib.learn.datasets.base.maybe_download")
@deprecated(None, "Please write your own downloading logic.")
def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """Fetches a file, unless it is there already.

    Args:
      filename: The name of the file.
      work_directory: The folder that it is in, made if it is not there.
      source_url: The address to fetch it from.

    Returns:
      The path of the file.
    """
    gfile.makedirs(work_directory)
    path = os.path.join(work_directory, filename)
    if not gfile.exists(path):
        fetched, _ = urlretrieve_with_retry(source_url)
        gfile.copy(fetched, path)
        print("Successfully downloaded", filename, gfile.stat(path).length, "bytes.")
    return path
