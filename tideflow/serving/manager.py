"""The models that are served: performs what the versions machine says, and finds versions for front ends.

Everything runs on the thread of the server's event loop, but for looking at directories, which may take long.
"""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.io.local_files import local_path
from tideflow.serving import config
from tideflow.serving.autoscaling import Autoscaling
from tideflow.serving.calls import Servable, VersionStatus
from tideflow.serving.loading import Loading, load_message
from tideflow.serving.metrics import Metrics
from tideflow.serving.replicas import WorkerServable
from tideflow.serving.servables import BatchedServable, LocalServable
from tideflow.serving.sources import bytes_in, is_within, versions_in
from tideflow.serving.versions import (
    All,
    Changed,
    Instruction,
    Latest,
    Load,
    Policy,
    Specific,
    State,
    Unload,
    Versions,
    WakeAt,
)
from tideflow.serving.worker_process import Starter

_log = logging.getLogger("tideflow.serving")

Key = tuple[str, int]  # a model and a version


class Manager:
    """The models of a server (`inference.Models`).

    Args:
      options: Those of the command line.
      workers: Starts worker processes.
      metrics: Where batches are counted.
      wrap: Makes of each loaded version what front ends get: with a cache, say, or a log.
    """

    def __init__(
        self,
        options: Namespace,
        workers: Starter,
        metrics: Metrics,
        wrap: Callable[[BatchedServable], Servable] = lambda servable: servable,
    ):
        self._options, self._workers, self._metrics, self._wrap = options, workers, metrics, wrap
        self._loop = asyncio.get_running_loop()
        self.versions = Versions(
            unloads_first=options.resource_preserving,
            memory=options.total_model_memory_limit_bytes or None,
            retries=options.max_num_load_retries,
            retry_interval=options.load_retry_interval_micros / 1e6,
            labels_wait=options.allow_version_labels_for_unavailable_models,
            labels_move_at_once=options.force_allow_any_version_labels_for_unavailable_models,
        )
        self._configs: dict[str, Any] = {}
        self._paths: dict[Key, str] = {}
        self._own_paths: set[str] = set()  # the base paths that the operator has named
        self._sizes: dict[str, int] = {}  # bytes by path of a version
        self._loading: dict[Key, Loading] = {}
        self._loaded: dict[Key, LocalServable | WorkerServable] = {}
        self._serving: dict[Key, Servable] = {}
        self._found: dict[tuple[str, int | None, str | None], Servable] = {}  # what `find` gave
        self._waiting: list[tuple[list[str], Callable[[OpError | None], None]]] = []
        self._scalings: dict[Key, Autoscaling] = {}
        self._unreadable: set[str] = set()
        self._said: dict[str, OpError] = {}  # the errors of versions, as they were logged
        self._listed: set[str] = set()  # models whose base path was looked at
        self.on_configured: Callable[[list[Any]], None] = lambda configs: None
        self._is_ready = self._is_looking = self._looks_again = False

    # ---- for front ends

    def find(self, name: str, version: int | None = None, label: str | None = None) -> Servable:
        """The version that answers a request."""
        key = name, version, label
        servable = self._found.get(key)
        if servable is None:
            servable = self._serving[name, self.versions.find(name, version, label)]
            self._found[key] = servable
        return servable

    def statuses(
        self, name: str, version: int | None = None, label: str | None = None
    ) -> list[VersionStatus]:
        """The states of the versions of a model, the highest number first."""
        model = self.versions.models.get(name)
        records = sorted(model.versions.values(), key=lambda record: -record.version) if model else []
        if label is not None:
            version = self.versions.find(name, None, label)
        version = self.versions.meant(name, version)
        if version is not None:
            records = [record for record in records if record.version == version]
        if not records:
            what = "any versions" if version is None else f"version {version}"
            raise errors.not_found(f"Could not find {what} of model {name}")
        return [VersionStatus(record.version, int(record.state), record.error) for record in records]

    def names(self) -> list[str]:
        """The names of the models."""
        return sorted(self._configs)

    def is_ready(self) -> bool:
        """Whether every model of the first configuration has been loaded, or could not be."""
        return self._is_ready

    def reload(self, message: Any, done: Callable[[OpError | None], None]) -> None:
        """Puts a ModelServerConfig in place of the current one. `done` is called when all of it is loaded, or
        with the error of what could not be.
        """
        try:
            self.configure(config.checked(message), done)
        except OpError as error:
            done(error)

    # ---- configuration

    def trust(self, configs: list[Any]) -> None:
        """Lets models at these base paths run code, if `--trust_models` is given: the operator names them.

        Paths that clients name are trusted only where clients need a token. Without one every user of this
        machine is a client.
        """
        self._own_paths |= {local_path(one.base_path) for one in configs}

    def configure(
        self, configs: list[Any], done: Callable[[OpError | None], None] = lambda error: None
    ) -> None:
        """Serves these models, and no others. All stays as it was if a label is refused (OpError)."""
        for one in configs:
            self.versions.check_labels(one.name, one.version_labels)
        old, self._configs = self._configs, {one.name: one for one in configs}
        self._found.clear()  # labels may have moved
        self.on_configured(configs)
        for name in old.keys() - self._configs.keys():
            self._apply(self.versions.removed(name))
            self._listed.discard(name)
        for name, one in self._configs.items():
            if name in old and _platform(old[name]) != _platform(one):
                self._apply(self.versions.removed(name))
                self._listed.discard(name)
            elif name in old and old[name].base_path != one.base_path:
                self._apply(self.versions.found(name, {}))  # what is loaded answers until others do
                self._listed.discard(name)
            self._apply(self.versions.configured(name, policy_of(one), dict(one.version_labels)))
        self._waiting.append((list(self._configs), done))
        self.poll()

    def configs(self) -> list[Any]:
        """The models that are to be served, as ModelConfigs."""
        return list(self._configs.values())

    def add(self, configs: list[Any]) -> None:
        """Serves these models too."""
        new = [one for one in configs if one.name not in self._configs]
        if new:
            self.configure([*self._configs.values(), *new])

    def poll(self) -> None:
        """Looks for versions at all base paths. While a look takes long, there is no second one beside it."""
        self._looks_again = self._is_looking
        if self._is_looking:
            return
        self._is_looking = True
        paths = {name: one.base_path for name, one in self._configs.items()}
        looking = self._loop.run_in_executor(None, _look, paths, self._known_sizes())
        looking.add_done_callback(self._polled)

    def _known_sizes(self) -> dict[str, int]:
        """The bytes of versions by path, but for those that could not be loaded: they may change."""
        changing = {
            self._paths.get((name, record.version))
            for name, model in self.versions.models.items()
            for record in model.versions.values()
            if record.failures or record.is_refused
        }
        return {path: size for path, size in self._sizes.items() if path not in changing}

    def _polled(self, looking: asyncio.Future[dict[str, dict[int, tuple[str, int]] | OSError]]) -> None:
        self._is_looking = False
        if looking.cancelled():
            return
        if self._looks_again:
            self.poll()
        for name, found in looking.result().items():
            if name not in self._configs:
                continue
            if isinstance(found, OSError):
                self._cannot_read(name, found)
                continue
            self._unreadable.discard(name)
            if not found and name not in self._listed:
                _log.warning("%s", _no_versions(self._configs[name]).message)
            self._listed.add(name)
            instructions = []
            for version, (path, size) in found.items():
                if self._paths.get((name, version), path) != path:
                    instructions += self.versions.replaced(name, version)
                self._paths[name, version], self._sizes[path] = path, size
            sizes = {version: size for version, (_, size) in found.items()}
            self._apply([*instructions, *self.versions.found(name, sizes)])
        self._check_waiting()

    def _cannot_read(self, name: str, error: OSError) -> None:
        if name not in self._unreadable:
            self._unreadable.add(name)
            _log.error("the versions of %s cannot be listed, and those loaded stay: %s", name, error)

    # ---- performing

    def _apply(self, instructions: list[Instruction]) -> None:
        for instruction in instructions:
            if isinstance(instruction, Load):
                self._load(instruction.model, instruction.version)
            elif isinstance(instruction, Unload):
                self._unload((instruction.model, instruction.version))
            elif isinstance(instruction, WakeAt):
                self._loop.call_at(instruction.time, self._wake)
            else:
                self._report(instruction)
        self._check_waiting()

    def _wake(self) -> None:
        self._apply(self.versions.woken(self._loop.time()))

    def _load(self, name: str, version: int) -> None:
        key = name, version
        try:
            platform, path = self._configs[name].model_platform, self._paths[key]
            in_background = bool(self._loaded)  # requests to these need the processors more
            trusted = self._options.trust_models and (
                bool(self._options.token_file) or is_within(path, self._own_paths)
            )
            message = load_message(self._options, name, version, path, platform, trusted, in_background)
            recent = self._recent(name)
            loaded = partial(self._loaded_or_failed, key)
            self._loading[key] = Loading(self._workers, self._options, self._metrics, message, recent, loaded)
        except (OpError, OSError) as error:
            problem = error if isinstance(error, OpError) else errors.internal(str(error))
            self._loop.call_soon(self._loaded_or_failed, key, problem, 0)

    def _recent(self, name: str) -> list[Any]:
        """Calls that another version of the model has answered lately."""
        versions = sorted(version for model, version in self._loaded if model == name)
        return list(self._loaded[name, versions[-1]].recent) if versions else []

    def _loaded_or_failed(
        self, key: Key, outcome: LocalServable | WorkerServable | OpError, memory: int
    ) -> None:
        self._loading.pop(key, None)
        if isinstance(outcome, OpError):
            self._apply(self.versions.failed(*key, outcome, self._loop.time()))
            return
        self._loaded[key] = outcome
        self._serving[key] = self._wrap(outcome)
        self._apply(self.versions.loaded(*key, memory))

    def _unload(self, key: Key) -> None:
        loading = self._loading.pop(key, None)
        if loading is not None:
            loading.cancel()
            self._loop.call_soon(self._unloaded, key)
            return
        self._serving.pop(key, None)
        self._scalings.pop(key, None)
        servable = self._loaded.pop(key)
        servable.when_idle(partial(self._close, key, servable))

    def _close(self, key: Key, servable: LocalServable | WorkerServable) -> None:
        servable.close()
        self._unloaded(key)

    def _unloaded(self, key: Key) -> None:
        self._apply(self.versions.unloaded(*key))

    def _report(self, changed: Changed) -> None:
        self._found.clear()
        what = f"{changed.model}:{changed.version}"
        if changed.error is not None:
            if self._said.get(what) is not changed.error:  # else it is not wanted any more, and still failed
                _log.error("%s cannot be served: %s", what, changed.error.message)
            self._said[what] = changed.error
        elif changed.state is State.AVAILABLE:
            _log.info("%s is served", what)
        elif changed.state is State.END:
            self._said.pop(what, None)
            _log.info("%s has been unloaded", what)

    # ---- who waits

    def _check_waiting(self) -> None:
        for entry in list(self._waiting):
            names, done = entry
            problems = [self._problem(name) for name in names]
            if _PENDING not in problems:
                self._waiting.remove(entry)
                self._is_ready = True
                done(next((problem for problem in problems if problem is not None), None))

    def _problem(self, name: str) -> OpError | None:
        """Why a model is not served, if that is known by now; `_PENDING` before."""
        model = self.versions.models.get(name)
        if model is None or name not in self._configs:
            return _SUPERSEDED
        if name in self._unreadable:
            path = self._configs[name].base_path
            return errors.not_found(f"Could not find base path {path} for servable {name}")
        wanted = [model.versions[version] for version in model.wanted() if version in model.versions]
        if not wanted:
            return _no_versions(self._configs[name]) if name in self._listed else _PENDING
        for record in wanted:
            if record.error is not None:
                return record.error
            if record.state is not State.AVAILABLE:
                return _PENDING
        return None

    # ---- replicas

    def scale(self) -> None:
        """Has as many replicas of each version as their queues need."""
        for key, servable in self._loaded.items():
            if isinstance(servable, WorkerServable):
                scaling = self._scalings.setdefault(
                    key, Autoscaling(self._options.replicas, self._options.max_replicas)
                )
                servable.scale(scaling, self._loop.time())

    # ---- the end

    def close(self) -> None:
        """Gives up what is being loaded, and closes what is."""
        for loading in self._loading.values():
            loading.cancel()
        for servable in self._loaded.values():
            servable.close()
        self._loading.clear()
        self._loaded.clear()
        self._serving.clear()
        self._found.clear()


