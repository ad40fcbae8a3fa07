"""Eager mode: the graph in whose place ops run at once, and the switches of the mode."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from tideflow.eager.conversion import eager_array
from tideflow.eager.execute import BoundKernel, execute
from tideflow.eager.gradient_functions import with_custom_gradient
from tideflow.eager.gradient_plans import GradientPlans
from tideflow.eager.locks import give_lock
from tideflow.eager.tensor import (
    EagerTensor,
    choose_devices,
    eager_device,
    eager_devices,
    eager_tensor,
    torch_device,
)
from tideflow.export import export, expose
from tideflow.graph import dtypes
from tideflow.graph.graph import Graph
from tideflow.graph.op import Op
from tideflow.graph.scopes import Global, get_default_graph, set_global_graph
from tideflow.graph.stacks import default_graphs
from tideflow.runtime.devices import CPU
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.values import to_torch
from tideflow.session.config import choice_of

if TYPE_CHECKING:
    from tensorboard.compat.proto.config_pb2 import ConfigProto

    from tideflow.graph.typing import DeviceLike, DTypeLike

SYNC, ASYNC = 0, 1
DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT = 0, 1, 2
DEVICE_PLACEMENT_SILENT_FOR_INT32 = 3
_POLICIES = (
    None,
    DEVICE_PLACEMENT_EXPLICIT,
    DEVICE_PLACEMENT_WARN,
    DEVICE_PLACEMENT_SILENT,
    DEVICE_PLACEMENT_SILENT_FOR_INT32,
)
_MAX_INT32 = 2**31 - 1
_MOST_NUMBERS = 1_000
_NO_DEVICE = SimpleNamespace(device="")


class EagerGraph(Graph):
    """The default graph of eager mode: it holds the scopes of each thread, and no operations.

    `Op.__call__` hands it what it would add to a graph, and gets the result.
    """

    is_eager = True
    tensor_type = EagerTensor

    def __init__(self) -> None:
        self.kernels: dict[tuple[Any, ...], BoundKernel] = {}
        # The functions `run` of the kernels. The most common public functions look here first, and call
        # `execute` only for what is missing. It stays empty once the program has used `tf.device`.
        self.known: dict[tuple[Any, ...], Callable[[Sequence[Any], str | None], Any]] = {}
        self.uses_devices = False  # whether the program has used `tf.device`
        self.states: dict[Any, dict[str, Any]] = {}  # by op: what it keeps between calls
        self.resources = ResourceManager()
        self.tasks: list[str] = []  # the names of this process in a cluster
        self.gradient_plans = GradientPlans(self)
        self.kept: dict[str, Any] = {}  # what libraries note about the program's names
        self._numbers: dict[Any, tuple[Any, dtypes.DType]] = {}
        self._global_seed: int | None = None
        self._random = random.Random()
        super().__init__()
        accelerators = [device for device in eager_devices() if device.device_type != "CPU"]
        self.accelerated = bool(accelerators)
        self._fastest = accelerators[0].torch_device if accelerators else CPU

    execute = execute  # what `Op.__call__` calls
    array_of = staticmethod(eager_array)
    with_custom_gradient = staticmethod(with_custom_gradient)

    def _insert(self, op: Any, given: Any) -> None:
        raise RuntimeError(
            f"{op.type} '{op.name}' would be a node of a graph, and eager execution has none: make it "
            "inside of `with tf.Graph().as_default():`."
        )

    def forget(self) -> None:
        """Forgets collections and the names of scopes, as a new default graph would."""
        self._collections.clear()
        self._names.clear()
        self.kept.clear()

    def forget_kernels(self) -> None:
        """Forgets the kernels that were found for calls."""
        self.kernels.clear()
        self.known.clear()

    def number(self, value: float, dtype: DTypeLike | None) -> EagerTensor:
        """A new tensor of a Python number. Tensors of the same number share its memory."""
        if self._local.devices or self.accelerated:
            array, known = eager_array(value, dtype)
            return self.placed(eager_tensor(to_torch(array, self.device_of_constant(known)), known))  # type: ignore[no-any-return]
        key = value or repr(value), type(value), dtype  # 0.0 equals -0.0
        found = self._numbers.get(key)
        if found is None:
            if len(self._numbers) > _MOST_NUMBERS:
                self._numbers.clear()
            array, known = eager_array(value, dtype)
            found = self._numbers[key] = to_torch(array), known
        return eager_tensor(*found)

    def filled(self, sizes: Sequence[int], value: float, dtype: dtypes.DType) -> EagerTensor:
        """A new tensor with a Python number in every place."""
        device = self.device_of_constant(dtype)
        return self.placed(eager_tensor(torch.full(sizes, value, dtype=dtype.torch, device=device), dtype))  # type: ignore[no-any-return]

    # ------------------------------------------------------------------ seeds

    @property  # type: ignore[override]
    def seed(self) -> int | None:
        """The seed of the mode, from which ops without one derive theirs."""
        return self._global_seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._global_seed = seed
        self._random = random.Random(seed)
        self.states.clear()
        self.forget_kernels()

    def _next_op_seed(self) -> int:
        return self._random.randint(0, _MAX_INT32)

    # ------------------------------------------------------------------ scopes

    def _scope_for(self, name: str) -> str:
        return name[:-1] if name.endswith("/") else self.unique_name(name)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """The name in the current name scope. Nothing is added, so every name is unique."""
        stack = self._local.name_stack
        return f"{stack}/{name}" if stack else name

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Iterator[None]:
        """Calls those of the inputs that are functions. The others have run already."""
        for item in control_inputs or ():
            if callable(item) and not hasattr(item, "dtype"):
                item()
        yield

    def device(self, device_name_or_function: DeviceLike | None) -> Any:
        """Runs the operations of a `with` block on a device.

        Args:
          device_name_or_function: The device; None cancels those of the blocks outside.
        """
        if callable(device_name_or_function) and not hasattr(device_name_or_function, "to_string"):
            raise RuntimeError("tf.device does not support functions when eager execution is enabled.")
        self.uses_devices = True
        self.known.clear()
        return super().device(device_name_or_function)

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Runs the operations of a `with` block where their inputs are."""
        yield

    # ------------------------------------------------------------------ devices

    def requested_name(self) -> str | None:
        """The name of the device of the innermost `with tf.device(...)` block, if it names one."""
        for entry in reversed(self._local.devices):
            if entry is None:
                return None
            name: str = entry.shortcut_string_merge(_NO_DEVICE)  # type: ignore[attr-defined]
            if "/device:" in name:
                return name
        return None

    def requested_device(self) -> torch.device | None:
        """The device of the innermost `with tf.device(...)` block, if it names one."""
        name = self.requested_name()
        return None if name is None else torch_device(name)

    def placed(self, result: Any) -> Any:
        """What ran in a `with tf.device(...)` block: its tensors say on which of several CPUs."""
        if not self._local.devices:
            return result
        name = self.requested_name()
        device = None if name is None else eager_device(name)
        if device is not None and device.device_type == "CPU" and device.index:
            for tensor in result if isinstance(result, (list, tuple)) else [result]:
                if isinstance(tensor, EagerTensor):
                    tensor._placed = device.name
        return result

    def device_for(self, op: Op, inputs: list[EagerTensor]) -> torch.device | None:
        """Where an op runs: where the program says, on the accelerator that has one of its inputs or the
        variable that it uses, or on the first one, unless it takes sizes; None where there are only CPUs.
        """
        if not self.accelerated:
            self.requested_device()  # raises for a device that is not there
            return None
        requested = self.requested_device()
        if requested is not None:
            return requested
        if op.on_host:
            return CPU
        values = [
            getattr(x._value, "value", None) if x.dtype is dtypes.resource else x._value for x in inputs
        ]
        found = [value.device for value in values if isinstance(value, torch.Tensor)]
        elsewhere = [device for device in found if device != CPU]
        if elsewhere:
            return elsewhere[0]
        if any(x.dtype in (dtypes.int32, dtypes.int64, dtypes.string) for x in inputs):
            return CPU
        return self._fastest

    def device_of_constant(self, dtype: dtypes.DType) -> torch.device:
        requested = self.requested_device() if self._local.devices else None
        if requested is not None:
            return requested
        return self._fastest if self.accelerated and dtype.is_floating else CPU


