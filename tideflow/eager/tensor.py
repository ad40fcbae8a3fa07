"""EagerTensor: a tensor that has its value, a torch tensor or an object of the runtime."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.graph import dtypes
from tideflow.graph.convert import register_tensor_conversion_function
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_default_graph
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.helpers.variables import HandleShape
from tideflow.runtime.devices import EVERYTHING, LOCAL_TASK, Choice, Device, local_devices
from tideflow.runtime.settings import settings
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike

_ids = itertools.count()
_MOST_SHAPES = 10_000
_shapes: dict[tuple[int, ...], TensorShape] = {}  # nobody changes a shape, so tensors share them
_new = object.__new__


_OF_GRAPHS = ("op", "graph", "name", "value_index")


@property
def _of_graphs(self: Any) -> Any:
    raise AttributeError  # `__getattr__` says why


class EagerTensor(Tensor):
    """A tensor with a value. Ops on it run at once; in a function that is being traced it is captured.

    Kernels are found by `_key`: the number of its type, its sizes, and the device, if that is not the CPU; of
    a handle, in the place of the sizes, what it is a handle of.
    Attributes of graphs (`op`, `graph`, `name`, `value_index`) raise AttributeError.
    """

    __slots__ = ("_key", "_number", "_placed", "_value", "_variable", "assign")  # `assign`: of slices
    is_eager = True

    op = graph = name = value_index = _of_graphs  # type: ignore[assignment]

    def __init__(self, value: Any, device: Any = None, dtype: int | None = None) -> None:
        """Operations and tf.convert_to_tensor make tensors otherwise, and quicker.

        Args:
          value: The value: a Python value, an array, or another tensor.
          device: The name of the device that is to have it, empty for the first CPU.
          dtype: The number of the type; by the value if None.

        Raises:
          TypeError: If an argument is missing, or no such thing.
        """
        if device is None:
            raise TypeError("function missing required argument 'device' (pos 2)")
        if dtype is not None and not isinstance(dtype, int):
            raise TypeError(f"Expecting a DataType value for dtype. Got {type(dtype).__name__}")
        try:
            wanted = None if dtype is None else dtypes.as_dtype(dtype)
        except TypeError:
            raise TypeError(f"Invalid dtype argument value {dtype}") from None
        from tideflow.eager.conversion import eager_array  # loaded when asked for: it makes tensors

        if isinstance(value, EagerTensor):
            value = value.numpy()
        array, self.dtype = eager_array(value, wanted)
        self._value = to_torch(array, torch_device(device) if device else torch.device("cpu"))
        self._key = key_of(self._value, self.dtype)

    def __getattr__(self, name: str) -> Any:
        """What is made when it is first asked for."""
        if name == "_shape":
            shape = _shapes.get(self._dims)
            if shape is None:
                if len(_shapes) > _MOST_SHAPES:
                    _shapes.clear()
                shape = _shapes[self._dims] = TensorShape(self._dims)
            self._shape = shape
            return shape
        if name == "_number":
            self._number = number = next(_ids)
            return number
        if name in ("_variable", "_placed"):
            return None
        if name in _OF_GRAPHS:
            raise AttributeError(f"Tensor.{name} is meaningless when eager execution is enabled.")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")

    # ---------------------------------------------------------------------------------- what it is

    @property
    def _dims(self) -> tuple[int, ...]:
        return self._key[1]

    @property
    def _id(self) -> int:
        return self._number

    @property
    def device(self) -> str:
        """The full name of the device that has the value."""
        if self._placed is not None:  # one of several logical CPUs, which have one memory
            return self._placed  # type: ignore[no-any-return]
        return device_name(
            self._value.device if isinstance(self._value, torch.Tensor) else torch.device("cpu")
        )

    @property
    def backing_device(self) -> str:
        """The full name of the device that has the value's memory."""
        return self.device

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._key[1])

    @property
    def shape(self) -> TensorShape:
        """The shape, which is fully known."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The shape, as `shape` has it."""
        return self._shape

    def set_shape(self, shape: ShapeLike | None) -> None:
        """Checks that the tensor has this shape.

        Args:
          shape: The shape, of which parts may be open.

        Raises:
          ValueError: If the tensor has another shape.
        """
        if not self._shape.is_compatible_with(as_shape(shape)):
            raise ValueError(f"Tensor's shape {self._shape} is not compatible with supplied shape {shape}")

    def _shape_tuple(self) -> tuple[int, ...]:
        return self._dims

    def consumers(self) -> Any:
        """Raises NotImplementedError: nothing is recorded of who uses a value."""
        raise NotImplementedError("Tensor.consumers is meaningless when eager execution is enabled.")

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Raises NotImplementedError: the value is there already, as `numpy()`."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?"
        )

    # ---------------------------------------------------------------------------------- its value

    def numpy(self) -> Any:
        """The value as a NumPy array or scalar, in memory of its own."""
        array = self._array()
        return array.copy() if self._dims else array[()]

    def _numpy(self) -> np.ndarray:
        """The value as a NumPy array in the tensor's own memory, where that is the CPU's."""
        if self.dtype.numpy is None:
            raise ValueError(f"Cannot convert a Tensor of dtype {self.dtype.name} to a NumPy array.")
        return self._array()

    def _array(self) -> np.ndarray:
        if self.dtype.numpy is None:
            raise ValueError(f"A tensor of type {self.dtype.name} has no NumPy value.")
        array = to_numpy(self._value)
        return array.astype(self.dtype.as_numpy_dtype) if self.dtype.is_quantized else array

    def _known_value(self, largest: int) -> Any:
        """The value as Python numbers, for shape rules; None where it is data, not sizes."""
        if self.dtype.numpy is None or math.prod(self._dims) > largest:
            return None
        return self._value.tolist()

    def torch(self) -> torch.Tensor:
        """The value as a torch tensor, which shares this tensor's memory and must not be changed."""
        if not isinstance(self._value, torch.Tensor):
            raise TypeError(f"A tensor of type {self.dtype.name} has no torch value.")
        return self._value

    def cpu(self) -> EagerTensor:
        """A tensor of this value in the memory of the CPU."""
        there = self._on(torch.device("cpu"))
        return eager_tensor(self._value, self.dtype) if there is self else there

    def gpu(self, gpu_index: int = 0) -> EagerTensor:
        """This tensor in the memory of a GPU.

        Args:
          gpu_index: The GPU.

        Returns:
          The tensor.

        Raises:
          RuntimeError: If there is no such GPU.
        """
        return self._on(torch_device(f"/device:GPU:{gpu_index}", f"GPU:{gpu_index} unknown device."))

    def _on(self, device: torch.device) -> EagerTensor:
        if not isinstance(self._value, torch.Tensor) or self._value.device == device:
            return self
        return eager_tensor(self._value.to(device), self.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:  # type: ignore[override]
        array = self._array()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        return self.torch().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self.torch().__dlpack_device__()

    def __bool__(self) -> bool:
        return bool(self._array())

    __nonzero__ = __bool__

    def __int__(self) -> int:
        return int(_only(self._array()))

    def __float__(self) -> float:
        return float(_only(self._array()))

    def __complex__(self) -> complex:
        return complex(_only(self._array()))

    def __index__(self) -> int:
        return int(self._array().__index__())

    def __len__(self) -> int:
        if not self._dims:
            raise TypeError("Scalar tensor has no `len()`")
        return self._dims[0]

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        if not self._dims:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(self._dims[0]))

    def __format__(self, spec: str) -> str:
        return format(self._array()[()], spec) if spec and not self._dims else format(str(self), spec)

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_array, (self.numpy(), self.dtype.name)

    # ---------------------------------------------------------------------------------- how it prints

    def _text(self, is_repr: bool) -> str:
        if self.dtype.numpy is None:
            return "<unprintable>"
        array = self._array()
        if self._dims:
            return repr(array) if is_repr else str(array)
        return str(array[()]) if self.dtype is not dtypes.string else repr(array[()])

    def __str__(self) -> str:
        text = self._text(False)
        line = "\n" if "\n" in text else ""
        return f"tf.Tensor({line}{text}, shape={self._shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        text = self._text(True)
        line = "\n" if "\n" in text else ""
        return f"<tf.Tensor: id={self._id}, shape={self._shape}, dtype={self.dtype.name}, numpy={line}{text}>"


