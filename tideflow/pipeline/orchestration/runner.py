"""Runs a pipeline here: each component once its inputs are there, and only where something changed.

A component writes into a folder with a random name. When it is done, the folder gets its final name, and then
one transaction says that its artifacts exist. A process that is killed at any moment leaves at most a folder
that nobody refers to. The next run removes it and begins that component again; all before it is cached.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import queue
import secrets
import shutil
import threading
import time
import traceback
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from tideflow.graph.errors import AbortedError, OpError, ResourceExhaustedError, UnavailableError
from tideflow.pipeline.orchestration import fingerprints, metadata
from tideflow.pipeline.orchestration.artifacts import Artifact
from tideflow.pipeline.orchestration.components import Channel, Context, Node, Resolved
from tideflow.pipeline.orchestration.locks import Lock, make_folder
from tideflow.pipeline.orchestration.metadata import Metadata, Outcome
from tideflow.pipeline.orchestration.pipelines import Pipeline
from tideflow.pipeline.orchestration.schedule import Schedule, Skip, Start

_PASSING = (OSError, AbortedError, ResourceExhaustedError, UnavailableError)
_NEVER_PASSING = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
_LONGEST_WORDS = 500  # of a parameter, in the metadata


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that a person who watches a run wants to know.

    Attributes:
        node: the node; empty for the run itself.
        state: "running" when it begins and while it proceeds, then how it ended.
        seconds: how long it took, where it has ended.
        done: how much of `total` is done.
        total: 0 where that is not known.
        unit: what is counted.
        words: reasons or an error.
    """

    node: str
    state: str
    seconds: float = 0.0
    done: int = 0
    total: int = 0
    unit: str = ""
    words: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Result:
    """How a run ended.

    Attributes:
        run: its number.
        state: "complete", "refused" where a component stopped what depends on it, or "failed".
        states: by node.
        reasons: by node that failed, refused or was skipped.
        outputs: by node and name, the artifacts of this run.
    """

    run: int
    state: str
    states: dict[str, str]
    reasons: dict[str, tuple[str, ...]]
    outputs: dict[str, dict[str, Artifact]]


def run(
    pipeline: Pipeline,
    listener: Callable[[Event], None] = lambda event: None,
    force: Collection[str] = (),
    sleep: Callable[[float], None] = time.sleep,
) -> Result:
    """Runs a pipeline; goes on with its latest run where that was killed.

    Args:
        pipeline: the pipeline.
        listener: is told what happens.
        force: names of nodes that run even if nothing changed.
        sleep: waits between attempts.
    """
    unknown = set(force) - {node.name for node in pipeline.components}
    if unknown:
        raise ValueError(f"{pipeline.name} has no component {', '.join(sorted(unknown))}")
    make_folder(pipeline.root)
    store = Metadata(pipeline.metadata_url)
    try:
        return _Run(pipeline, store, listener, frozenset(force), sleep).run()
    finally:
        store.close()


@dataclasses.dataclass(frozen=True)
class _Ended:
    """How a node ended: its outcome, or the error that it ended with."""

    node: str
    state: str
    seconds: float
    outcome: Outcome | None = None
    error: BaseException | None = None


class _Steps:
    """What a schedule says is to be done, up to where it waits."""

    def __init__(self, schedule: Schedule) -> None:
        self.started: list[Start] = []
        self.skipped: list[Skip] = []
        while isinstance(step := schedule.next(), (Start, Skip)):
            if isinstance(step, Start):
                self.started.append(step)
            else:
                self.skipped.append(step)


