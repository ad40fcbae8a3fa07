"""What tests and libraries take from `tensorflow.python.eager`: its context, ops by name, and gradients."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.autodiff import aggregate
from tideflow.eager import context as modes
from tideflow.eager import gradient_functions
from tideflow.eager.execute import GRAPH_TENSOR
from tideflow.eager.tape import GradientTape
from tideflow.eager.tensor import EagerTensor, eager_device
from tideflow.functions import lifting
from tideflow.graph import device as devices
from tideflow.graph import dtypes, errors, nest, scopes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import definitions
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.graph.stacks import default_graphs, replaced
from tideflow.graph.tensor_proto import make_tensor_proto
from tideflow.ops.arrays import creation
from tideflow.platform import config as device_config
from tideflow.programs.inner.eager import attributes as eager_attributes
from tideflow.programs.inner.eager import control as eager_control

UnliftableError = lifting.UnliftableError

VirtualDeviceConfiguration = device_config.VirtualDeviceConfiguration

# ------------------------------------------------------------------------------------------------- context

GRAPH_MODE, EAGER_MODE = 0, 1
MIRRORING_NONE, MIRRORING_ALL = 0, 1

ContextSwitch = eager_control.ContextSwitch


class _OfThread(threading.local):
    """What each thread says for itself."""

    summary_writer = summary_recording = summary_step = None
    scope_name: str | None = None
    executor: eager_control.Executor | None = None


class Context:
    """The state of eager mode, as `context.context()` shows it.

    Args:
      config: A ConfigProto; the defaults if None.
      device_policy: What happens to inputs on other devices: they are copied, whatever it is.
      execution_mode: SYNC or ASYNC; SYNC if None.
    """

    def __init__(
        self, config: Any = None, device_policy: int | None = None, execution_mode: int | None = None
    ):
        self._config = config or ConfigProto()
        self._of_thread = _OfThread()
        self.device_policy = device_policy
        self.mirroring_policy = MIRRORING_NONE
        self.context_switches = eager_control.ContextSwitches()
        self._executor = eager_control.Executor(False)
        self.execution_mode = modes.SYNC if execution_mode is None else execution_mode

    @property
    def config(self) -> Any:
        """The ConfigProto that it runs with, the program's own switches included."""
        found = ConfigProto()
        found.CopyFrom(self._config)
        if device_config.get_jit():
            found.graph_options.optimizer_options.global_jit_level = 1
        return found

    def executing_eagerly(self) -> bool:
        """Whether operations run at once; so it is in a thread where nobody said otherwise."""
        return scopes.executing_eagerly() or not (default_graphs.items or scopes.get_default_graph()._ops)

    @property
    def executor(self) -> eager_control.Executor:
        """What operations of this thread are handed to."""
        return self._of_thread.executor or self._executor

    @executor.setter
    def executor(self, executor: eager_control.Executor | None) -> None:
        self._of_thread.executor = executor

    def ensure_initialized(self) -> None:
        """Finds the devices."""
        modes.list_devices()

    @property
    def scope_name(self) -> str:
        """The name scope, which a program may set."""
        own = self._of_thread.scope_name
        return scopes.get_default_graph().get_name_scope() if own is None else own

    @scope_name.setter
    def scope_name(self, name: str) -> None:
        self._of_thread.scope_name = name

    @property
    def device_name(self) -> str:
        """The full name of the device that a `with` block asks for; empty outside of them."""
        name = modes.eager_graph().requested_name()
        return "" if name is None else eager_device(name).name

    @property
    def device_spec(self) -> Any:
        """The device that a `with` block asks for, in parts."""
        return devices.DeviceSpec.from_string(self.device_name)

    def device(self, name: Any) -> contextlib.AbstractContextManager[Any]:
        """Runs the operations of a `with` block on a device.

        Args:
          name: The device; None for none in particular.

        Returns:
          The block.
        """
        return _on_device(name)

    def devices(self) -> list[str]:
        """The full names of all devices."""
        return modes.list_devices()

    def num_gpus(self) -> int:
        """The number of GPUs."""
        return modes.num_gpus()


def _of_thread(name: str) -> property:
    return property(
        lambda self: getattr(self._of_thread, name), lambda self, value: setattr(self._of_thread, name, value)
    )


for _name in ("summary_writer", "summary_recording", "summary_step"):
    setattr(Context, _name, _of_thread(_name))


@contextlib.contextmanager
def _on_device(name: Any) -> Iterator[None]:
    if isinstance(name, devices.DeviceSpec):
        raise ValueError(f"Expecting a string device name. Got {type(name)}({name})")
    with modes.eager_graph().device(getattr(name, "name", name)):
        yield


@functools.cache
def context() -> Context:
    """The context of this process."""
    return Context()


context_safe = context


