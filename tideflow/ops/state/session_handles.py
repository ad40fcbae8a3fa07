"""Values kept in the session between steps: `get_session_handle` keeps one, `get_session_tensor` takes it.

The handle that a step gives can be evaluated, fed and deleted; its text finds the value in other steps. A
value is let go with its handle, a little later: the text may still be on its way into a step.
"""

from __future__ import annotations

import collections
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import colocate_with, device
from tideflow.ops.arrays import constants
from tideflow.runtime.resources import owned
from tideflow.runtime.values import to_numpy
from tideflow.runtime.waiting import StepContext

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike

_DROPPED_HANDLES_KEPT = 10


class _Store:
    """A session's kept values by handle."""

    def __init__(self):
        self.values: dict[str, tuple[Any, dtypes.DType]] = {}
        self.numbers = itertools.count()
        self.dropped: collections.deque[str] = collections.deque()

    def drop(self, handle: str) -> None:
        """The program has lost the handle: its value is let go when enough others have been lost after it."""
        self.dropped.append(handle)
        if len(self.dropped) > _DROPPED_HANDLES_KEPT:
            self.values.pop(self.dropped.popleft(), None)


def _store_of(resources: Any, context: StepContext) -> _Store:
    if context.rendezvous is not None:
        raise errors.failed_precondition(
            "The sessions of a cluster keep no tensors between steps: keep them in variables."
        )
    return resources.get_or_create("", "kept tensors", "", _Store)


class TensorHandle:
    """A value kept in a session. Feeding the handle feeds the value."""

    def __init__(self, handle: str, store: _Store):
        self.handle = handle
        self._store = store
        self._is_raw = False

    def eval(self) -> Any:
        """The value."""
        return self.__array__()[()]

    def delete(self) -> None:
        """Lets the value go."""
        self._check_kept()
        del self._store.values[self.handle]

    def get_raw_handle(self) -> str:
        """The text; the value is kept until it is deleted, also when this object is gone."""
        self._is_raw = True
        return self.handle

    def to_numpy_array(self) -> np.ndarray:
        """The handle as an array that a step takes."""
        return np.array(self.handle.encode(), dtype=object)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        self._check_kept()
        value, _ = self._store.values[self.handle]
        return np.array(to_numpy(value) if isinstance(value, torch.Tensor) else value, dtype=dtype)

    def __str__(self) -> str:
        return self.handle

    def _check_kept(self) -> None:
        if self.handle not in self._store.values:
            raise TypeError(f"Persistent tensor {self.handle} may have already been deleted.")

    def __del__(self) -> None:
        if not self._is_raw:
            self._store.drop(self.handle)


get_session_handle_op = Op(
    "GetSessionHandle", "value: T -> handle: string", stateful=True, differentiable=False
)


@get_session_handle_op.shape
def _get_session_handle_shape(value):
    return []


@get_session_handle_op.kernel
def _get_session_handle_kernel(value, *, resources, node, T, context):
    return _kept(value, resources, node, T, context)


def _kept(value: Any, resources: Any, node: Any, dtype: dtypes.DType, context: StepContext) -> np.ndarray:
    """The handle under which the session keeps a value from here on."""
    store = _store_of(resources, context)
    is_gpu = isinstance(value, torch.Tensor) and value.is_cuda
    place = f"GPU:{value.get_device()}" if is_gpu else "CPU:0"
    text = f"{node.name};{next(store.numbers)};/job:localhost/replica:0/task:0/device:{place}"
    store.values[text] = owned(value), dtype
    handle = np.empty([], dtype=object)
    handle.fill(TensorHandle(text, store))
    return handle


get_session_handle_op.samples(covered_by="tests/ops/state/test_session_handles.py")

get_session_handle_v2_op = Op(
    "GetSessionHandleV2", "value: T -> handle: resource", stateful=True, differentiable=False
)


@get_session_handle_v2_op.shape
def _get_session_handle_v2_shape(value):
    return []


@get_session_handle_v2_op.kernel
def _get_session_handle_v2_kernel(value, *, resources, node, T, context):
    return _kept(value, resources, node, T, context)


get_session_handle_v2_op.samples(covered_by="tests/ops/state/test_session_handles.py")


@export("get_session_handle")
def get_session_handle(data: Tensor, name: str | None = None) -> Tensor:
    """Keeps a value in the session, beyond the step that computes it.

    Args:
      data: The tensor whose value is kept.
      name: A name for the operation.

    Returns:
      A scalar tensor. A step that fetches it keeps the value and gets a `TensorHandle` of it.

    Raises:
      TypeError: If `data` is not a tensor.
    """
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with colocate_with(data):
        return get_session_handle_op(data, name=name)


def _text(handle: np.ndarray) -> str:
    item = handle[()]
    return item.decode() if isinstance(item, bytes) else str(item)


def _not_kept(text: str) -> InvalidArgumentError:
    return errors.invalid_argument(f"The tensor with handle '{text}' is not in the session store.")


get_session_tensor_op = Op(
    "GetSessionTensor", "handle: string -> value: dtype", stateful=True, differentiable=False
)


@get_session_tensor_op.shape
def _get_session_tensor_shape(handle):
    return None


@get_session_tensor_op.kernel
def _get_session_tensor_kernel(handle, *, resources, device, dtype, context):
    text = _text(handle)
    value, kept_dtype = _store_of(resources, context).values.get(text, (None, None))
    if value is None:
        raise _not_kept(text)
    if kept_dtype != dtype:
        raise errors.internal(
            f"The tensor with handle '{text}' has type {kept_dtype.name}, not {dtype.name}."
        )
    return value.to(device) if isinstance(value, torch.Tensor) else value


get_session_tensor_op.samples(covered_by="tests/ops/state/test_session_handles.py")


@export("get_session_tensor")
def get_session_tensor(
    handle: str | TensorHandle, dtype: DTypeLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """A value that an earlier step has kept.

    Args:
      handle: The handle, or its text, whose device the operations are placed on.
      dtype: The value's type.
      name: A name for the operation.

    Returns:
      A placeholder for the handle, and the value kept under the handle that is fed.

    Raises:
      InvalidArgumentError: When the step runs and nothing is kept under the handle.
    """
    with device(_device_of(handle)):
        holder = constants.placeholder(dtypes.string)
        return holder, get_session_tensor_op(holder, dtype=dtype, name=name)


def _device_of(handle: Any) -> str:
    return (handle.decode() if isinstance(handle, bytes) else str(handle)).split(";")[-1]


delete_session_tensor_op = Op("DeleteSessionTensor", "handle: string", stateful=True, differentiable=False)


@delete_session_tensor_op.shape
def _delete_session_tensor_shape(handle):
    return []


@delete_session_tensor_op.kernel
def _delete_session_tensor_kernel(handle, *, resources, context):
    if _store_of(resources, context).values.pop(_text(handle), None) is None:
        raise _not_kept(_text(handle))


delete_session_tensor_op.samples(covered_by="tests/ops/state/test_session_handles.py")


@export("delete_session_tensor")
def delete_session_tensor(handle: str | TensorHandle, name: str | None = None) -> tuple[Tensor, Operation]:
    """Lets a value go that an earlier step has kept.

    Args:
      handle: The handle, or its text, whose device the operations are placed on.
      name: A name for the operation.

    Returns:
      A placeholder for the handle, and the operation that deletes what is kept under the handle that is fed.

    Raises:
      InvalidArgumentError: When the step runs and nothing is kept under the handle.
    """
    with device(_device_of(handle)):
        holder = constants.placeholder(dtypes.string)
        return holder, delete_session_tensor_op(holder, name=name)
