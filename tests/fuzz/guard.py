"""What every fuzzer shares: which errors a user may see, limits of memory and time, and the record of a case.

A case that breaks a promise is written under the corpus folder, and so is one that ends the process: the file
is there before the case is tried.
"""

from __future__ import annotations

import contextlib
import os
import resource
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import tideflow as tf

ALLOWED_WHEN_BUILDING = (ValueError, TypeError, tf.errors.OpError)  # of a graph, as TensorFlow raises them
ALLOWED_WHEN_RUNNING = (tf.errors.OpError,)
MOST_MEMORY = 3 << 30  # bytes beyond what the process has already
LONGEST_STEP = 5.0  # seconds; then the session is closed under the step


@contextlib.contextmanager
def recorded(name: str, data: bytes, corpus: Path) -> Iterator[None]:
    """Keeps the bytes of a case that fails, and says where they are."""
    corpus.mkdir(parents=True, exist_ok=True)
    path = corpus / f"{name}-{os.getpid()}-{threading.get_ident()}"
    path.write_bytes(data)
    try:
        yield
    except Exception as error:
        kept = corpus / f"{name}-{zlib.crc32(data):08x}"
        path.rename(kept)
        raise AssertionError(f"{kept}: {type(error).__name__}: {error}") from error
    path.unlink()


@contextlib.contextmanager
def little_memory() -> Iterator[None]:
    """Lets allocations fail beyond a limit, instead of filling the machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MOST_MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def short_session(graph: tf.Graph, executor: str = "") -> Iterator[tf.Session]:
    """A session that ends a step which does not end by itself."""
    config = tf.ConfigProto(operation_timeout_in_ms=int(LONGEST_STEP * 1000))
    config.experimental.executor_type = executor
    session = tf.Session(graph=graph, config=config)
    watch = threading.Timer(LONGEST_STEP, session.close)
    watch.start()
    try:
        yield session
    finally:
        watch.cancel()
        watch.join()
        session.close()
