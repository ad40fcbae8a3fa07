"""What unit tests take from `tensorflow.python.framework.test_util`: decorators that say in which modes and
on which devices a test runs, and small helpers.

There is no XLA here, and TensorFlow 2's behaviour is off: what switches these for a test leaves it as it is.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import gc
import itertools
import unittest
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from absl.testing import parameterized
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.eager import context
from tideflow.functions.def_function import function
from tideflow.graph import errors, scopes
from tideflow.graph.collection_protos import proto_functions
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import shapes
from tideflow.platform import logging as tf_logging
from tideflow.platform import testing
from tideflow.platform.assertions import py_func_if_in_function  # noqa: F401 - looked up by tests
from tideflow.programs.inner.graph import control_flow_v2_names
from tideflow.session.session import Session
from tideflow.variables import behavior

FakeEagerSession = testing.EagerSession


# ---------------------------------------------------------------------------------- the machine


GetTempDir = testing.get_temp_dir


def StatefulSessionAvailable() -> bool:
    """Whether sessions outlive the process: no."""
    return False


def IsGoogleCudaEnabled() -> bool:
    """Whether this build knows CUDA."""
    return testing.is_built_with_cuda()


def IsBuiltWithROCm() -> bool:
    """Whether this build knows ROCm."""
    return testing.is_built_with_rocm()


def IsMklEnabled() -> bool:
    """Whether this is a build for MKL: there is none."""
    return False


def GpuSupportsHalfMatMulAndConv() -> bool:
    """Whether GPUs multiply float16, which all that PyTorch supports do."""
    return testing.is_built_with_gpu_support()


def is_xla_enabled() -> bool:
    """Whether tests are compiled by XLA: never."""
    return False


def InstallStackTraceHandler() -> None:
    """A crash prints the stack of each thread."""
    faulthandler.enable()


@contextlib.contextmanager
def device(use_gpu: bool) -> Iterator[None]:
    """Operations in the block run on a GPU if one is asked for and there, else on the CPU."""
    with scopes.device("/device:GPU:0" if use_gpu and testing.is_gpu_available() else "/device:CPU:0"):
        yield


use_gpu = functools.partial(device, use_gpu=True)
force_gpu = functools.partial(scopes.device, "/device:GPU:0")
force_cpu = functools.partial(scopes.device, "/device:CPU:0")


# ---------------------------------------------------------------------------------- which tests run


def _decorator(wrap: Callable) -> Callable:
    """A decorator for test methods and for whole classes, with or without parentheses."""

    @functools.wraps(wrap)
    def decorate(func: Any = None) -> Any:
        if func is None:
            return decorate
        if isinstance(func, type):
            return for_all_test_methods(wrap)(func)
        return wrap(func)

    return decorate


def for_all_test_methods(decorator: Callable, *args: Any, **kwargs: Any) -> Callable:
    """A decorator of classes that decorates every test in them by `decorator(test, *args, **kwargs)`."""

    def decorate(cls: type) -> type:
        for name in dir(cls):
            value = getattr(cls, name)
            if _is_test(name) and callable(value):
                setattr(cls, name, decorator(value, *args, **kwargs))
        return cls

    return decorate


def _is_test(name: str) -> bool:
    return name.startswith(unittest.TestLoader.testMethodPrefix) and name != "test_session"


def skip_if(condition: Any) -> Callable:
    """Leaves a test out, without a word, where a condition holds, or a function says so."""

    def decorate(func: Callable) -> Callable:
        @functools.wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> None:
            if not (condition() if callable(condition) else condition):
                func(*args, **kwargs)

        return decorated

    return decorate


def _skipped_unless(available: Callable[[], bool], reason: str) -> Callable:
    def wrap(func: Callable) -> Callable:
        @functools.wraps(func)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not available():
                self.skipTest(reason)
            return func(self, *args, **kwargs)

        return decorated

    return _decorator(wrap)


run_v2_only = _skipped_unless(behavior.v2_behavior_enabled, "Test is only compatible with v2")
run_gpu_only = _skipped_unless(testing.is_gpu_available, "Test requires GPU")
run_cuda_only = _skipped_unless(lambda: testing.is_gpu_available(cuda_only=True), "Test requires CUDA GPU")


def run_v1_only(reason: str, func: Any = None) -> Any:
    """A test that is left out where a program behaves as with TensorFlow 2."""
    if not isinstance(reason, str):
        raise ValueError(f"'reason' should be string, got {type(reason)}")
    decorate = _skipped_unless(lambda: not behavior.v2_behavior_enabled(), reason)
    return decorate if func is None else decorate(func)


def _in_graphs(func: Callable) -> Callable:
    @functools.wraps(func)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with context.graph_mode() if behavior.v2_behavior_enabled() else contextlib.nullcontext():
            return func(*args, **kwargs)

    return decorated


# A test of graphs and sessions, even where a program behaves as with TensorFlow 2.
run_deprecated_v1 = deprecated_graph_mode_only = _decorator(_in_graphs)


def _unchanged(func: Any) -> Any:
    return func


def _with_reason(description: str) -> Callable:
    """A decorator that leaves tests as they are: what it would switch is not here."""
    return _unchanged


disable_xla = no_xla_auto_jit = xla_allow_fallback = enable_tf_xla_constant_folding = _with_reason
enable_c_shapes = with_c_shapes = use_deterministic_cudnn = _unchanged


# ---------------------------------------------------------------------------------- how tests run


def run_in_graph_and_eager_modes(
    func: Callable | None = None,
    config: Any = None,
    use_gpu: bool = True,
    reset_test: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Callable:
    """A test that runs twice: in a session of the test, then eagerly, set up anew."""

    def decorate(func: Callable) -> Callable:
        if isinstance(func, type):
            raise ValueError(
                "`run_in_graph_and_eager_modes` only supports test methods. Did you mean to use "
                "`run_all_in_graph_and_eager_modes`?"
            )
        eagerly = assert_no_new_tensors(func) if assert_no_eager_garbage else func

        @functools.wraps(func)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
            with contextlib.suppress(unittest.SkipTest), context.graph_mode():
                with self.test_session(use_gpu=use_gpu, config=config):
                    func(self, *args, **kwargs)
            if reset_test:
                self.tearDown()
            with Graph().as_default(), context.eager_mode():
                if reset_test:
                    self.setUp()
                with contextlib.nullcontext() if use_gpu else force_cpu():
                    eagerly(self, *args, **kwargs)

        return decorated

    return decorate if func is None else decorate(func)


def run_all_in_graph_and_eager_modes(cls: type) -> type:
    """A class whose tests run in both modes, but for those whose names begin with testSkipEager."""
    for name in dir(cls):
        value = getattr(cls, name)
        if _is_test(name) and not name.startswith(("testSkipEager", "test_skip_eager")) and callable(value):
            setattr(cls, name, run_in_graph_and_eager_modes(value))
    return cls


def build_as_function_and_v1_graph(func: Callable | None = None) -> Callable:
    """A test that only builds graphs: once in a graph, once as a function in eager mode."""

    def decorate(func: Callable) -> Callable:
        if isinstance(func, type):
            raise ValueError("`run_in_graph_mode_and_function` only supports test methods.")

        @parameterized.named_parameters(("_v1_graph", "v1_graph"), ("_function", "function"))
        @functools.wraps(func)
        def decorated(self: Any, run_mode: str, *args: Any, **kwargs: Any) -> None:
            if run_mode == "v1_graph":
                with Graph().as_default():
                    func(self, *args, **kwargs)
            else:
                with context.eager_mode():
                    function(lambda: func(self, *args, **kwargs), autograph=False)()

        return decorated

    return decorate if func is None else decorate(func)


def also_run_as_tf_function(f: Callable) -> Callable:
    """A test that runs eagerly twice: as it is, and as a function."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> None:
        with context.eager_mode():
            f(*args, **kwargs)
            function(lambda: f(*args, **kwargs), autograph=False)()

    return decorated


