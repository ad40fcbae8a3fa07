"""Worker processes on the machines of a Ray cluster.

Ray places them, by actors that hold one process each, and notices lost machines. Requests go by our own
transport, with a key that only the server and its workers have. Models must be at the same path everywhere.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
from collections.abc import Callable
from typing import Any

from tideflow.cluster import keys
from tideflow.graph import errors
from tideflow.launch import processes
from tideflow.serving.remote_worker import ADDRESS_LINE
from tideflow.serving.worker_process import WorkerProcess

_NEWS_SECONDS = 5.0  # how long an actor waits for news before it returns none
_LOST = 137  # the exit code of a process whose machine is lost: that of SIGKILL
_MODULE = "tideflow.serving.remote_worker"

_log = logging.getLogger("tideflow.serving")


class RayWorkers:
    """Starts worker processes by Ray (`worker_process.Starter`).

    Args:
      address: The Ray cluster's: host:port of its head, or auto.
      threads: Kernel threads of each worker, for which Ray finds as many CPUs.
    """

    def __init__(self, address: str, threads: int = 1):
        try:
            import ray  # loaded when asked for
        except ImportError:
            raise ValueError("--ray needs Ray: pip install 'tideflow[cluster]'") from None
        self._ray, self._threads = ray, max(1, threads)
        self._loop = asyncio.get_running_loop()
        self.key = keys.generate()
        # Ray sends the source of `processes`, so that an actor need not import Tideflow and torch.
        ray.cloudpickle.register_pickle_by_value(processes)
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise errors.unavailable(f"There is no Ray cluster at {address}: {error}") from None
        self._host = ray.remote(processes.RayHost)
        self._numbers = itertools.count()
        self._actors: dict[int, Any] = {}

    def start(self, label: str, on_end: Callable[[int], None]) -> WorkerProcess:
        """Has Ray place a process that has no model yet."""
        number = next(self._numbers)
        process = WorkerProcess(self, number, label, on_end)
        actor = self._actors[number] = self._host.options(num_cpus=self._threads, max_restarts=0).remote()
        threading.Thread(
            target=self._follow, args=(number, actor, process), name=f"{label}-ray", daemon=True
        ).start()
        return process

    def send(self, *, kill: int) -> None:
        """Kills the process with this number, and its actor."""
        actor = self._actors.pop(kill, None)
        if actor is not None:
            self._ray.kill(actor)

    def close(self) -> None:
        """Ends all processes, and the connection to the Ray cluster."""
        for number in tuple(self._actors):
            self.send(kill=number)
        self._ray.shutdown()

    # ---- on a thread for each actor

    def _follow(self, number: int, actor: Any, process: WorkerProcess) -> None:
        """Starts the process, and passes its news to the loop, until it has ended."""
        code = _LOST
        try:
            get = self._ray.get
            host = get(actor.place.remote(None)).rpartition(":")[0]
            environment = {"OMP_NUM_THREADS": str(self._threads)}
            secrets = {keys.VARIABLE: keys.text_of(self.key)}
            get(actor.start.remote(["-m", _MODULE, host], environment, secrets))
            while (ended := self._pass_on(get(actor.news.remote(_NEWS_SECONDS)), process)) is None:
                pass
            code = ended
        except Exception as error:  # Ray's own: the actor was killed, or its machine is lost
            _log.debug("actor %d: %s", number, error)
        self._soon(self._ended, number, process, code)

    def _pass_on(self, news: list[processes.News], process: WorkerProcess) -> int | None:
        for kind, what in news:
            if kind == "ended":
                return int(what)
            if str(what).startswith(ADDRESS_LINE):
                self._soon(process.connect, str(what).removeprefix(ADDRESS_LINE))
            else:
                _log.info("%s", what)
        return None

    def _ended(self, number: int, process: WorkerProcess, code: int) -> None:
        self.send(kill=number)
        process.ended(code)

    def _soon(self, call: Callable[..., None], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:  # the loop is closed: nobody waits
            pass
