"""`tf.test`: test cases that run graphs, and what tests ask of the machine."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import random
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import numpy as np
import torch
from absl.testing import absltest
from tensorboard.compat.proto.config_pb2 import ConfigProto, OptimizerOptions
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.export import export, expose
from tideflow.graph import nest
from tideflow.graph.composite import IndexedSlices, IndexedSlicesValue, SparseTensor, SparseTensorValue
from tideflow.graph.graph import Graph
from tideflow.graph.op import role_of
from tideflow.graph.scopes import (
    DEFAULT_GRAPH_SEED,
    executing_eagerly,
    get_default_session,
    reset_default_graph,
    set_random_seed,
)
from tideflow.graph.stacks import default_graphs, summaries
from tideflow.ops.state.lookup_tables import hash_table_v2_op
from tideflow.platform import app, benchmarking, gradient_checker  # noqa: F401 - the rest of `tf.test`
from tideflow.platform.assertions import Assertions
from tideflow.runtime.devices import device_type
from tideflow.session.session import Session

expose(mock, "test.mock")


# ------------------------------------------------------------------------------------------------ the machine


@export("test.is_gpu_available")
def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None
) -> bool:
    """Whether a GPU can be used.

    Args:
      cuda_only: Whether only CUDA's GPUs count.
      min_cuda_compute_capability: The least compute capability, as a pair of numbers.

    Returns:
      True or False.
    """
    if not torch.cuda.is_available():
        return False
    least = min_cuda_compute_capability or (0, 0)
    return any(torch.cuda.get_device_capability(i) >= tuple(least) for i in range(torch.cuda.device_count()))


@export("test.gpu_device_name")
def gpu_device_name() -> str:
    """The name of the first GPU, "" if there is none."""
    return "/device:GPU:0" if device_type("GPU").count() else ""


@export("test.is_built_with_cuda")
def is_built_with_cuda() -> bool:
    """Whether torch is built with CUDA."""
    return torch.version.cuda is not None


@export("test.is_built_with_rocm")
def is_built_with_rocm() -> bool:
    """Whether torch is built with ROCm."""
    return torch.version.hip is not None


@export("test.is_built_with_gpu_support")
def is_built_with_gpu_support() -> bool:
    """Whether torch is built with CUDA or ROCm."""
    return is_built_with_cuda() or is_built_with_rocm()


@export("test.get_temp_dir")
@functools.cache
def get_temp_dir() -> str:
    """A directory for the tests of this process, which is removed at its end."""
    program = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    path = tempfile.mkdtemp(prefix=program, dir=os.environ.get("TEST_TMPDIR"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@export("test.test_src_dir_path")
def test_src_dir_path(relative_path: str) -> str:
    """Gets the path of a file under the directory TEST_SRCDIR.

    Args:
      relative_path: The path, relative to the source tree.

    Returns:
      The path.
    """
    return os.path.join(os.environ["TEST_SRCDIR"], "org_tensorflow/tensorflow", relative_path)


@export("test.main")
def main(argv: Sequence[str] | None = None) -> None:
    """Runs the tests of the program.

    Args:
      argv: The command line; `sys.argv` if None.
    """
    app.run(lambda rest: absltest.main(argv=rest), sys.argv if argv is None else argv)


# ------------------------------------------------------------------------------------------------ test cases


class CheckedThread:
    """A thread of a test; what it raises, `join` raises."""

    def __init__(self, target: Callable, args: tuple, kwargs: dict):
        self._call = functools.partial(target, *args, **kwargs)
        self._thread = threading.Thread(target=self._run)
        self._error: Exception | None = None

    def _run(self) -> None:
        try:
            self._call()
        except Exception as error:
            self._error = error

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def join(self) -> None:
        """Waits for the thread; the test fails where it failed."""
        self._thread.join()
        if self._error is not None:
            raise AssertionError(f"Error in checkedThread: {self._error}") from self._error

    def is_alive(self) -> bool:
        """Whether the thread still runs."""
        return self._thread.is_alive()


class CapturedWrites:
    """What was written to a stream while it was captured."""

    def __init__(self, path: str):
        self._path = path

    def contents(self) -> str:
        """All of it."""
        with open(self._path) as file:
            return file.read()


@export("test.TestCase")
class TestCase(Assertions):
    """A base class for tests of graphs. Each test starts with an empty default graph and fixed seeds.

    Args:
      methodName: The name of the test method.
    """

    def __init__(self, methodName: str = "runTest"):
        super().__init__(methodName)
        self._threads: list[CheckedThread] = []
        self._directory: str | None = None
        self._cached: tuple[Session, tuple] | None = None

    def setUp(self) -> None:
        """Prepares a test: an empty default graph and fixed seeds."""
        super().setUp()
        self._ClearCachedSession()
        random.seed(DEFAULT_GRAPH_SEED)
        np.random.seed(DEFAULT_GRAPH_SEED)
        left = default_graphs.items  # by a test that failed inside a `with`, or that calls setUp in one
        default_graphs.items = ()
        reset_default_graph()
        if left and left[-1].is_eager != executing_eagerly():
            default_graphs.items = left[-1:]  # the program stays in its mode until the `with` ends
        set_random_seed(DEFAULT_GRAPH_SEED)
        summaries.writer = None  # another test's may be left
        if self.id().endswith(".test_session"):  # its name makes it look like a test
            self.skipTest("Not a test.")

    def tearDown(self) -> None:
        try:
            for thread in self._threads:
                self.assertFalse(thread.is_alive(), "A checkedThread was not joined.")
        finally:
            self._ClearCachedSession()
            super().tearDown()

    def _ClearCachedSession(self) -> None:  # tests call it where they reset the default graph
        if self._cached is not None:
            self._cached[0].close()
            self._cached = None

    def get_temp_dir(self) -> str:
        """A directory of this test."""
        if self._directory is None:
            self._directory = tempfile.mkdtemp(dir=get_temp_dir())
        return self._directory

    def evaluate(self, tensors: Any) -> Any:
        """Computes the values of tensors in the default session, or in one of the test.

        Args:
          tensors: A structure of tensors.

        Returns:
          The values.
        """
        if executing_eagerly():
            return nest.map_structure(_eager_value, tensors)
        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.test_session() as session:
            return session.run(tensors)

    @contextlib.contextmanager
    def session(
        self,
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """Makes a session for a `with` block.

        Args:
          graph: The graph of the session; that of the test if None.
          config: The configuration of the session.
          use_gpu: Whether operations may run on a GPU.
          force_gpu: Whether operations must run on a GPU.

        Yields:
          The session, which is the default session in the block.
        """
        if executing_eagerly():
            yield EagerSession(self)
            return
        with (
            Session(graph=graph, config=_test_config(config, force_gpu)) as session,
            _default_on_device(session, use_gpu, force_gpu),
        ):
            yield session

    @contextlib.contextmanager
    def cached_session(
        self,
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """Makes a session for a `with` block, the same one in all blocks of a test.

        Args:
          graph: The graph of the session; that of the test if None.
          config: The configuration of the session.
          use_gpu: Whether operations may run on a GPU.
          force_gpu: Whether operations must run on a GPU.

        Yields:
          The session, which is the default session in the block.
        """
        if executing_eagerly():
            yield EagerSession(self)
            return
        session, asked = self._cached_session(graph, config, force_gpu)
        for label, before, now in zip(
            ("graph", "config", "force_gpu value"), asked, (graph, config, force_gpu)
        ):
            if before is not now:
                raise ValueError(
                    f"The {label} used to get the cached session is different than the one that was used to "
                    "create the session. Maybe create a new session with self.session()"
                )
        with _default_on_device(session, use_gpu, force_gpu):
            yield session

    def _cached_session(self, graph: Graph | None, config: ConfigProto | None, force_gpu: bool) -> tuple:
        if self._cached is None:
            session = Session(graph=graph, config=_test_config(config, force_gpu))
            self._cached = session, (graph, config, force_gpu)
        return self._cached

    @contextlib.contextmanager
    def test_session(
        self,
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """Makes a session for a `with` block: a cached one if there is no graph, else a new one.

        Args:
          graph: The graph of the session; that of the test if None.
          config: The configuration of the session.
          use_gpu: Whether operations may run on a GPU.
          force_gpu: Whether operations must run on a GPU.

        Yields:
          The session, which is the default session in the block.
        """
        if graph is not None or executing_eagerly():
            with self.session(graph, config, use_gpu, force_gpu) as session:
                yield session
            return
        session, _ = self._cached_session(graph, config, force_gpu)
        with _default_on_device(session, use_gpu, force_gpu):
            yield session

    def checkedThread(
        self, target: Callable, args: tuple | None = None, kwargs: dict | None = None
    ) -> CheckedThread:
        """Makes a thread whose errors fail the test.

        Args:
          target: The function.
          args: Its positional arguments.
          kwargs: Its keyword arguments.

        Returns:
          The thread; start it and join it.
        """
        thread = CheckedThread(target, args or (), kwargs or {})
        self._threads.append(thread)
        return thread

    @contextlib.contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[CapturedWrites]:
        """Captures what a `with` block writes to a stream's file descriptor.

        Args:
          stream: The stream, such as `sys.stdout`.

        Yields:
          An object with the method `contents`.
        """
        stream.flush()
        original = os.dup(stream.fileno())
        file, path = tempfile.mkstemp(dir=self.get_temp_dir())
        os.dup2(file, stream.fileno())
        try:
            yield CapturedWrites(path)
        finally:
            stream.flush()
            os.dup2(original, stream.fileno())
            os.close(original)
            os.close(file)


def _test_config(config: ConfigProto | None, force_gpu: bool) -> ConfigProto:
    """Nothing is optimized away: a test runs the ops that it names."""
    result = ConfigProto(allow_soft_placement=True)
    if config is not None:
        result.CopyFrom(config)
    if force_gpu:
        result.allow_soft_placement = False
    result.graph_options.optimizer_options.opt_level = OptimizerOptions.L0
    return result


class EagerSession:
    """What a test gets for a session in eager mode: it returns the values that tensors have."""

    def __init__(self, case: Any):
        self._case = case

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        if feed_dict:
            raise RuntimeError(
                "feed_dict is not supported when eager execution is enabled (in this case, sess.run(t) is "
                "shorthand for t.numpy()"
            )
        return self._case.evaluate(fetches)


def _eager_value(found: Any) -> Any:
    """The value of something that eager mode computed; that of a function is what it returns."""
    if isinstance(found, SparseTensor):
        return SparseTensorValue(*(part.numpy() for part in (found.indices, found.values, found.dense_shape)))
    if isinstance(found, IndexedSlices):
        shape = found.dense_shape
        return IndexedSlicesValue(
            found.values.numpy(), found.indices.numpy(), None if shape is None else shape.numpy()
        )
    if hasattr(found, "numpy"):
        return found.numpy()
    return nest.map_structure(_eager_value, found()) if callable(found) else found


@contextlib.contextmanager
def _default_on_device(session: Session, use_gpu: bool, force_gpu: bool) -> Iterator[None]:
    place = "/device:GPU:0" if force_gpu else None if use_gpu else "/device:CPU:0"
    with session.graph.as_default(), session.as_default():
        with contextlib.nullcontext() if place is None else session.graph.device(place):
            yield


# ------------------------------------------------------------------------------------------------ helpers


@export("test.StubOutForTesting")
class StubOutForTesting:
    """Replaces attributes during a test and restores them afterwards."""

    def __init__(self):
        self._set: list[Any] = []
        self._smartly_set: list[Any] = []

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        """Replaces an attribute.

        Args:
          parent: The object.
          child_name: The name of the attribute.
          new_child: The new value.
        """
        self._replace(self._set, parent, child_name, new_child)

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:
        """Replaces an attribute at its definition: of an instance, its own or its class's.

        Args:
          obj: The object.
          attr_name: The name of the attribute.
          new_attr: The new value.
        """
        owned = isinstance(obj, type) or attr_name in getattr(obj, "__dict__", {})
        self._replace(self._smartly_set, obj if owned else type(obj), attr_name, new_attr)

    @staticmethod
    def _replace(stubs: list[Any], parent: Any, name: str, value: Any) -> None:
        patch = mock.patch.object(parent, name, value)
        patch.start()
        stubs.append(patch)

    def UnsetAll(self) -> None:
        """Restores all attributes that `Set` has replaced."""
        self._put_back(self._set)

    def SmartUnsetAll(self) -> None:
        """Restores all attributes that `SmartSet` has replaced."""
        self._put_back(self._smartly_set)

    @staticmethod
    def _put_back(stubs: list[Any]) -> None:
        while stubs:
            stubs.pop().stop()

    def CleanUp(self) -> None:
        """Restores all attributes."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.CleanUp()

    def __del__(self) -> None:
        self.CleanUp()


