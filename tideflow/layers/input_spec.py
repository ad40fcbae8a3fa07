"""The inputs that a layer accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike


@export("layers.InputSpec", "keras.layers.InputSpec")
class InputSpec:
    """The inputs that a layer accepts.

    Args:
      dtype: The type of the elements.
      shape: The shape.
      ndim: The rank.
      max_ndim: The largest rank.
      min_ndim: The least rank.
      axes: The sizes of axes, by axis.
    """

    def __init__(
        self,
        dtype: DTypeLike | None = None,
        shape: ShapeLike | None = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, int] | None = None,
    ) -> None:
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = shape
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = {int(axis): size for axis, size in (axes or {}).items()}

    def __repr__(self) -> str:
        said = [f"{name}={value}" for name, value in self.get_config().items() if value]
        return f"InputSpec({', '.join(said)})"

    def get_config(self) -> dict[str, Any]:
        """The arguments by name."""
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        """Makes an InputSpec from the result of `get_config`.

        Args:
          config: The arguments by name.

        Returns:
          The InputSpec.
        """
        return cls(**config)

    def check(self, tensor: Tensor, layer: str, position: int = 0) -> None:
        """Checks an input.

        Args:
          tensor: The input.
          layer: The name of the layer, for the error.
          position: The number of the input among several.

        Raises:
          ValueError: If the layer does not accept the input.
        """
        shape = tensor.shape
        prefix = f"Input {position} of layer {layer} is incompatible with the layer: "
        if shape.ndims is None:
            if self.ndim is not None or self.min_ndim is not None or self.max_ndim is not None or self.axes:
                raise ValueError(f"{prefix}its rank is undefined, but the layer requires a defined rank.")
            return
        full = f"Full shape received: {shape.as_list()}"
        if self.ndim is not None and shape.ndims != self.ndim:
            raise ValueError(f"{prefix}expected ndim={self.ndim}, found ndim={shape.ndims}. {full}")
        if self.max_ndim is not None and shape.ndims > self.max_ndim:
            raise ValueError(f"{prefix}expected max_ndim={self.max_ndim}, found ndim={shape.ndims}")
        if self.min_ndim is not None and shape.ndims < self.min_ndim:
            raise ValueError(f"{prefix}: expected min_ndim={self.min_ndim}, found ndim={shape.ndims}. {full}")
        for axis, size in self.axes.items():
            if size is not None and (axis >= shape.ndims or shape.tuple[axis] not in (size, None)):
                raise ValueError(
                    f"{prefix}expected axis {axis} of input shape to have value {size} but received input "
                    f"with shape {shape.as_list()}"
                )
        wanted = () if self.shape is None else TensorShape(self.shape).as_list()
        if any(None not in (size, found) and size != found for size, found in zip(wanted, shape.as_list())):
            raise ValueError(
                f"Input {position} is incompatible with layer {layer}: expected shape={self.shape}, found "
                f"shape={shape.as_list()}"
            )
        if self.dtype is not None and tensor.dtype.name != self.dtype:
            raise ValueError(f"{prefix}expected dtype={self.dtype}, found dtype={tensor.dtype.name}.")


def check_inputs(spec: Any, tensors: list[Tensor], layer: str) -> None:
    """ValueError unless a layer accepts the tensors: there is one spec for each of them."""
    if spec is None:
        return
    specs = spec if isinstance(spec, (list, tuple)) else [spec]
    if len(specs) != len(tensors):
        raise ValueError(
            f"Layer {layer} expects {len(specs)} inputs, but it received {len(tensors)} input tensors. "
            f"Inputs received: {tensors}"
        )
    for position, (one, tensor) in enumerate(zip(specs, tensors, strict=True)):
        if one is not None:
            one.check(tensor, layer, position)