def enable_control_flow_v2(fn: Callable) -> Callable:
    """A test whose conditionals and loops are calls of functions."""

    @functools.wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        was_enabled = behavior.control_flow_v2_enabled()
        behavior.enable_control_flow_v2()
        try:
            return fn(*args, **kwargs)
        finally:
            if not was_enabled:
                behavior.disable_control_flow_v2()

    return run


def enable_output_all_intermediates(fn: Callable) -> Callable:
    """A test that asks conditionals and loops for all that gradients may want."""

    @functools.wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        before = control_flow_v2_names._EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE
        control_flow_v2_names._EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE = True
        try:
            return fn(*args, **kwargs)
        finally:
            control_flow_v2_names._EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE = before

    return run


def with_control_flow_v2(cls: type) -> type:
    """A class whose tests run again, under another name, with TensorFlow 2's control flow."""
    for name, value in list(vars(cls).items()):
        if _is_test(name) and callable(value) and not getattr(value, "_disable_control_flow_v2", False):
            setattr(cls, f"{name}WithControlFlowV2", value)
    return cls


def disable_control_flow_v2(unused_msg: str) -> Callable:
    """A test that `with_control_flow_v2` does not repeat."""

    def decorate(func: Any) -> Any:
        func._disable_control_flow_v2 = True
        return func

    return decorate