class _Run:
    """One run of a pipeline."""

    def __init__(
        self,
        pipeline: Pipeline,
        store: Metadata,
        listener: Callable[[Event], None],
        force: frozenset[str],
        sleep: Callable[[float], None],
    ) -> None:
        self.pipeline, self.store = pipeline, store
        self.listener = _one_at_a_time(listener)
        self.force, self.sleep = force, sleep
        self.root = pipeline.root
        self.locks = make_folder(self.root / ".locks")
        self.nodes = {node.name: node for node in pipeline.components}
        self.outputs: dict[str, dict[str, Artifact]] = {}
        self.states: dict[str, str] = {}
        self.reasons: dict[str, tuple[str, ...]] = {}
        self.number = 0

    def run(self) -> Result:
        lock = self._begin()
        state = metadata.KILLED
        try:
            self._run_all()
            found = set(self.states.values())
            state = next((s for s in (metadata.FAILED, metadata.REFUSED) if s in found), metadata.COMPLETE)
        finally:  # while it has the lock: a run that has none and no end was killed
            try:
                self._note_end(state)
            finally:
                lock.give_back()
        return Result(self.number, state, self.states, self.reasons, self.outputs)

    def _note_end(self, state: str) -> None:
        if state == metadata.KILLED:
            self.store.end_killed_run(self.number)  # nodes that still run in threads publish nothing then
        else:
            self.store.end_run(self.number, state)

    # ------------------------------------------------------------------------------------------ its beginning

    def _begin(self) -> Lock:
        """Begins a run, or goes on with the latest if that was killed. The lock says that this one lives."""
        plan = self.pipeline.plan()
        with Lock(self.locks / "beginning"):
            runs = [row for row in self.store.runs(self.pipeline.name) if Path(row["root"]) == self.root]
            for row in runs:
                lock = self._lock_of(row["id"])
                if row["state"] == metadata.RUNNING and lock.take(wait=False):
                    # It may have ended since the rows were read: it notes that while it has its lock.
                    row["state"] = self.store.run(row["id"])["state"]
                    if row["state"] == metadata.RUNNING:
                        self.store.end_killed_run(row["id"])
                        row["state"] = metadata.KILLED
                    lock.give_back()
            if runs and runs[0]["state"] == metadata.KILLED:
                self.number = runs[0]["id"]
                self.store.resume_run(self.number, plan)
            else:
                self.number = self.store.begin_run(self.pipeline.name, self.root, plan)
            lock = self._lock_of(self.number)
            lock.take()
            self._sweep()
            return lock

    def _lock_of(self, run: int) -> Lock:
        return Lock(self.locks / f"run-{run}")

    def _sweep(self) -> None:
        """Removes what executions that have ended left unfinished."""
        for node, token, is_published in self.store.ended_tokens(self.pipeline.name):
            folder = self.root / node
            left = (
                [folder / f".{token}"] if is_published else [folder / f".{token}", *folder.glob(f"*/{token}")]
            )
            for each in left:
                shutil.rmtree(each, ignore_errors=True)

    # ---------------------------------------------------------------------------------------------- its nodes

    def _run_all(self) -> None:
        """Runs the nodes: one by itself in this thread, which a signal interrupts, and several in threads."""
        schedule = self.pipeline.schedule()
        steps = _Steps(schedule)
        ended: queue.SimpleQueue[_Ended] = queue.SimpleQueue()
        running = 0
        while True:
            for skip in steps.skipped:
                self.store.skip(self.number, skip.node, skip.reasons)
                self._end(skip.node, metadata.SKIPPED, skip.reasons)
            if not running and not steps.started:
                return
            if not running and len(steps.started) == 1:
                end = self._ended(steps.started[0].node)
            else:
                for step in steps.started:
                    work = functools.partial(self._put_ended, step.node, ended)
                    threading.Thread(target=work, name=f"pipeline-{step.node}", daemon=True).start()
                running += len(steps.started)
                end = ended.get()
                running -= 1
            self._note(end, schedule)
            steps = _Steps(schedule)

    def _put_ended(self, node: str, ended: queue.SimpleQueue[_Ended]) -> None:
        ended.put(self._ended(node, (BaseException,)))

    def _ended(self, node: str, caught: tuple[type[BaseException], ...] = (Exception,)) -> _Ended:
        """Runs a node; how it ended."""
        began = time.monotonic()
        try:
            outcome, state = self._execute(self.nodes[node])
            return _Ended(node, state, time.monotonic() - began, outcome)
        except caught as error:
            return _Ended(node, metadata.FAILED, time.monotonic() - began, error=error)

    def _note(self, end: _Ended, schedule: Schedule) -> None:
        """Notes how a node ended. What interrupted it interrupts the run."""
        if end.outcome is None:
            if not isinstance(end.error, Exception):
                raise end.error or RuntimeError(end.node)
            words: tuple[str, ...] = (_in_words(end.error),)
            schedule.stop(end.node, words)
            self._end(end.node, metadata.FAILED, words, end.seconds)
            return
        self.outputs[end.node] = end.outcome.outputs
        words = tuple(end.outcome.refusals)
        if words:
            schedule.stop(end.node, words)
        else:
            schedule.end(end.node)
        self._end(end.node, metadata.REFUSED if words else end.state, words, end.seconds)

    def _end(self, node: str, state: str, words: tuple[str, ...], seconds: float = 0.0) -> None:
        self.states[node] = state
        if words:
            self.reasons[node] = words
        self.listener(Event(node, state, seconds, words=words))

    def _execute(self, node: Node) -> tuple[Outcome, str]:
        inputs = self._inputs(node)
        reads = node.component.reads
        files = reads(**node.parameters) if reads is not None else None
        key = self._key(node, inputs, files)
        with Lock(self.locks / f"key-{key}"):  # whoever does the same work at the same time waits for it
            outcome = None
            if node.name not in self.force:
                outcome = self.store.find_outcome(self.pipeline.name, node.name, key)
            if outcome is not None:
                self.store.reuse(self.number, node.name, key, inputs, outcome)
                return outcome, metadata.CACHED
            self.listener(Event(node.name, metadata.RUNNING))
            return self._attempt(node, key, inputs, files), metadata.COMPLETE

    def _attempt(self, node: Node, key: str, inputs: dict[str, Artifact], files: Any) -> Outcome:
        token = secrets.token_hex(6)
        words = {name: repr(value)[:_LONGEST_WORDS] for name, value in node.parameters.items()}
        execution = self.store.begin_execution(self.number, node.name, key, token, words)
        folder = self.root / node.name
        partial = folder / f".{token}"
        work = make_folder(folder / ".work" / key)
        attempt = 0
        while True:
            attempt += 1
            outputs = {
                name: kind(make_folder(partial / name)) for name, kind in node.component.outputs.items()
            }
            context = Context(files, work, self.pipeline.workers, self.pipeline.ray)
            context.progress, context.say = self._progress_of(node), self._say_of(node)
            try:
                node.component.function(context, **_given(node, inputs), **outputs, **node.parameters)
                if context.files is not files:
                    self.store.set_key(execution, self._key(node, inputs, context.files))
                published = self._publish(execution, token, inputs, outputs, context.refusals, folder)
                shutil.rmtree(partial, ignore_errors=True)
                shutil.rmtree(work, ignore_errors=True)
                return published
            except BaseException as error:
                shutil.rmtree(partial, ignore_errors=True)
                may_pass = isinstance(error, _PASSING) and not isinstance(error, _NEVER_PASSING)
                if may_pass and attempt <= self.pipeline.retries:
                    told = (f"{_in_words(error)}; attempt {attempt + 1} follows",)
                    self.listener(Event(node.name, metadata.RUNNING, words=told))
                    self.sleep(2.0 ** (attempt - 1))
                    continue
                state = metadata.FAILED if isinstance(error, Exception) else metadata.KILLED
                self.store.fail(execution, traceback.format_exc(), attempt, state)
                raise

    def _publish(
        self,
        execution: int,
        token: str,
        inputs: Mapping[str, Artifact],
        outputs: Mapping[str, Artifact],
        refusals: list[str],
        folder: Path,
    ) -> Outcome:
        spans = [each.properties["span"] for each in inputs.values() if "span" in each.properties]
        final = {}
        for name, artifact in outputs.items():
            if spans:
                artifact.properties.setdefault("span", max(spans))
            place = make_folder(folder / name) / token
            os.rename(artifact.uri, place)
            fingerprint = self.store.fingerprint_of(place)
            final[name] = dataclasses.replace(artifact, uri=place, fingerprint=fingerprint)
        return Outcome(execution, self.store.publish(execution, inputs, final, refusals), refusals)

    def _progress_of(self, node: Node) -> Callable[[int, int, str], None]:
        def progress(done: int, total: int, unit: str) -> None:
            self.listener(Event(node.name, metadata.RUNNING, done=done, total=total, unit=unit))

        return progress

    def _say_of(self, node: Node) -> Callable[[str], None]:
        return lambda words: self.listener(Event(node.name, metadata.RUNNING, words=(words,)))

    # -------------------------------------------------------------------------------------------- its inputs

    def _key(self, node: Node, inputs: Mapping[str, Artifact], files: Any) -> str:
        """The digest of all that a node's result depends on."""
        return fingerprints.of_value(
            [
                node.component.function,
                node.parameters,
                {name: [each.fingerprint, each.properties] for name, each in inputs.items()},
                self._contents(files),
            ]
        )

    def _contents(self, files: Any) -> Any:
        """The structure of what a node reads, with digests in the place of paths."""
        if isinstance(files, Mapping):
            return {name: self._contents(each) for name, each in files.items()}
        if isinstance(files, (list, tuple)):
            return [self._contents(each) for each in files]
        return [files.name, self.store.fingerprint_of(files)] if isinstance(files, Path) else files

    def _inputs(self, node: Node) -> dict[str, Artifact]:
        found = {}
        for name, given in node.inputs.items():
            if isinstance(given, Channel):
                found[name] = self.outputs[given.node.name][given.name]
        span = max((each.properties.get("span", 0) for each in found.values()), default=0)
        for name, given in node.inputs.items():
            if isinstance(given, Resolved):
                earlier = self._resolve(given, span)
                if earlier is not None:
                    found[name] = earlier
        return found

    def _resolve(self, wanted: Resolved, span: int) -> Artifact | None:
        channel = wanted.channel
        candidates = self.store.artifacts_at(self.pipeline.name, channel.node.name, channel.name)
        if wanted.rule == "before":
            current = self.outputs[channel.node.name][channel.name]
            candidates = [each for each in candidates if each.id < current.id]
            candidates = [each for each in candidates if each.fingerprint != current.fingerprint]
        else:
            candidates = [each for each in candidates if each.properties.get("span", span) < span]
            candidates.sort(key=lambda each: (each.properties["span"], each.id), reverse=True)
        for each in candidates:
            if each.uri.is_dir() and (not wanted.blessed or self.store.is_blessed(each)):
                return each
        return None


def _one_at_a_time(listener: Callable[[Event], None]) -> Callable[[Event], None]:
    lock = threading.Lock()

    def listen(event: Event) -> None:
        with lock:
            listener(event)

    return listen


def _given(node: Node, inputs: Mapping[str, Artifact]) -> dict[str, Artifact | None]:
    return {name: inputs.get(name) for name in node.component.inputs}


def _in_words(error: BaseException) -> str:
    message = error.message if isinstance(error, OpError) else str(error)
    return f"{type(error).__name__}: {message}"
