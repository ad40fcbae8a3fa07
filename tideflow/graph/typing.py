"""The types of what public functions accept: `x: TensorLike`, `shape: ShapeLike`, `dtype: DTypeLike`.

Only annotations name them, so modules import them under `TYPE_CHECKING`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import torch
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from tideflow.graph.composite import IndexedSlices, SparseTensor
from tideflow.graph.device import DeviceSpec
from tideflow.graph.dtypes import DType
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.shapes import Dimension, TensorShape


class VariableLike(Protocol):
    """A variable, whole or partitioned: it stands for the tensor that reads it."""

    @property
    def name(self) -> str: ...

    @property
    def dtype(self) -> DType: ...

    def get_shape(self) -> TensorShape: ...


class RaggedLike(Protocol):
    """A RaggedTensor: the values of all rows, and where each row begins."""

    @property
    def flat_values(self) -> Tensor: ...

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]: ...


class SessionLike(Protocol):
    """What `Tensor.eval` and `Operation.run` need of a session."""

    @property
    def graph(self) -> Graph: ...

    def run(self, fetches: Any, feed_dict: FeedDict | None = None) -> Any: ...


class ControlFlowContext(Protocol):
    """The branch of a conditional or the loop in which operations are being made."""

    @property
    def outer_context(self) -> ControlFlowContext | None: ...

    @property
    def loop(self) -> Any: ...

    @property
    def grad_state(self) -> Any: ...

    def home(self, op_type: str, inputs: list[Tensor]) -> ControlFlowContext: ...

    def enter_value(self, tensor: Tensor) -> Tensor: ...

    def check_use(self, tensor: Tensor, name: str, op_type: str, where: Any) -> None: ...

    def add_op(self, op: Operation) -> None: ...

    def is_around(self, context: Any) -> bool: ...


Scalar: TypeAlias = bool | int | float | complex | str | bytes | np.generic

# What `tf.convert_to_tensor` accepts: a tensor, a variable, or values that become a constant. Lists and
# tuples may mix tensors and values.
TensorLike: TypeAlias = (
    Tensor
    | VariableLike
    | IndexedSlices
    | np.ndarray
    | Scalar
    | Dimension
    | TensorShape
    | Sequence["TensorLike"]
)

# What functions accept that have a form for ragged tensors: `@export(…, ragged=…)`.
TensorOrRagged: TypeAlias = TensorLike | RaggedLike | Sequence["TensorOrRagged"]

# A size that may be unknown (None), and a static shape made of such sizes. Where the rank may be unknown too,
# the annotation is `ShapeLike | None`.
SizeLike: TypeAlias = int | np.integer[Any] | Dimension | None
ShapeLike: TypeAlias = TensorShape | TensorShapeProto | Iterable[SizeLike] | int

# What `tf.as_dtype` accepts: a DType, its name or number, or the type that NumPy, torch or Python has for it.
DTypeLike: TypeAlias = DType | str | int | np.dtype[Any] | torch.dtype | type

# What makes a variable's initial value from its shape and dtype: a function, an initializer or its class. A
# regularizer makes a loss of the variable's value, or none.
InitializerLike: TypeAlias = Callable[..., Any]
RegularizerLike: TypeAlias = Callable[[Any], Tensor | None]

# A path in the file system.
PathLike: TypeAlias = str | bytes | os.PathLike[str]

# What `tf.device` accepts; a function gets each new operation and returns its device.
DeviceFunction: TypeAlias = Callable[[Operation], str | DeviceSpec | None]
DeviceLike: TypeAlias = str | DeviceSpec | DeviceFunction

# What stands for a tensor or an operation of a graph, for instance as a control input: the object or its
# name.
GraphElementLike: TypeAlias = Tensor | Operation | VariableLike | IndexedSlices | str

# Values that a step takes in place of tensors, by the tensor or a structure of tensors.
FeedDict: TypeAlias = Mapping[Any, Any]

# A gradient: dense, or only the rows of it that are not zero.
Gradient: TypeAlias = Tensor | IndexedSlices
AnyTensor: TypeAlias = Tensor | SparseTensor | IndexedSlices