_PENDING = errors.unavailable("It is being loaded.")
_SUPERSEDED = errors.aborted("Another configuration came before all of this one was loaded.")


def policy_of(model: Any) -> Policy:
    """The policy of a ModelConfig."""
    chosen = model.model_version_policy
    kind = chosen.WhichOneof("policy_choice")
    if kind == "all":
        return All()
    if kind == "specific":
        return Specific(frozenset(chosen.specific.versions))
    return Latest(chosen.latest.num_versions or 1)


def _platform(model: Any) -> str:
    """What the files of a model are, which need not be said of most."""
    return model.model_platform or "tensorflow"


def _no_versions(model: Any) -> OpError:
    return errors.not_found(
        f"No versions of servable {model.name} found under base path {model.base_path}. Did you forget to "
        "name your leaf directory as a number (eg. '/1/')?"
    )


def _look(paths: dict[str, str], sizes: dict[str, int]) -> dict[str, dict[int, tuple[str, int]] | OSError]:
    """The versions at each base path, with path and bytes of each. Runs in a thread of its own."""
    found: dict[str, dict[int, tuple[str, int]] | OSError] = {}
    for name, path in paths.items():
        try:
            versions = versions_in(path)
        except OSError as error:
            found[name] = error
            continue
        found[name] = {
            version: (folder, sizes[folder] if folder in sizes else bytes_in(folder))
            for version, folder in versions.items()
        }
    return found
