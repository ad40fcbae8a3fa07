"""`tensorflow.python.keras.keras_parameterized`: tests that run for all types of models and in all modes."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

from absl.testing import parameterized

import tideflow as tf
from tideflow.eager.context import eager_mode, graph_mode
from tideflow.graph import nest
from tideflow.programs.inner.testing import keras_testing


class TestCase(tf.test.TestCase, parameterized.TestCase):
    """A test case that leaves nothing of Keras behind."""

    def tearDown(self) -> None:
        tf.keras.backend.clear_session()
        super().tearDown()


def run_with_all_model_types(test_or_class: Any = None, exclude_models: Any = None) -> Any:
    """Decorator: a test, or all tests of a class, once for each type of models.

    Args:
      test_or_class: A test or a class; a decorator is returned where none is given.
      exclude_models: Types, or one, to leave out.

    Returns:
      The decorated test or class.
    """
    kinds = ["functional", "subclass", "sequential"]
    left = [kind for kind in kinds if kind not in nest.flatten(exclude_models)]

    def decorate(test: Callable) -> Any:
        @parameterized.named_parameters(*[(f"_{kind}", kind) for kind in left])
        @functools.wraps(test)
        def decorated(self: Any, model_type: str, *args: Any, **kwargs: Any) -> None:
            with keras_testing.model_type_scope(model_type):
                test(self, *args, **kwargs)

        return decorated

    return _applied(decorate, test_or_class)


# What a mode is: whether eager, whether models run eagerly, whether as functions.
_MODES = {
    "v2_function": (True, False, True),
    "v2_funcgraph": (True, False, False),
    "v2_eager": (True, True, True),
    "v1_session": (False, False, False),
}


def run_all_keras_modes(
    test_or_class: Any = None,
    config: Any = None,
    always_skip_v1: bool = False,
    always_skip_eager: bool = False,
) -> Any:
    """Decorator: a test, or all tests of a class, once in each mode: in a session, and eagerly with models
    that run as functions, as graphs and eagerly.

    Args:
      test_or_class: A test or a class; a decorator is returned where none is given.
      config: The configuration of the session.
      always_skip_v1: Whether to leave out the session.
      always_skip_eager: Whether to leave out models that run eagerly.

    Returns:
      The decorated test or class.
    """
    left_out = {"v1_session": always_skip_v1, "v2_eager": always_skip_eager}
    names = [name for name in _MODES if not left_out.get(name)]

    def decorate(test: Callable) -> Any:
        @parameterized.named_parameters(*[(f"_{name}", name) for name in names])
        @functools.wraps(test)
        def decorated(self: Any, run_mode: str, *args: Any, **kwargs: Any) -> None:
            eager, models_eagerly, as_functions = _MODES[run_mode]
            with contextlib.ExitStack() as stack:
                stack.enter_context(eager_mode() if eager else graph_mode())
                stack.enter_context(keras_testing.run_eagerly_scope(models_eagerly))
                stack.enter_context(keras_testing.experimental_run_tf_function_scope(as_functions))
                if not eager:
                    stack.enter_context(self.test_session(use_gpu=True, config=config))
                test(self, *args, **kwargs)

        return decorated

    return _applied(decorate, test_or_class)


def _applied(decorate: Callable, test_or_class: Any) -> Any:
    """Tests decorated: one, those that another decorator made of one, or those of a class."""

    def apply(given: Any) -> Any:
        if isinstance(given, Iterable):
            return itertools.chain.from_iterable(map(decorate, given))
        if not isinstance(given, type):
            return decorate(given)
        for name, value in list(vars(given).items()):
            if callable(value) and name.startswith("test"):
                setattr(given, name, decorate(value))
        # The class of parameterized tests writes them out when a class is made: so it is made anew.
        return type(given)(given.__name__, given.__bases__, dict(vars(given)))

    return apply if test_or_class is None else apply(test_or_class)
