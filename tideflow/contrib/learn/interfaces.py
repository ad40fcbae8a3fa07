"""What objects that are trained and evaluated have in common, in tf.contrib.learn and in scikit-learn."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tideflow.export import export


@export("contrib.learn.Evaluable")
class Evaluable(abc.ABC):
    """Something that can be evaluated."""

    @property
    @abc.abstractmethod
    def model_dir(self) -> str:
        """The directory of the model."""

    @abc.abstractmethod
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable | None = None,
        feed_fn: Callable | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
    ) -> dict[str, Any]:
        """Evaluates the model.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          y: The labels, likewise.
          input_fn: A function that returns the tensors of features and labels.
          feed_fn: A function that returns what is fed in a step; with `input_fn` only.
          batch_size: The number of examples in a step; with `x` only.
          steps: The number of steps; until the data end if None.
          metrics: What is measured besides, by name.
          name: The name of the evaluation, if there are several.
          checkpoint_path: The checkpoint to evaluate; the newest one if None.
          hooks: Hooks of the session.

        Returns:
          The results by name.
        """


@export("contrib.learn.Trainable")
class Trainable(abc.ABC):
    """Something that can be trained."""

    @abc.abstractmethod
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
        max_steps: int | None = None,
    ) -> Any:
        """Trains the model.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          y: The labels, likewise.
          input_fn: A function that returns the tensors of features and labels.
          steps: The number of steps to make.
          batch_size: The number of examples in a step; with `x` only.
          monitors: Monitors, or hooks of the session.
          max_steps: The global step to stop at.

        Returns:
          The object itself.
        """


@export("contrib.learn.NotFittedError")
class NotFittedError(ValueError, AttributeError):
    """A model was asked for something before it was trained."""


class Parameters:
    """Reads and writes the public attributes of an object, as scikit-learn does with its estimators."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Lists the parameters.

        Args:
          deep: Whether parameters of parameters are listed too, under both names with `__` between.

        Returns:
          The parameters by name.
        """
        found = {}
        for name, value in vars(self).items():
            if name.startswith("_") or callable(value):
                continue
            if deep and hasattr(value, "get_params"):
                found.update({f"{name}__{inner}": each for inner, each in value.get_params().items()})
            found[name] = value
        return found

    def set_params(self, **params: Any) -> Any:
        """Changes parameters.

        Args:
          **params: The new values by name; those of parameters of parameters under both names with `__`
            between.

        Returns:
          The object itself.

        Raises:
          ValueError: If there is no such parameter.
        """
        known = self.get_params(deep=True) if params else {}
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name} for estimator {self}. Check the list of available parameters "
                    "with `estimator.get_params().keys()`."
                )
            if inner:
                known[name].set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        words = ", ".join(f"{name}={value!s}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({words})"