@export("test.assert_equal_graph_def")
def assert_equal_graph_def(
    actual: GraphDef, expected: GraphDef, checkpoint_v2: bool = False, hash_table_shared_name: bool = False
) -> None:
    """Checks that two graphs have the same nodes.

    The order of nodes and of control inputs does not count, nor do versions.

    Args:
      actual: A GraphDef.
      expected: A GraphDef.
      checkpoint_v2: Whether the random names of checkpoints' temporary files are ignored.
      hash_table_shared_name: Whether the random names of tables are ignored.

    Raises:
      AssertionError: If they differ.
      TypeError: If an argument is not a GraphDef.
    """
    for label, graph_def in (("actual", actual), ("expected", expected)):
        if not isinstance(graph_def, GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {label}, got {type(graph_def).__name__}")
    flags = checkpoint_v2, hash_table_shared_name
    found, wanted = (
        {node.name: _comparable(node, *flags) for node in graph_def.node} for graph_def in (actual, expected)
    )
    for name in wanted:
        if name not in found:
            raise AssertionError(f"Did not find expected node '{{{{node {name}}}}}'")
        if found[name] != wanted[name]:
            raise AssertionError(f"Node '{name}' is\n{found[name]}\nbut expected is\n{wanted[name]}")
    for name in found:
        if name not in wanted:
            raise AssertionError(f"Found unexpected node '{{{{node {name}}}}}'")


def _comparable(node: Any, checkpoint_v2: bool, hash_table_shared_name: bool) -> Any:
    """A copy of the NodeDef without what may differ."""
    result = type(node)()
    result.CopyFrom(node)
    data = [name for name in node.input if not name.startswith("^")]
    result.input[:] = data + sorted(name for name in node.input if name.startswith("^"))
    if checkpoint_v2 and _names_a_temporary_file(node):
        del result.attr["value"]
    if hash_table_shared_name and node.op == hash_table_v2_op.name and "shared_name" in node.attr:
        del result.attr["shared_name"]
    return result


def _names_a_temporary_file(node: Any) -> bool:
    return role_of(node.op) == "constant" and any(
        b"_temp" in text for text in node.attr["value"].tensor.string_val
    )
