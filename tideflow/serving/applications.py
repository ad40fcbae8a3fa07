"""Clipper's applications: several models behind one question, answered in time, that learn from feedback.

An application has a policy (`selection.py`), an objective and a default answer. A query asks the models that
the policy selects, and is answered when all have answered, or at the objective with what has come. Feedback
finds the models that answered the query, and what they said, in the prediction cache.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from tideflow.graph import errors
from tideflow.graph.errors import DeadlineExceededError, OpError
from tideflow.serving.cache import CachedServable, PredictionCache
from tideflow.serving.calls import DEFAULT_SIGNATURE, Array, Arrays, Call, Servable, Signature, TensorSpec
from tideflow.serving.selection import Policy, State, chances, make_policy
from tideflow.serving.selection_state import States

INPUT_TYPES = {
    "integers": "i",
    "floats": "f",
    "doubles": "f",
    "bytes": "S",
    "strings": "S",
}  # kinds of arrays
LATE = "Failed to retrieve a prediction response within the specified latency SLO"
NO_MODELS = "No connected models found for query"
REMEMBERED_QUERIES = 100_000  # whose models are known when feedback comes
FEEDBACK_SECONDS = 5.0  # that models have to answer an input again, for feedback on it

_SAVED = ("", "applications")  # where the store has the applications themselves


class Models(Protocol):
    """Where servables come from (`manager.Manager`)."""

    def find(self, name: str, version: int | None = None, label: str | None = None) -> Servable:
        """The version that answers."""


@dataclass
class Application:
    """A question that several models can answer."""

    name: str
    input_type: str
    default_output: Any
    objective: float  # seconds
    policy: str | dict[str, Any] = "single"  # as `make_policy` takes it
    threshold: float = 0.0  # of confidence, below which the default answers
    output: str = ""  # the output of the models that is the answer, or their first one
    per_user: bool = False  # whether what is learned is learned for each user apart
    models: list[str] = field(default_factory=list)  # those linked, in order
    chooser: Policy = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", self.name):
            raise errors.invalid_argument(
                f"name {self.name!r} must be lower-case letters, digits and inner hyphens, at most 63 of them"
            )
        if self.input_type not in INPUT_TYPES:
            raise errors.invalid_argument(
                f"input_type {self.input_type!r} must be one of {', '.join(INPUT_TYPES)}"
            )
        if not 0 < self.objective < 3600:
            raise errors.invalid_argument("the latency objective must be above 0 and less than an hour")
        self.chooser = make_policy(self.policy)

    def saved(self) -> dict[str, Any]:
        """What `Application(**saved)` takes."""
        return {name: value for name, value in vars(self).items() if name != "chooser"}


class Answer(NamedTuple):
    """What a query comes to."""

    output: Any
    explanation: str  # why it is the default; empty where it is not
    confidence: float
    models: Sequence[str]  # those that were asked


@dataclass
class Query:
    """The models that were asked, and what has come. No clock is in here."""

    application: Application
    state: State
    asked: list[str]
    outputs: dict[str, Array] = field(default_factory=dict)
    failures: dict[str, OpError] = field(default_factory=dict)
    is_answered: bool = False

    def arrived(self, model: str, outcome: Array | OpError) -> None:
        """A model has answered, or failed."""
        if isinstance(outcome, OpError):
            self.failures[model] = outcome
        else:
            self.outputs[model] = outcome

    @property
    def is_complete(self) -> bool:
        """Whether nothing more can come."""
        return len(self.outputs) + len(self.failures) == len(self.asked)

    def answer(self, means: Mapping[str, Array]) -> Answer:
        """What has come, combined; `means` stand in for what has not. The default, if that is not enough."""
        application = self.application
        late = {model: means[model] for model in self.asked if model not in self.outputs and model in means}
        combined = None
        if self.outputs:
            combined = application.chooser.combine(self.state, self.asked, self.outputs, late)
        if combined is None:
            return Answer(application.default_output, self._why_nothing(), 0.0, self.asked)
        if combined.confidence < application.threshold:
            why = f"confidence {combined.confidence:.3g} is below the threshold {application.threshold:.3g}"
            if len(self.outputs) < len(self.asked):
                why += f"; {self._why_nothing()}"
            return Answer(application.default_output, why, combined.confidence, self.asked)
        return Answer(combined.output, "", combined.confidence, self.asked)

    def _why_nothing(self) -> str:
        if not self.asked:
            return NO_MODELS
        faults = [
            f"model {model}: {error.message}"
            for model, error in self.failures.items()
            if not isinstance(error, DeadlineExceededError)
        ]
        return "; ".join(faults) if faults else LATE


def input_array(input_type: str, value: Any) -> Array:
    """An input as it came in JSON (bytes are bytes already), as an array."""
    if INPUT_TYPES[input_type] == "S":
        if not isinstance(value, str | bytes):
            raise errors.invalid_argument(f"an input of type {input_type} is a string")
        return np.array([value.encode() if isinstance(value, str) else value], object)
    wanted = (int,) if input_type == "integers" else (int, float)
    if not isinstance(value, list) or any(type(number) not in wanted for number in value):
        raise errors.invalid_argument(f"an input of type {input_type} is a list of numbers of this type")
    try:
        return np.array(value, np.int64 if input_type == "integers" else np.float64)
    except OverflowError as error:
        raise errors.invalid_argument(str(error)) from None


def only_input(name: str, signature: Signature | None) -> tuple[str, TensorSpec]:
    """The input of a model that can answer applications."""
    if signature is None or len(signature.inputs) != 1:
        raise errors.failed_precondition(
            f"model {name} cannot answer applications: its signature {DEFAULT_SIGNATURE} must have one input"
        )
    ((key, spec),) = signature.inputs.items()
    return key, spec


def model_inputs(name: str, signature: Signature | None, value: Array) -> Arrays:
    """An input of an application as one row of the input of a model."""
    key, spec = only_input(name, signature)
    dtype = np.dtype(spec.dtype.numpy)
    is_text = dtype.kind == "O"
    if is_text != (value.dtype.kind == "O"):
        raise errors.invalid_argument(f"model {name} takes {spec.dtype.name}")
    rows: tuple[int | None, ...] = (None,) if is_text else (None, None)
    shape = rows if spec.shape is None else spec.shape
    sizes = [1 if index == 0 and size is None else size for index, size in enumerate(shape)]
    try:
        return {
            key: value.astype(dtype, copy=False).reshape([-1 if size is None else size for size in sizes])
        }
    except ValueError:
        known = " × ".join("?" if size is None else str(size) for size in shape[1:]) or "1"
        raise errors.invalid_argument(
            f"model {name} takes {known} values, and the input has {value.size}"
        ) from None


@dataclass(slots=True)
class _RunningMean:
    """The mean of what a model has said, the last thousand answers or so."""

    value: Array | None = None
    count: int = 0

    def add(self, output: Array) -> None:
        if output.dtype.kind != "f":
            return
        if self.value is None or self.value.shape != output.shape:
            self.value, self.count = output.astype(np.float64), 1
        else:
            self.count = min(self.count + 1, 1000)
            self.value = self.value + (output - self.value) / self.count


Done: TypeAlias = Callable[[Answer], None]


def _of_one_row(
    output: str, has_rows: bool, then: Callable[[Array | OpError], None], outcome: Arrays | OpError
) -> None:
    if isinstance(outcome, OpError):
        then(outcome)
    else:
        array = outcome[output]
        then(array[:1].reshape(array.shape[1:]) if has_rows else array)


class Applications:
    """The applications of a server. Called on the loop's thread, and calls back on it."""

    def __init__(self, models: Models, states: States, cache_bytes: int = 32 << 20) -> None:
        self.applications: dict[str, Application] = {}
        self.versions: dict[str, int] = {}  # of models whose version was set by hand
        self.cache = PredictionCache(cache_bytes)
        self.queries: dict[str, int] = {}
        self.defaults: dict[str, int] = {}  # queries that the default answered
        self.weights: dict[str, dict[str, float]] = {}  # of the models, after the latest feedback
        self._models, self._states = models, states
        self._loop = asyncio.get_running_loop()
        self._cached: dict[tuple[str, int], CachedServable] = {}
        self._means: dict[tuple[str, str], _RunningMean] = {}
        self._asked: OrderedDict[bytes, list[str]] = OrderedDict()

    # ---- configuration

    def load(self, then: Callable[[], None] = lambda: None) -> None:
        """Brings back the applications that the store has."""

        def loaded(state: State | None) -> None:
            for saved in (state or {}).get("applications", []):
                application = Application(**saved)
                self.applications.setdefault(application.name, application)
            for model, version in (state or {}).get("versions", {}).items():
                self.versions.setdefault(model, version)
            then()

        self._states.get(_SAVED, loaded)

    def _save(self) -> None:
        applications = [application.saved() for application in self.applications.values()]
        self._states.put(_SAVED, {"applications": applications, "versions": dict(self.versions)})

    def add(self, application: Application) -> None:
        """Adds an application."""
        if application.name in self.applications:
            raise errors.already_exists(f"Application {application.name} already exists")
        self.applications[application.name] = application
        self._save()

    def delete(self, name: str) -> None:
        """Removes an application, and what it has learned for all users together."""
        self.find(name)
        del self.applications[name]
        self.weights.pop(name, None)
        self._states.put((name, ""), None)
        self._save()

    def find(self, name: str) -> Application:
        """The application of a name."""
        application = self.applications.get(name)
        if application is None:
            raise errors.not_found(f"No application with name {name} found")
        return application

    def link(self, name: str, models: Sequence[str]) -> None:
        """Lets models answer the application's queries."""
        application = self.find(name)
        for model in models:
            servable = self._models.find(model, self.versions.get(model))
            only_input(model, servable.signatures.get(DEFAULT_SIGNATURE))
        application.models += [model for model in dict.fromkeys(models) if model not in application.models]
        self._save()

    def unlink(self, name: str, models: Sequence[str]) -> None:
        """Lets models answer no more."""
        application = self.find(name)
        missing = [model for model in models if model not in application.models]
        if missing:
            raise errors.not_found(f"Application {name} is not linked to {', '.join(missing)}")
        application.models = [model for model in application.models if model not in models]
        self._save()

    def set_version(self, model: str, version: int | None) -> None:
        """Has queries answered by this version of a model, or with None by its latest."""
        self._models.find(model, version)
        if version is None:
            self.versions.pop(model, None)
        else:
            self.versions[model] = version
        self._save()

    # ---- queries and feedback

    def predict(self, name: str, value: Array, user: str, done: Done, version: int | None = None) -> None:
        """Answers a query. `version` asks for one of the models other than the current one."""
        application = self.find(name)
        deadline = self._loop.time() + application.objective

        def ask(state: State | None) -> None:
            self._ask(application, state, value, user, deadline, version, done)

        self._states.get(_context(application, user), ask)

    def _ask(
        self,
        application: Application,
        known: State | None,
        value: Array,
        user: str,
        deadline: float,
        version: int | None,
        done: Done,
    ) -> None:
        chooser = application.chooser
        state = known if known is not None else chooser.init()
        draw = _draw_of(application.name, user) if chooser.is_sticky else random.random()
        query = Query(application, state, chooser.select(state, application.models, draw))
        if chooser.learns:
            self._remember(_digest(application, user, value), query.asked)
            if application.name not in self.weights:  # as it was before a restart
                self.weights[application.name] = chances(state, application.models)
        timer: asyncio.TimerHandle | None = None

        def answer() -> None:
            if not query.is_answered:
                query.is_answered = True
                if timer is not None:
                    timer.cancel()
                done(self._answered(query))

        def arrived(model: str, outcome: Array | OpError) -> None:
            query.arrived(model, outcome)
            if not isinstance(outcome, OpError):
                self._means.setdefault((application.name, model), _RunningMean()).add(outcome)
            if query.is_complete:
                answer()

        self._call(query.asked, application, value, deadline, version, arrived)
        if not query.asked:
            answer()
        elif not query.is_answered:
            timer = self._loop.call_at(deadline, answer)

    def _answered(self, query: Query) -> Answer:
        name = query.application.name
        means = {
            model: mean.value
            for model in query.asked
            if (mean := self._means.get((name, model))) is not None and mean.value is not None
        }
        made = query.answer(means)
        self.queries[name] = self.queries.get(name, 0) + 1
        if made.explanation:
            self.defaults[name] = self.defaults.get(name, 0) + 1
        return made

    def _call(
        self,
        models: Sequence[str],
        application: Application,
        value: Array,
        deadline: float,
        version: int | None,
        arrived: Callable[[str, Array | OpError], None],
    ) -> None:
        """Asks each of the models for its answer to one row."""
        for model in models:
            try:
                servable = self._servable(model, version)
                signature = servable.signatures.get(DEFAULT_SIGNATURE)
                inputs = model_inputs(model, signature, value)
                assert signature is not None
                output = application.output or next(iter(signature.outputs))
                if output not in signature.outputs:
                    raise errors.failed_precondition(f"model {model} has no output {output}")
            except OpError as error:
                arrived(model, error)
                continue
            has_rows = signature.outputs[output].has_rows
            done = partial(_of_one_row, output, has_rows, partial(arrived, model))
            servable.submit(Call(DEFAULT_SIGNATURE, inputs, (output,), 1, deadline, done))

    def _servable(self, model: str, version: int | None) -> CachedServable:
        found = self._models.find(model, self.versions.get(model) if version is None else version)
        key = (found.name, found.version)
        cached = self._cached.get(key)
        if cached is None or cached.servable is not found:
            if cached is not None:
                self.cache.forget(*key)  # the same number, and another model
            cached = self._cached[key] = CachedServable(found, self.cache)
        return cached

    def _remember(self, digest: bytes, asked: list[str]) -> None:
        self._asked[digest] = asked
        self._asked.move_to_end(digest)
        if len(self._asked) > REMEMBERED_QUERIES:
            self._asked.popitem(last=False)

    def update(
        self, name: str, value: Array, feedback: Any, user: str, done: Callable[[OpError | None], None]
    ) -> None:
        """The right answer to a query, now or later: the policy observes what its models said to it."""
        application = self.find(name)
        chooser = application.chooser
        context = _context(application, user)
        if not chooser.learns:
            done(None)
            return

        def ask(known: State | None) -> None:
            state = known if known is not None else chooser.init()
            asked = self._asked.get(_digest(application, user, value))
            if asked is None:
                asked = chooser.select(state, application.models, random.random())
            query = Query(application, state, asked)

            def arrived(model: str, outcome: Array | OpError) -> None:
                query.arrived(model, outcome)
                if query.is_complete:
                    self._states.get(context, lambda latest: observe(latest, query))

            self._call(asked, application, value, self._loop.time() + FEEDBACK_SECONDS, None, arrived)
            if not asked:
                done(errors.failed_precondition(NO_MODELS))

        def observe(known: State | None, query: Query) -> None:
            if not query.outputs:
                done(next(iter(query.failures.values())))
                return
            state = known if known is not None else chooser.init()
            state = chooser.observe(state, application.models, feedback, query.outputs)
            self._states.put(context, state)
            self.weights[name] = chances(state, application.models)
            done(None)

        self._states.get(context, ask)

    def state(self, name: str, user: str, then: Callable[[State], None]) -> None:
        """What the application has learned, of the user if it learns of each apart."""
        application = self.find(name)
        self._states.get(
            _context(application, user),
            lambda state: then(application.chooser.init() if state is None else state),
        )


def _context(application: Application, user: str) -> tuple[str, str]:
    return application.name, user if application.per_user else ""


def _draw_of(name: str, user: str) -> float:
    """The same number for the same user of an application; a random one for nobody in particular."""
    if not user:
        return random.random()
    return int.from_bytes(hashlib.blake2b(f"{name}\0{user}".encode(), digest_size=6).digest(), "big") / 2**48


def _digest(application: Application, user: str, value: Array) -> bytes:
    made = hashlib.blake2b(f"{application.name}\0{user}\0{value.dtype.str}\0".encode(), digest_size=16)
    made.update(value[0] if value.dtype == object else value.data)
    return made.digest()
