"""Tests that run in graphs and eagerly; and when operations run, which here is always at once."""

from __future__ import annotations

import contextlib
import functools
import inspect
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import torch

import tideflow as tf
from tideflow.eager.context import ASYNC, SYNC, eager_mode
from tideflow.export import export, expose
from tideflow.graph.scopes import device
from tideflow.variables.trackable import AutoTrackable

expose(AutoTrackable, "contrib.eager.Checkpointable")


@export("contrib.eager.run_test_in_graph_and_eager_modes")
def run_test_in_graph_and_eager_modes(
    func: Callable | None = None,
    config: Any = None,
    use_gpu: bool = True,
    reset_test: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Callable:
    """Has a test method run twice: in a graph, within a session, and eagerly.

    Args:
      func: The method; None returns a decorator with these settings.
      config: A ConfigProto for the session.
      use_gpu: Whether operations may run on a GPU.
      reset_test: Whether `tearDown` and `setUp` are called between the two.
      assert_no_eager_garbage: Has no effect: eager tensors are freed when nothing refers to them.

    Returns:
      The method, decorated.

    Raises:
      ValueError: For a class.
    """
    if func is None:
        return functools.partial(
            run_test_in_graph_and_eager_modes, config=config, use_gpu=use_gpu, reset_test=reset_test
        )
    if inspect.isclass(func):
        raise ValueError(
            "`run_in_graph_and_eager_modes` only supports test methods. Did you mean to use "
            "`run_all_in_graph_and_eager_modes`?"
        )

    @functools.wraps(func)
    def run_twice(self: Any, *args: Any, **kwargs: Any) -> None:
        with (
            contextlib.suppress(unittest.SkipTest),
            tf.Graph().as_default(),
            self.test_session(use_gpu=use_gpu, config=config),
        ):
            func(self, *args, **kwargs)
        if reset_test:
            self.tearDown()
        with eager_mode(), contextlib.nullcontext() if use_gpu else device("/cpu:0"):
            if reset_test:
                self.setUp()
            func(self, *args, **kwargs)

    return run_twice


@export("contrib.eager.run_all_tests_in_graph_and_eager_modes")
def run_all_tests_in_graph_and_eager_modes(cls: type) -> type:
    """Has the test methods of a class run in a graph and eagerly, but for those called `testSkipEager…`.

    Args:
      cls: A subclass of `tf.test.TestCase`.

    Returns:
      The class.
    """
    for name in dir(cls):
        is_test = name.startswith(unittest.TestLoader.testMethodPrefix) and name != "test_session"
        if is_test and not name.startswith(("testSkipEager", "test_skip_eager")):
            method = getattr(cls, name)
            if callable(method):
                setattr(cls, name, run_test_in_graph_and_eager_modes(method))
    return cls


def _check_mode(mode: Any) -> None:
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")


@export("contrib.eager.set_execution_mode")
def set_execution_mode(mode: int | None) -> None:
    """Says whether calls may return before operations have run; here they never do on a CPU.

    Args:
      mode: `tf.contrib.eager.SYNC`, `ASYNC` or None.

    Raises:
      ValueError: For another mode.
    """
    _check_mode(mode)


@export("contrib.eager.execution_mode")
@contextlib.contextmanager
def execution_mode(mode: int | None) -> Iterator[None]:
    """Says for a block whether calls may return before operations have run; see `set_execution_mode`.

    Args:
      mode: `tf.contrib.eager.SYNC`, `ASYNC` or None.

    Yields:
      Nothing.

    Raises:
      ValueError: For another mode.
    """
    _check_mode(mode)
    yield


@export("contrib.eager.async_wait")
def async_wait() -> None:
    """Waits until all operations have run: on a CPU they have, on GPUs some may still be computed."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


@export("contrib.eager.async_clear_error")
def async_clear_error() -> None:
    """Forgets errors of operations that were still to run. There are none: errors are raised by the calls."""