def ensure_initialized() -> None:
    """Finds the devices."""
    context().ensure_initialized()


device = _on_device


@contextlib.contextmanager
def execution_mode(mode: int) -> Iterator[None]:
    """Sets the mode of execution within a `with` block.

    Args:
      mode: SYNC or ASYNC.
    """
    before, context().execution_mode = context().execution_mode, mode
    try:
        yield
    finally:
        context().execution_mode = before


def executor_scope(e: eager_control.Executor | None) -> contextlib.AbstractContextManager[None]:
    """Hands the operations of a `with` block to an executor.

    Args:
      e: The executor; None for the context's own.

    Returns:
      The block.
    """
    return replaced(context()._of_thread, "executor", e)


def async_wait() -> None:
    """Waits until all operations of this thread have run."""
    context().executor.wait()


def async_clear_error() -> None:
    """Forgets errors of operations that ran later."""
    context().executor.clear_error()


def device_policy(policy: int) -> contextlib.AbstractContextManager[None]:
    """Sets within a `with` block what happens to inputs on other devices: they are copied in any case.

    Args:
      policy: One of the DEVICE_PLACEMENT_… numbers.

    Returns:
      The block.
    """
    return replaced(context(), "device_policy", policy)


def mirroring_policy(policy: int) -> contextlib.AbstractContextManager[None]:
    """Sets within a `with` block whether copies on other devices are kept: they are not.

    Args:
      policy: MIRRORING_NONE or MIRRORING_ALL.

    Returns:
      The block.
    """
    return replaced(context(), "mirroring_policy", policy)


def namescope(name: str) -> contextlib.AbstractContextManager[None]:
    """Adds a part to the context's name scope within a `with` block.

    Args:
      name: The part.

    Returns:
      The block.
    """
    outer = context().scope_name
    return replaced(context()._of_thread, "scope_name", f"{outer}/{name}" if outer else name)


def scope_name() -> str:
    """The name scope of the context."""
    return context().scope_name


def set_execution_mode(mode: int) -> None:
    """Sets the mode of execution.

    Args:
      mode: SYNC or ASYNC.
    """
    context().execution_mode = mode


def is_async() -> bool:
    """Whether the mode of execution is ASYNC."""
    return context().execution_mode == modes.ASYNC


def global_seed() -> int | None:
    """The seed of eager mode."""
    return modes.eager_graph().seed


def set_global_seed(seed: int | None) -> None:
    """Sets the seed of eager mode.

    Args:
      seed: The seed; None for one by chance.
    """
    modes.eager_graph().seed = seed


def internal_operation_seed() -> int:
    """A new seed for an operation that was given none."""
    return modes.eager_graph()._next_op_seed()


def add_function(fdef: Any) -> None:
    """Adds a function to eager mode's library.

    Args:
      fdef: The FunctionDef.
    """
    modes.eager_graph()._functions[fdef.signature.name] = fdef


def remove_function(name: str | bytes) -> None:
    """Takes a function out of eager mode's library.

    Args:
      name: The function's name.
    """
    modes.eager_graph()._functions.pop(name.decode() if isinstance(name, bytes) else name, None)


def shared_name(name: str | None = None) -> str | None:
    """The name under which a resource is found again: eagerly, nobody's but its own.

    Args:
      name: The name in a graph.

    Returns:
      The name.
    """
    return name if name or not scopes.executing_eagerly() else "cd2c89b7-88b7-44c8-ad83-06c2a9158347"


# ------------------------------------------------------------------------------------------- ops by name


class _NotOkStatusException(Exception):
    """What an operation failed with, before it is an error of `tf.errors`."""

    def __init__(self, message: str, code: int):
        super().__init__()
        self.message = message
        self.code = code

    def __str__(self) -> str:
        kind = errors.exception_type_from_error_code(self.code)
        return f"{kind.__name__}: {self.message}"


class _SymbolicException(Exception):
    """Tensors of a graph were given where eager ones are wanted."""


class _FallbackException(Exception):
    """The fast way does not take these arguments."""


def _status_to_exception(code: int, message: str) -> Exception:
    """The error of `tf.errors` with this code."""
    try:
        return errors.exception_type_from_error_code(code)(None, None, message)
    except KeyError:
        return errors.UnknownError(None, None, message, code)


