"""Models of Keras as estimators of scikit-learn."""

from __future__ import annotations

import copy
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.keras import losses
from tideflow.keras.engine.sequential import Sequential
from tideflow.keras.utils.arrays import to_categorical

_METHODS = (Sequential.fit, Sequential.predict, Sequential.predict_classes, Sequential.evaluate)


def _takes(function: Callable, name: str) -> bool:
    return name in inspect.signature(function).parameters


def _is_categorical(loss: Any) -> bool:
    function = losses.categorical_crossentropy
    return (
        isinstance(loss, losses.CategoricalCrossentropy)
        or loss in (function, "categorical_crossentropy")
        or getattr(loss, "fn", None) is function
    )


class BaseWrapper:
    """What both wrappers share.

    Args:
      build_fn: A function, or an object with `__call__`, that makes a compiled model; a subclass may have
        `__call__` instead.
      **sk_params: Arguments of `build_fn`, and of `fit`, `predict` and `evaluate`.
    """

    def __init__(self, build_fn: Callable | None = None, **sk_params: Any):
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def _builder(self) -> Callable:
        """What makes the model, in a form whose arguments can be looked at."""
        if self.build_fn is None:
            return self.__call__
        if isinstance(self.build_fn, (types.FunctionType, types.MethodType)):
            return self.build_fn
        return self.build_fn.__call__

    def check_params(self, params: dict[str, Any]) -> None:
        """Checks that somebody takes each parameter.

        Args:
          params: The parameters, by name.

        Raises:
          ValueError: If nobody takes one.
        """
        functions = (*_METHODS, self._builder())
        for name in params:
            if name != "nb_epoch" and not any(_takes(function, name) for function in functions):
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, **params: Any) -> dict[str, Any]:
        """The parameters, by name.

        Args:
          **params: Accepted for scikit-learn's sake.

        Returns:
          A dictionary.
        """
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> BaseWrapper:
        """Sets parameters.

        Args:
          **params: The parameters, by name.

        Returns:
          This object.
        """
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Makes a model and trains it.

        Args:
          x: The inputs.
          y: The true values.
          **kwargs: Arguments of `Sequential.fit`.

        Returns:
          The history of the training.
        """
        build = self._builder()
        self.model = build(**self.filter_sk_params(build))
        if _is_categorical(self.model.loss) and len(y.shape) != 2:
            y = to_categorical(y)
        return self.model.fit(x, y, **{**copy.deepcopy(self.filter_sk_params(Sequential.fit)), **kwargs})

    def filter_sk_params(self, fn: Callable, override: dict[str, Any] | None = None) -> dict[str, Any]:
        """The parameters that a function takes.

        Args:
          fn: The function.
          override: Further arguments.

        Returns:
          A dictionary.
        """
        own = {name: value for name, value in self.sk_params.items() if _takes(fn, name)}
        return {**own, **(override or {})}


@export("keras.wrappers.scikit_learn.KerasClassifier")
class KerasClassifier(BaseWrapper):
    """A Sequential model as a classifier of scikit-learn.

    Args:
      build_fn: A function, or an object with `__call__`, that makes a compiled model; a subclass may have
        `__call__` instead.
      **sk_params: Arguments of `build_fn`, and of `fit`, `predict` and `evaluate`.
    """

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Makes a model and trains it.

        Args:
          x: The inputs.
          y: The classes, or a column for each class.
          **kwargs: Arguments of `Sequential.fit`.

        Returns:
          The history of the training.

        Raises:
          ValueError: If the classes have another shape.
        """
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or (y.ndim == 2 and y.shape[1] == 1):
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"Invalid shape for y: {y.shape}")
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        """Names the class of each sample.

        Args:
          x: The inputs.
          **kwargs: Arguments of `Sequential.predict_classes`.

        Returns:
          The classes.
        """
        kwargs = self.filter_sk_params(Sequential.predict_classes, kwargs)
        return self.classes_[self.model.predict_classes(x, **kwargs)]

    def predict_proba(self, x: Any, **kwargs: Any) -> np.ndarray:
        """Computes the probability of each class.

        Args:
          x: The inputs.
          **kwargs: Arguments of `Sequential.predict_proba`.

        Returns:
          The probabilities, a column for each class.
        """
        found = self.model.predict_proba(x, **self.filter_sk_params(Sequential.predict_proba, kwargs))
        return np.hstack([1 - found, found]) if found.shape[1] == 1 else found

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """Computes the accuracy.

        Args:
          x: The inputs.
          y: The true classes.
          **kwargs: Arguments of `Sequential.evaluate`.

        Returns:
          The fraction of the samples whose class is right.

        Raises:
          ValueError: If the model has no metric of accuracy.
        """
        y = np.searchsorted(self.classes_, y)
        kwargs = self.filter_sk_params(Sequential.evaluate, kwargs)
        if _is_categorical(self.model.loss) and len(y.shape) != 2:
            y = to_categorical(y)
        found = self.model.evaluate(x, y, **kwargs)
        found = found if isinstance(found, list) else [found]
        for name, value in zip(self.model.metrics_names, found, strict=False):
            if name in ("accuracy", "acc"):
                return value
        raise ValueError(
            'The model is not configured to compute accuracy. You should pass `metrics=["accuracy"]` to the '
            "`model.compile()` method."
        )


@export("keras.wrappers.scikit_learn.KerasRegressor")
class KerasRegressor(BaseWrapper):
    """A model as a regressor of scikit-learn.

    Args:
      build_fn: A function, or an object with `__call__`, that makes a compiled model; a subclass may have
        `__call__` instead.
      **sk_params: Arguments of `build_fn`, and of `fit`, `predict` and `evaluate`.
    """

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        """Predicts the value of each sample.

        Args:
          x: The inputs.
          **kwargs: Arguments of `Sequential.predict`.

        Returns:
          The values.
        """
        return np.squeeze(self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs)))

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """Computes how good the model is: the loss, with the other sign.

        Args:
          x: The inputs.
          y: The true values.
          **kwargs: Arguments of `Sequential.evaluate`.

        Returns:
          The number; larger is better.
        """
        found = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        return -(found[0] if isinstance(found, list) else found)