# ---------------------------------------------------------------------------------- what tests leave behind


def assert_no_new_tensors(f: Callable) -> Callable:
    """A test after which no tensor is alive that was not alive before."""

    @functools.wraps(f)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = {id(item) for item in _tensors_alive()}
        with Graph().as_default():
            result = f(self, *args, **kwargs)
        left = [item for item in _tensors_alive() if id(item) not in before]
        if left:
            raise AssertionError(f"{len(left)} Tensors not deallocated after test: {left}")
        return result

    return decorated


def _tensors_alive() -> list[Tensor]:
    gc.collect()
    return [item for item in gc.get_objects() if isinstance(item, Tensor)]


def assert_no_garbage_created(f: Callable) -> Callable:
    """A test that leaves no objects which only refer to each other."""

    @functools.wraps(f)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> Any:
        gc.collect()
        gc.disable()
        flags, before = gc.get_debug(), len(gc.garbage)
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            result = f(self, *args, **kwargs)
            gc.collect()
            self.assertEqual(before, len(gc.garbage), f"The test left garbage: {gc.garbage[before:][:10]}")
        finally:
            del gc.garbage[before:]
            gc.set_debug(flags)
            gc.enable()
        return result

    return decorated


def assert_no_new_pyobjects_executing_eagerly(f: Callable) -> Callable:
    """A test that, run again and again in eager mode, leaves no more Python objects than before."""

    @functools.wraps(f)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
        with context.eager_mode():
            for _ in range(2):  # caches fill
                f(self, *args, **kwargs)
            gc.collect()
            before = len(gc.get_objects())
            for _ in range(3):
                f(self, *args, **kwargs)
            gc.collect()
            new = len(gc.get_objects()) - before
            self.assertLessEqual(new, 0, f"There are {new} new Python objects after the test.")

    return decorated


