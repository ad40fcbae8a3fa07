"""Which models of an application answer a query, how their answers become one, and what feedback changes.

A policy is Clipper's four functions, `init`, `select`, `combine` and `observe`, over a state that is plain
data: nothing is drawn, timed or stored in here. A draw is a number in [0, 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from tideflow.graph import errors
from tideflow.serving.calls import Array

State: TypeAlias = dict[str, Any]  # what JSON can hold


class Combined(NamedTuple):
    """One answer of several, and how sure the models are of it: 1 where all agree, and are in time."""

    output: Array
    confidence: float


class Policy:
    """How an application chooses among its models. By default one model is asked, and nothing is learned."""

    is_sticky: ClassVar[bool] = False  # whether a user gets the same draw each time
    learns: ClassVar[bool] = False  # whether feedback changes anything

    def init(self) -> State:
        """The state before any feedback."""
        return {}

    def select(self, state: State, models: Sequence[str], draw: float) -> list[str]:
        """The models that are asked: the one that was linked first."""
        return list(models[:1])

    def combine(
        self, state: State, models: Sequence[str], outputs: Mapping[str, Array], late: Mapping[str, Array]
    ) -> Combined | None:
        """The answer of the models asked, from the `outputs` that came; None where nothing can be said.

        `late` has what stands in for outputs that are late: the mean of what the model has said so far.
        """
        (model,) = models
        return Combined(outputs[model], 1.0) if model in outputs else None

    def observe(
        self, state: State, models: Sequence[str], feedback: Any, outputs: Mapping[str, Array]
    ) -> State:
        """The state after the right answer to a query was told, given what models answered."""
        return state


Loss: TypeAlias = Callable[[Array, Any], float]  # of an output, against the right answer; from 0 to 1


def label_of(output: Array) -> Hashable:
    """The class that an output names: itself, or, of scores, the place of the highest."""
    if output.size > 1 and output.dtype.kind == "f":
        return int(output.argmax())
    value: Hashable = output.item() if output.size == 1 else tuple(output.ravel().tolist())
    return value


def zero_one(output: Array, feedback: Any) -> float:
    """0 where the output names the right class, 1 where it does not."""
    said = label_of(output)
    if isinstance(said, bytes) and isinstance(feedback, str):
        feedback = feedback.encode()
    return float(said != feedback)


def absolute(output: Array, feedback: Any) -> float:
    """The distance from the right number, at most 1."""
    return min(1.0, float(np.abs(np.asarray(output, np.float64) - np.asarray(feedback, np.float64)).mean()))


LOSSES: dict[str, Loss] = {"zero_one": zero_one, "absolute": absolute}


# -------------------------------------------------------------------------------------------------- one model


@dataclass(frozen=True)
class Single(Policy):
    """One model: the one named, or the one that was linked first."""

    model: str = ""

    def select(self, state: State, models: Sequence[str], draw: float) -> list[str]:
        """The model."""
        return [model for model in models if model == self.model] if self.model else list(models[:1])


@dataclass(frozen=True)
class Shares(Policy):
    """Each model answers a share of the users: an A/B test, or a canary. Each user keeps the same model."""

    shares: Mapping[str, float]
    is_sticky: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.shares or any(not 0 <= share < math.inf for share in self.shares.values()):
            raise errors.invalid_argument(
                f"shares of models must be numbers that are not negative: {self.shares}"
            )
        if not sum(self.shares.values()):
            raise errors.invalid_argument("at least one model must have a share above 0")

    def select(self, state: State, models: Sequence[str], draw: float) -> list[str]:
        """The model into whose share the draw falls, among those that are linked."""
        return _drawn({model: self.shares.get(model, 0.0) for model in models}, draw)


def _drawn(weights: Mapping[str, float], draw: float) -> list[str]:
    rest = draw * sum(weights.values())
    chosen: list[str] = []
    for model, weight in weights.items():
        if weight > 0:
            chosen = [model]
            rest -= weight
            if rest < 0:
                break
    return chosen


@dataclass(frozen=True)
class Exp3(Policy):
    """Asks one model, drawn by its weight, which falls with the loss of its answers.

    A model is asked the less the more it has erred, so its loss counts for one over its chance to be asked.
    At each observation a `share` of all weight is spread evenly: a model that was broken comes back once it
    is mended (Exp3.S of Auer and others, 2002).
    """

    rate: float = 0.1
    share: float = 0.001
    loss: str = "zero_one"
    learns: ClassVar[bool] = True

    def init(self) -> State:
        """No model has a weight of its own yet."""
        return {"weights": {}}

    def select(self, state: State, models: Sequence[str], draw: float) -> list[str]:
        """One model, with the chance of its weight."""
        return _drawn(chances(state, models), draw)

    def observe(
        self, state: State, models: Sequence[str], feedback: Any, outputs: Mapping[str, Array]
    ) -> State:
        """The weight of the model that was asked falls with its loss."""
        before = chances(state, models)
        losses = {
            model: LOSSES[self.loss](output, feedback) / before[model]
            for model, output in outputs.items()
            if model in before
        }
        return _weighed(before, losses, self.rate, self.share)


def chances(state: State, models: Sequence[str]) -> dict[str, float]:
    """The weights of the models, together 1. A model that is new has the mean of the others."""
    known = {model: state["weights"][model] for model in models if model in state["weights"]}
    usual = sum(known.values()) / len(known) if known else 1.0
    weights = {model: known.get(model, usual) for model in models}
    total = sum(weights.values())
    return {model: weight / total for model, weight in weights.items()}


def _weighed(before: dict[str, float], losses: dict[str, float], rate: float, share: float) -> State:
    least = min(losses.values()) if len(losses) == len(before) else 0.0  # what all lost says nothing
    after = {
        model: weight * math.exp(-rate * (losses.get(model, least) - least))
        for model, weight in before.items()
    }
    total = sum(after.values())
    even = share / len(after) if after else 0.0
    return {"weights": {model: (1 - share) * weight / total + even for model, weight in after.items()}}


# -------------------------------------------------------------------------------------------------- ensembles


@dataclass(frozen=True)
class Majority(Policy):
    """Asks all models; what most of them say is the answer, and their share of all is the confidence."""

    def select(self, state: State, models: Sequence[str], draw: float) -> list[str]:
        """All models."""
        return list(models)

    def combine(
        self, state: State, models: Sequence[str], outputs: Mapping[str, Array], late: Mapping[str, Array]
    ) -> Combined | None:
        """The vote of those in time. A late model has none, but counts among those who could have agreed."""
        return _vote(dict.fromkeys(models, 1 / len(models)), outputs)


def _vote(weights: Mapping[str, float], outputs: Mapping[str, Array]) -> Combined | None:
    votes: dict[Hashable, float] = {}
    first: dict[Hashable, Array] = {}
    for model, output in outputs.items():
        label = label_of(output)
        votes[label] = votes.get(label, 0.0) + weights.get(model, 0.0)
        first.setdefault(label, output)
    if not votes:
        return None
    winner = max(votes, key=lambda label: votes[label])
    return Combined(first[winner], min(votes[winner], 1.0))


@dataclass(frozen=True)
class Mean(Majority):
    """Asks all models; the mean of their numbers is the answer, the share that agrees with it the confidence.

    Outputs agree that name the same class, if they are scores; numbers, if they are within `tolerance`.
    """

    tolerance: float = 0.1

    def combine(
        self, state: State, models: Sequence[str], outputs: Mapping[str, Array], late: Mapping[str, Array]
    ) -> Combined | None:
        """The mean, with the usual answers of those who are late."""
        return _mean(dict.fromkeys(models, 1 / len(models)), outputs, late, self.tolerance)


def _mean(
    weights: Mapping[str, float], outputs: Mapping[str, Array], late: Mapping[str, Array], tolerance: float
) -> Combined | None:
    said = {**late, **outputs}
    total = sum(weights.get(model, 0.0) for model in said)
    if not outputs or not total:
        return None
    mean = np.asarray(
        sum(weights.get(model, 0.0) * np.asarray(output) for model, output in said.items()) / total
    )

    def agrees(output: Array) -> bool:
        if mean.size > 1:
            return label_of(np.asarray(output, np.float64)) == label_of(mean)
        return bool(np.all(np.abs(output - mean) <= tolerance))

    confidence = sum(weights.get(model, 0.0) for model, output in outputs.items() if agrees(output))
    kind = next(iter(outputs.values())).dtype
    return Combined(mean.astype(kind) if kind.kind == "f" else mean, min(confidence, 1.0))


@dataclass(frozen=True)
class Exp4(Exp3):
    """Asks all models, weighs their answers, and lets the weight of each fall with its loss."""

    tolerance: float = 0.1

    def select(self, state: State, models: Sequence[str], draw: float) -> list[str]:
        """All models."""
        return list(models)

    def combine(
        self, state: State, models: Sequence[str], outputs: Mapping[str, Array], late: Mapping[str, Array]
    ) -> Combined | None:
        """The weighted mean of scores or real numbers, the weighted vote for labels."""
        weights = chances(state, models)
        if all(output.dtype.kind == "f" for output in outputs.values()):
            return _mean(weights, outputs, late, self.tolerance)
        return _vote(weights, outputs)

    def observe(
        self, state: State, models: Sequence[str], feedback: Any, outputs: Mapping[str, Array]
    ) -> State:
        """The weight of each model falls with the loss of its answer."""
        before = chances(state, models)
        losses = {
            model: LOSSES[self.loss](output, feedback) for model, output in outputs.items() if model in before
        }
        return _weighed(before, losses, self.rate, self.share)


POLICIES: dict[str, Callable[..., Policy]] = {
    "single": Single,
    "shares": Shares,
    "exp3": Exp3,
    "exp4": Exp4,
    "majority": Majority,
    "mean": Mean,
}


def make_policy(described: str | Mapping[str, Any]) -> Policy:
    """A policy from its name, or from a mapping with its "name" and its options."""
    options = {"name": described} if isinstance(described, str) else dict(described)
    name = options.pop("name", None)
    if name not in POLICIES:
        raise errors.invalid_argument(f"unknown selection policy {name!r}; there are {', '.join(POLICIES)}")
    if options.get("loss", "zero_one") not in LOSSES:
        raise errors.invalid_argument(f"unknown loss {options['loss']!r}; there are {', '.join(LOSSES)}")
    try:
        return POLICIES[name](**options)
    except TypeError as error:
        raise errors.invalid_argument(f"selection policy {name}: {error}") from None