# ---------------------------------------------------------------------------------- the mode of the process


class _Mode:
    _lock: Any


give_lock(_Mode)


def eager_graph() -> EagerGraph:
    """The stand-in of this process, made when first needed."""
    if Global.stand_in is None:
        with _Mode._lock:
            if Global.stand_in is None:
                Global.stand_in = EagerGraph()
    return Global.stand_in  # type: ignore[no-any-return]


@export("enable_eager_execution")
def enable_eager_execution(
    config: ConfigProto | None = None, device_policy: int | None = None, execution_mode: int | None = None
) -> None:
    """Makes operations run at once, for the rest of the program.

    It is called once, before the program makes a graph. `with graph.as_default():` still builds graphs.

    Args:
      config: The devices and threads to use, as for a session.
      device_policy: What happens to inputs that are on another device than the operation: they are copied,
        whichever of the `tf.contrib.eager.DEVICE_PLACEMENT_…` this is.
      execution_mode: `tf.contrib.eager.SYNC` or `ASYNC`. Kernels of the CPU have run when a call returns,
        those of a GPU are waited for where the value is read, in both modes.

    Raises:
      ValueError: If the program has made operations already, or an argument is not one of those.
      TypeError: If `config` is not a ConfigProto.
    """
    if config is not None and type(config).__name__ != "ConfigProto":
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    if device_policy not in _POLICIES:
        raise ValueError(
            "device_policy must be one of None, tf.contrib.eager.DEVICE_PLACEMENT_EXPLICIT, "
            "tf.contrib.eager.DEVICE_PLACEMENT_WARN, tf.contrib.eager.DEVICE_PLACEMENT_SILENT"
        )
    if execution_mode not in (None, SYNC, ASYNC):
        raise ValueError("execution_mode must be one of None, tf.contrib.eager.SYNC, tf.contrib.eager.ASYNC")
    if default_graphs.items:
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    current = get_default_graph()
    if current.is_eager:
        return
    if current._ops:
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    if config is not None:
        choose_devices(choice_of(config))
    set_global_graph(eager_graph())