def execute(
    op_name: str | bytes,
    num_outputs: int,
    inputs: Sequence[Any],
    attrs: Sequence[Any] | None,
    ctx: Any,
    name: str | None = None,
) -> list[Any]:
    """Runs an op of a name.

    Args:
      op_name: The op type.
      num_outputs: How many results it has.
      inputs: What it takes, flat.
      attrs: Its attributes: names and values in turn.
      ctx: The context.
      name: A name for messages.

    Returns:
      The results.

    Raises:
      tf.errors.NotFoundError: If there is no such op.
      tf.errors.InvalidArgumentError: If an attribute or the number of inputs or results is not the op's.
      TypeError: If an input is no eager tensor.
    """
    text = op_name.decode() if isinstance(op_name, bytes) else op_name
    op = definitions().get(text)
    if op is None:
        raise errors.NotFoundError(
            None,
            None,
            f"'{text}' is neither a type of a primitive operation nor a name of a function registered in "
            "binary running on this machine. Make sure the operation or function is registered in the "
            "binary running in this process.",
        )
    for number, value in enumerate(inputs):
        if isinstance(value, Tensor) and not value.is_eager:
            raise TypeError(GRAPH_TENSOR.format(value.name))
        if not isinstance(value, EagerTensor):
            raise TypeError(
                "provided list of inputs contains objects other than 'EagerTensor'. Item "
                f"{number} is {type(value).__name__}"
            )
    given = dict(zip(attrs[::2], attrs[1::2], strict=True)) if attrs else {}
    eager_attributes.check(op, given, inputs)
    inferred = {word for arg in op.inputs for word in (arg.type_attr, arg.type_list_attr, arg.number_attr)}
    own = {key: value for key, value in given.items() if key not in inferred}
    made = op(*op.group_inputs(inputs, given), name=name, **own)
    found = [] if made is None else nest.flatten(made)
    if len(found) > num_outputs:
        raise errors.InvalidArgumentError(
            None, None, f"Expecting {len(found)} outputs, but *num_retvals is {num_outputs} [Op:{text}]"
        )
    return found


quick_execute = execute


def TFE_Py_TensorShapeSlice(tensors: Sequence[Any], slice_dim: int) -> Any:
    """The sizes of tensors along one axis, as a tensor.

    Args:
      tensors: The tensors.
      slice_dim: The axis.

    Returns:
      A vector of int32.

    Raises:
      TypeError: If they are no list of eager tensors.
      ValueError: If the axis is negative.
      IndexError: If one has no such axis.
    """
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f'tensors argument must be a list or a tuple. Got "{type(tensors).__name__}"')
    if slice_dim < 0:
        raise ValueError(f"Slice dimension must be non-negative. Got {slice_dim}")
    for number, tensor in enumerate(tensors):
        if not isinstance(tensor, EagerTensor):
            kind = type(tensor).__name__
            raise TypeError(f'Expected a list of EagerTensors but element {number} has type "{kind}"')
        if slice_dim >= tensor.ndim:
            raise IndexError(
                f"Slice dimension ({slice_dim}) must be smaller than rank of all tensors, but tensor at "
                f"index {number} has rank {tensor.ndim}"
            )
    with modes.eager_mode():
        return convert_to_tensor([tensor._dims[slice_dim] for tensor in tensors], dtypes.int32)


def make_float(v: Any, arg_name: str) -> float:
    """A float of an attribute's value; TypeError names the argument."""
    return float(_checked(v, arg_name, "float", lambda: hasattr(v, "__float__") and not isinstance(v, str)))


def make_int(v: Any, arg_name: str) -> int:
    """An int of an attribute's value; TypeError names the argument."""
    _checked(v, arg_name, "int", lambda: not isinstance(v, str))
    try:
        return int(v)
    except (TypeError, ValueError):
        raise TypeError(f"Expected int for argument '{arg_name}' not {v!r}.") from None


def make_str(v: Any, arg_name: str) -> str | bytes:
    """A text of an attribute's value; TypeError names the argument."""
    return _checked(v, arg_name, "string", lambda: isinstance(v, (str, bytes)))


def make_bool(v: Any, arg_name: str) -> bool:
    """A bool of an attribute's value; TypeError names the argument."""
    return _checked(v, arg_name, "bool", lambda: isinstance(v, bool))


def make_type(v: Any, arg_name: str) -> int:
    """The number of a type; TypeError names the argument."""
    try:
        return dtypes.as_dtype(v).base_dtype.as_datatype_enum
    except TypeError:
        raise TypeError(f"Expected DataType for argument '{arg_name}' not {v!r}.") from None


def make_shape(v: Any, arg_name: str) -> Any:
    """The sizes of a shape, or None where its rank is unknown; TypeError and ValueError name the argument."""
    try:
        shape = TensorShape(v)
    except TypeError as error:
        raise TypeError(f"Error converting {arg_name} to a TensorShape: {error}.") from None
    except ValueError as error:
        raise ValueError(f"Error converting {arg_name} to a TensorShape: {error}.") from None
    return None if shape.ndims is None else shape.as_list()


def make_tensor(v: Any, arg_name: str) -> Any:
    """A TensorProto of an attribute's value; TypeError names the argument."""
    kind = type(make_tensor_proto(0))
    return _checked(v, arg_name, "TensorProto", lambda: isinstance(v, kind))