class ErrorLoggingSession(Session):
    """A session that logs the errors of its steps, but for the end of input."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().run(*args, **kwargs)
        except Exception as error:
            if not isinstance(error, errors.OutOfRangeError):
                tf_logging.error(str(error))
            raise


# ---------------------------------------------------------------------------------- layouts


def NHWCToNCHW(input_tensor: Any) -> Any:
    """An image tensor, or the list of its sizes, with channels first."""
    return _permuted(input_tensor, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]})


def NCHWToNHWC(input_tensor: Any) -> Any:
    """An image tensor, or the list of its sizes, with channels last."""
    return _permuted(input_tensor, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]})


def _permuted(given: Any, orders: dict[int, list[int]]) -> Any:
    if isinstance(given, Tensor):
        return shapes.transpose(given, orders[given.shape.ndims])
    return [given[axis] for axis in orders[len(given)]]


def NHWCToNCHW_VECT_C(input_shape_or_tensor: Any) -> Any:
    """An image tensor, or the list of its sizes, with channels first, groups of four of them last."""
    sizes = _sizes(input_shape_or_tensor)
    if sizes[-1] % 4:
        raise ValueError("Last dimension of input must be evenly divisible by 4 to convert to NCHW_VECT_C.")
    sizes[-1:] = [sizes[-1] // 4, 4]
    is_tensor = isinstance(input_shape_or_tensor, Tensor)
    grouped = shapes.reshape(input_shape_or_tensor, sizes) if is_tensor else sizes
    return _permuted(grouped, {5: [0, 3, 1, 2, 4], 6: [0, 4, 1, 2, 3, 5]})


def NCHW_VECT_CToNHWC(input_shape_or_tensor: Any) -> Any:
    """The inverse of `NHWCToNCHW_VECT_C`."""
    if _sizes(input_shape_or_tensor)[-1] != 4:
        raise ValueError("Last dimension of NCHW_VECT_C must be 4.")
    last = _permuted(input_shape_or_tensor, {5: [0, 2, 3, 1, 4], 6: [0, 2, 3, 4, 1, 5]})
    *sizes, groups, four = _sizes(last)
    together = [*sizes, groups * four]
    return shapes.reshape(last, together) if isinstance(last, Tensor) else together


def _sizes(shape_or_tensor: Any) -> list[int]:
    is_tensor = isinstance(shape_or_tensor, Tensor)
    return shape_or_tensor.shape.as_list() if is_tensor else list(shape_or_tensor)


# ---------------------------------------------------------------------------------- graphs


def assert_ops_in_graph(expected_ops: dict[str, str], graph: Graph) -> dict[str, Any]:
    """The nodes of a graph by name, of which each must be there and of the expected op type."""
    found = {node.name: node for node in graph.as_graph_def().node if node.name in expected_ops}
    for name, node in found.items():
        if node.op != expected_ops[name]:
            raise ValueError(f"Expected op for node {name} is different. {expected_ops[name]} vs {node.op}")
    if set(found) != set(expected_ops):
        raise ValueError(
            f"Not all expected ops are present. Expected {expected_ops.keys()}, found {found.keys()}"
        )
    return found


def assert_equal_graph_def_v2(expected: GraphDef, actual: GraphDef) -> None:
    """Two graphs with the same nodes, whatever their order and the names that chance gives."""
    testing.assert_equal_graph_def(actual, expected, checkpoint_v2=True, hash_table_shared_name=True)


def assert_meta_graph_protos_equal(tester: Any, a: Any, b: Any) -> None:
    """Two MetaGraphDefs that say the same; what was compared by its parts is taken out of them."""
    tester.assertEqual(set(a.collection_def), set(b.collection_def))
    for key in a.collection_def:
        one, other = a.collection_def[key], b.collection_def[key]
        if key not in proto_functions:
            tester.assertEqual(one, other)
            continue
        message = proto_functions[key].proto_type
        tester.assertEqual(len(one.bytes_list.value), len(other.bytes_list.value))
        for pair in zip(one.bytes_list.value, other.bytes_list.value, strict=True):
            tester.assertProtoEquals(*(message.FromString(value) for value in pair))
    testing.assert_equal_graph_def(a.graph_def, b.graph_def, checkpoint_v2=True)
    tester.assertProtoEquals(a.graph_def.versions, b.graph_def.versions)
    for message in (a, b):
        message.ClearField("collection_def")
        message.ClearField("graph_def")
    tester.assertProtoEquals(a, b)


def get_node_def_from_graph(node_name: str, graph_def: GraphDef) -> Any:
    """The node of that name; None if there is none."""
    return next((node for node in graph_def.node if node.name == node_name), None)


def set_producer_version(graph: Graph, producer_version: int) -> None:
    """Makes a graph one that was written by an older TensorFlow."""
    older = GraphDef()
    older.versions.producer = producer_version
    with graph.as_default():
        import_graph_def(older)


# ---------------------------------------------------------------------------------- parameters


def generate_combinations_with_testcase_name(**kwargs: Any) -> list[OrderedDict]:
    """Every combination of keywords that have lists of values, with a name for a parameterized test."""
    keys = sorted(kwargs, key=lambda key: key[0])
    values = [kwargs[key] if isinstance(kwargs[key], list) else [kwargs[key]] for key in keys]
    named = []
    for combination in itertools.product(*values):
        pairs = list(zip(keys, combination, strict=True))
        name = "".join(f"_{_alphanumeric(key)}_{_alphanumeric(value)}" for key, value in pairs)
        named.append(OrderedDict([*pairs, ("testcase_name", f"_test{name}")]))
    return named


def _alphanumeric(value: Any) -> str:
    return "".join(filter(str.isalnum, str(value)))