@export("disable_eager_execution")
def disable_eager_execution() -> None:
    """Makes operations build a graph again, as they do unless `tf.enable_eager_execution` was called.

    Raises:
      ValueError: Inside a `with graph.as_default():` block.
    """
    if default_graphs.items:
        raise ValueError("tf.disable_eager_execution must be called outside of graphs and functions.")
    if get_default_graph().is_eager:
        set_global_graph(None)


@contextlib.contextmanager
def eager_mode() -> Iterator[None]:
    """Makes the operations of a `with` block run at once."""
    with eager_graph().as_default():
        yield


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """Makes the operations of a `with` block build a graph of their own."""
    with Graph().as_default():
        yield


@export("contrib.eager.in_eager_mode")
def in_eager_mode() -> bool:
    """Whether operations run at once.

    Returns:
      What `tf.executing_eagerly` gives.
    """
    return get_default_graph().is_eager


@export("contrib.eager.num_gpus")
def num_gpus() -> int:
    """Counts the GPUs that operations can run on.

    Returns:
      The number of GPUs of this process.
    """
    return sum(device.device_type == "GPU" for device in eager_devices())


@export("contrib.eager.list_devices")
def list_devices() -> list[str]:
    """Lists the devices that operations can run on.

    Returns:
      Their full names.
    """
    return [device.name for device in eager_devices()]


@contextlib.contextmanager
def function_executor_type(executor_type: str) -> Iterator[None]:
    """Where functions are called with another executor of TensorFlow's. Here all run alike.

    Args:
      executor_type: The executor's name.

    Yields:
      Nothing.
    """
    yield


for _name in (
    "SYNC",
    "ASYNC",
    "DEVICE_PLACEMENT_EXPLICIT",
    "DEVICE_PLACEMENT_WARN",
    "DEVICE_PLACEMENT_SILENT",
):
    expose(globals()[_name], f"contrib.eager.{_name}")