def _checked(value: Any, name: str, kind: str, fits: Callable[[], bool]) -> Any:
    if not fits():
        raise TypeError(f"Expected {kind} for argument '{name}' not {value!r}.")
    return value


def args_to_matching_eager(
    args: Sequence[Any], ctx: Any, default_dtype: Any = None
) -> tuple[int, list[EagerTensor]]:
    """Tensors of one type: that of the first tensor among them, or the one that the values have.

    Args:
      args: Tensors and Python values.
      ctx: The context.
      default_dtype: The type where there is no tensor and the values take it.

    Returns:
      The number of the type, and the tensors.
    """
    known = next((x.dtype for x in args if isinstance(x, EagerTensor)), None)
    made: list[Any] = []
    for value in args:
        hint = default_dtype if known is None else None
        made.append(convert_to_tensor(value, known, preferred_dtype=hint))
        known = made[-1].dtype
    kind = dtypes.as_dtype(default_dtype) if known is None and default_dtype else known
    return kind.as_datatype_enum if kind else 0, made


def convert_to_mixed_eager_tensors(values: Sequence[Any], ctx: Any) -> tuple[list[int], list[Any]]:
    """Tensors, each of its own type.

    Args:
      values: Tensors and Python values.
      ctx: The context.

    Returns:
      The numbers of the types, and the tensors.
    """
    made = [convert_to_tensor(value) for value in values]
    return [tensor.dtype.as_datatype_enum for tensor in made], made


# --------------------------------------------------------------------------------------------- gradients

implicit_grad = gradient_functions.implicit_gradients
implicit_val_and_grad = gradient_functions.implicit_value_and_gradients
val_and_grad_function = gradient_functions.value_and_gradients_function


def make_vjp(f: Callable, params: Sequence[str | int] | None = None, persistent: bool = True) -> Callable:
    """A function that computes another one, and gives a function of its gradients.

    Args:
      f: A function of tensors.
      params: The names or positions of the arguments by which it is differentiated; all if None.
      persistent: Whether the gradients are asked for more than once.

    Returns:
      A function of the same arguments. It returns the result, and a function of the result's weight.
    """

    def run(*args: Any, **kwargs: Any) -> tuple[Any, Callable]:
        inputs: list[Any] = [x if hasattr(x, "handle") else convert_to_tensor(x) for x in args]
        sources = [inputs[i] for i in gradient_functions.positions(f, params, args)]
        with GradientTape(persistent=persistent) as tape:
            tape.watch(sources)
            value = gradient_functions.checked(f(*inputs, **kwargs), f)
        return value, lambda dy=None: tape.gradient(value, sources, dy)

    return functools.update_wrapper(run, f)


def _num_elements(grad: Any) -> int:
    """How many numbers a gradient has; ValueError unless it is a tensor or IndexedSlices."""
    if isinstance(grad, IndexedSlices):
        return functools.reduce(lambda product, size: product * size, grad.values._shape_tuple(), 1)
    if hasattr(grad, "_shape_tuple"):
        return functools.reduce(lambda product, size: product * size, grad._shape_tuple(), 1)
    raise ValueError("`grad` not a Tensor or IndexedSlices.")


def _aggregate_grads(gradients: Sequence[Any]) -> Any:
    """The sum of gradients, as IndexedSlices where all are; AssertionError if there are none."""
    if not gradients:
        raise AssertionError("No gradients to aggregate")
    return gradients[0] if len(gradients) == 1 else aggregate.summed(gradients, None, gradients[0])


aggregate_indexed_slices_gradients = _aggregate_grads

_zeros, _ones = creation.zeros, creation.ones

# The kinds of attributes, as the C API numbers them.
TF_ATTR_STRING, TF_ATTR_INT, TF_ATTR_FLOAT, TF_ATTR_BOOL, TF_ATTR_TYPE, TF_ATTR_SHAPE = range(6)


def make_attr(attr_type: Any, value: Any) -> Any:
    """An attribute's value as gradient functions see it.

    Args:
      attr_type: The number of its kind; a list of one for a list of values.
      value: The value as the C API has it.

    Returns:
      A DType, a TensorShapeProto, or the value.
    """
    if isinstance(attr_type, list):
        return [make_attr(attr_type[0], each) for each in value]
    if attr_type == TF_ATTR_TYPE:
        return dtypes.as_dtype(value)
    return TensorShape(value).as_proto() if attr_type == TF_ATTR_SHAPE else value


def TFE_Py_RegisterExceptionClass(e: Any) -> None:
    """Says what failed operations raise; TypeError for what is no exception.

    Args:
      e: The class.
    """
    if not (isinstance(e, type) and issubclass(e, Exception)):
        raise TypeError("TFE_Py_RegisterExceptionClass: Registered class should be subclass of Exception.")