def eager_tensor(value: Any, dtype: dtypes.DType) -> EagerTensor:
    """The tensor of a value of the runtime: of a torch tensor, an array, or an object."""
    tensor: EagerTensor = _new(EagerTensor)
    tensor._value, tensor.dtype, tensor._key = value, dtype, key_of(value, dtype)
    return tensor


class Key(tuple[Any, ...]):
    """What kernels are looked up by: type, sizes and device of a tensor. Equal keys are the same object, so
    they are quick to hash and compare.
    """

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__


_MOST_KEYS = 10_000
_keys: dict[tuple[Any, ...], Key] = {}


def key(*parts: Any) -> Key:
    """The key of these parts: the number of a type, the sizes, and the device, if that is not the CPU."""
    found = _keys.get(parts)
    if found is None:
        if len(_keys) > _MOST_KEYS:
            _keys.clear()
        found = _keys.setdefault(parts, Key(parts))
    return found


def key_of(value: Any, dtype: dtypes.DType) -> Key:
    """The key of a value of this type."""
    if isinstance(value, torch.Tensor):
        sizes = tuple(value.shape)
        if value.is_cpu:
            return key(dtype.as_datatype_enum, sizes)
        return key(dtype.as_datatype_enum, sizes, value.device)
    return key(dtype.as_datatype_enum, value.shape if isinstance(value, np.ndarray) else ())


