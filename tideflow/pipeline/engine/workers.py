"""Who does the parts of a pass: threads, processes of this machine, or tasks of a Ray cluster.

All yield results in the order of the parts and hold few of them at a time. A part whose worker was killed is
done again.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from tideflow.graph import errors

_MOST_LOST = 3  # times that a part may lose its worker
_AHEAD = 4  # parts for each worker that are begun before the first of them is taken: merging may take long
_REACHED_IN = 10.0  # seconds
_MAIN = b"__main__"
_starting = threading.Lock()
_pool: ContextVar[ThreadPoolExecutor | None] = ContextVar("pool", default=None)
_GUARD = (
    "Is there too little memory? Or has the program no `if __name__ == '__main__':`? Workers import it, for "
    "a function or class that is defined in it."
)
_PRELOADED = ["tideflow.pipeline.engine.run", "tideflow.pipeline.statistics"]
# Seconds to import, so only where this process has them: then its workers will need them too.
_PRELOADED_IF_HERE = ["tideflow.pipeline.transform.analyze", "tideflow.pipeline.evaluation.evaluator"]


def by_threads(task: Callable[[Any], Any], parts: Sequence[Any], workers: int) -> Iterator[Any]:
    """The results of a task for each part, from threads of this process."""
    pool = ThreadPoolExecutor(workers, "pipeline")
    try:
        running = deque(pool.submit(task, part) for part in parts[: workers * _AHEAD])
        for number in range(len(parts)):
            result = running.popleft().result()
            if number + workers * _AHEAD < len(parts):
                running.append(pool.submit(task, parts[number + workers * _AHEAD]))
            yield result
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def threads_at_hand(count: int) -> Iterator[None]:
    """Lets `at_once` use so many threads within."""
    if count <= 1:
        yield
        return
    with ThreadPoolExecutor(count, "pipeline-extract") as pool:
        token = _pool.set(pool)
        try:
            yield
        finally:
            _pool.reset(token)


def at_once(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """The results of a function for each item, in their order, by the threads that are at hand.

    The function must not call `at_once` itself: all threads might wait for others then.
    """
    pool = _pool.get()
    return list(map(function, items) if pool is None else pool.map(function, items))


def by_processes(task: Callable[[Any], Any], parts: Sequence[Any], workers: int) -> Iterator[Any]:
    """The results of a task for each part, from a pool of processes.

    The processes are forked from a server that has imported what they need and has no other threads. They
    import the program that was started only if the task or its parts are defined there.
    """
    needs_main = _MAIN in pickle.dumps((task, parts[0]))
    context = multiprocessing.get_context("forkserver")
    here = [name for name in _PRELOADED_IF_HERE if name in sys.modules]
    context.set_forkserver_preload([*_PRELOADED, *here])
    lost, taken = 0, 0
    while taken < len(parts):
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)
        running: dict[int, Future[Any]] = {}
        begun = taken
        try:
            while taken < len(parts):
                while begun < min(len(parts), taken + workers * _AHEAD):
                    with nullcontext() if needs_main else _main_left_alone():
                        running[begun] = pool.submit(task, parts[begun])
                    begun += 1
                result = running[taken].result()
                del running[taken]
                taken += 1
                lost = 0
                yield result
        except BrokenProcessPool:
            lost += 1
            if lost > _MOST_LOST:
                raise errors.internal(
                    f"Worker processes were killed {lost} times in a row at part {taken + 1} of "
                    f"{len(parts)}: {parts[taken]}. {_GUARD if needs_main else 'Is there too little memory?'}"
                ) from None
        finally:
            _stop(pool)


@contextmanager
def _main_left_alone() -> Iterator[None]:
    """Processes that are started within do not run the program's file again, as multiprocessing would."""
    main = sys.modules["__main__"]
    with _starting:
        hidden = {name: main.__dict__.pop(name) for name in ("__file__", "__spec__") if name in main.__dict__}
        main.__spec__ = None
        try:
            yield
        finally:
            main.__dict__.update(hidden)


def _begin() -> None:
    """Begins a worker: it dies with the process that it works for, and leaves Ctrl-C to that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    os.environ["OMP_NUM_THREADS"] = "1"


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGKILL)


def _stop(pool: ProcessPoolExecutor) -> None:
    """Ends the workers of a pool now, whatever they do."""
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
    for process in processes:
        process.join()


def by_ray(task: Callable[[Any], Any], parts: Sequence[Any], address: str) -> Iterator[Any]:
    """The results of a task for each part, from tasks of a Ray cluster.

    Ray does the part of a killed worker again. Files must be at the same path on every machine.
    """
    try:
        import ray  # loaded when asked for
    except ImportError:
        raise errors.failed_precondition("--ray needs Ray: pip install 'tideflow[cluster]'") from None
    is_ours = not ray.is_initialized()
    if is_ours:
        _reach(address)
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise errors.unavailable(f"There is no Ray cluster at {address}: {error}") from None
    try:
        do = ray.remote(max_retries=_MOST_LOST)(_do)
        shared = ray.put(task)
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        ahead = max(2, int(resources.get("CPU", 1)) * _AHEAD)
        running = [do.remote(shared, part) for part in parts[:ahead]]
        for number in range(len(parts)):
            result, failure = ray.get(running[0])
            del running[0]
            if failure is not None:
                raise failure
            if number + ahead < len(parts):
                running.append(do.remote(shared, parts[number + ahead]))
            yield result
    finally:
        if is_ours:
            ray.shutdown()


def _reach(address: str) -> None:
    """Finds out whether anybody listens at an address: Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        return  # "auto" and the like
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACHED_IN).close()
    except (OSError, OverflowError) as error:
        raise errors.unavailable(f"There is no Ray cluster at {address}: {error}") from None


def _do(task: Callable[[Any], Any], part: Any) -> tuple[Any, Exception | None]:
    """Runs a task. Its exception is a value, because Ray would wrap it into one of its own."""
    try:
        return task(part), None
    except Exception as failure:
        return None, failure