def handle_key(shape: HandleShape) -> Key:
    """The key of a handle."""
    sizes = shape.dtype.as_datatype_enum, shape.variable_shape.tuple
    return key(dtypes.resource.as_datatype_enum, sizes)


def _only(array: np.ndarray) -> Any:
    """The element of an array that has one."""
    if array.size != 1:
        raise TypeError("only size-1 arrays can be converted to Python scalars")
    return array.reshape(())[()]


def _from_array(array: Any, name: str) -> Any:
    tensor = torch.from_numpy(np.array(array)) if np.asarray(array).dtype != object else np.asarray(array)
    return eager_tensor(tensor, dtypes.as_dtype(name))


# ---------------------------------------------------------------------------------- devices


class _Chosen:
    devices: Choice = EVERYTHING


def choose_devices(choice: Choice) -> None:
    """Says which devices eager mode has."""
    _Chosen.devices = choice


def eager_devices() -> tuple[Device, ...]:
    """The devices that eager mode has: those chosen, divided as `tf.config` says by now."""
    chosen = _Chosen.devices
    if settings.virtual_devices:
        chosen = replace(chosen, parts={**chosen.parts, **settings.virtual_devices})
    return local_devices(chosen)


def device_name(device: torch.device) -> str:
    """TensorFlow's full name of a torch device."""
    for known in eager_devices():
        if known.torch_device == device:
            return known.name
    return f"{LOCAL_TASK}/device:{device.type.upper()}:{device.index or 0}"


def torch_device(name: str, refusal: str | None = None) -> torch.device:
    """The torch device of a full or partial name; RuntimeError where this process has none of it."""
    return eager_device(name, refusal).torch_device


def eager_device(name: str, refusal: str | None = None) -> Device:
    """The device of a full or partial name; RuntimeError where this process has none of it."""
    wanted = name.lower().replace("/device:", "/").rpartition("/")[2]
    kind, _, index = wanted.partition(":")
    index = "" if index == "*" else index
    for known in eager_devices():
        if known.device_type.lower() == kind and known.index == int(index or 0):
            return known
    full = f"{LOCAL_TASK}/device:{kind.upper()}:{index or 0}"
    raise RuntimeError(refusal or f"{full} unknown device.")


def _from_torch(value: torch.Tensor, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    """A torch tensor as one of ours, which shares its memory; in a graph, a constant."""
    if not get_default_graph().is_eager:
        return NotImplemented
    found = dtypes.as_dtype(value.dtype)
    if dtype is not None and found is not dtypes.as_dtype(dtype).base_dtype:
        value, found = value.to(dtypes.as_dtype(dtype).torch), dtypes.as_dtype(dtype).base_dtype
    return eager_tensor(value.detach(), found)


register_tensor_conversion_function(torch.Tensor, _from_torch, priority=50)
