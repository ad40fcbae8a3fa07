"""Convolutions with other weights at each place of the input."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.export import export
from tideflow.keras.backend import neural
from tideflow.layers.argument_docs import described
from tideflow.layers.configured import Configured
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.shapes import check_data_format, check_padding, convolved_size, sizes

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import InitializerLike, RegularizerLike

_IMPLEMENTATIONS = (
    "1 for a product at each place, 2 for one product with a matrix that is mostly zeros, 3 for one with a "
    "sparse matrix. The weights are laid out differently in each."
)


class _LocallyConnected(Configured):
    rank: int
    _config = (
        "filters",
        "kernel_size",
        "strides",
        "padding",
        "data_format",
        "activation",
        "use_bias",
        "kernel_initializer",
        "bias_initializer",
        "kernel_regularizer",
        "bias_regularizer",
        "activity_regularizer",
        "kernel_constraint",
        "bias_constraint",
        "implementation",
    )

    def _init(self, given: dict[str, Any], kwargs: dict[str, Any]) -> None:
        super().__init__(**kwargs)
        self._keep(**{name: given[name] for name in self._config})
        self.kernel_size = sizes(self.kernel_size, self.rank, "kernel_size")
        self.strides = sizes(self.strides, self.rank, "strides")
        self.padding = check_padding(self.padding)
        if self.padding != "valid" and self.implementation == 1:
            raise ValueError(
                f"Invalid border mode for {type(self).__name__} (only "
                f'"valid" is supported if implementation is 1): {self.padding}'
            )
        self.data_format = check_data_format(self.data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _first(self) -> bool:
        return self.data_format == "channels_first"

    def _ends(self, inner: Sequence[int | None]) -> tuple[int | None, ...]:
        """The sizes of the output."""
        spans = zip(inner, self.kernel_size, self.strides, strict=True)
        return tuple(convolved_size(n, k, self.padding, s) for n, k, s in spans)

    def build(self, input_shape: Any) -> None:
        shape = tf.TensorShape(input_shape).as_list()
        channels, inner = (shape[1], shape[2:]) if self._first else (shape[-1], shape[1:-1])
        if channels is None or None in inner:
            raise ValueError(
                f"The spatial dimensions of the inputs to a {type(self).__name__} layer should be "
                "fully-defined, and so should the channels, but layer received the inputs shape "
                f"{tuple(shape)}"
            )
        self._places = self._ends(inner)
        self.kernel = self.add_weight(
            "kernel",
            self._kernel_shape(inner, channels),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                (*self._places, self.filters),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={1 if self._first else -1: channels})
        self.built = True

    def _kernel_shape(self, inner: list[int], channels: int) -> tuple[int, ...]:
        places, filters = self._places, self.filters
        if self.implementation == 1:
            return (int(np.prod(places)), int(np.prod(self.kernel_size)) * channels, filters)
        if self.implementation == 2:
            self.kernel_mask = self._mask(inner)
            if self._first:
                return (channels, *inner, filters, *places)
            return (*inner, channels, *places, filters)
        if self.implementation == 3:
            full = (
                (channels, *inner, filters, *places) if self._first else (*inner, channels, *places, filters)
            )
            matrix = np.broadcast_to(self._mask(inner), full).reshape(channels * int(np.prod(inner)), -1)
            self.kernel_idxs = np.argwhere(matrix.T)
            self.kernel_shape = matrix.T.shape
            return (len(self.kernel_idxs),)
        raise ValueError(f"Unrecognized implementation mode: {self.implementation}.")

    def _mask(self, inner: list[int]) -> np.ndarray:
        """Which places of the input each place of the output sees, with axes of size 1 for the channels."""
        rank = self.rank
        sees = []
        for n, out, k, stride in zip(inner, self._places, self.kernel_size, self.strides, strict=True):
            begin = np.arange(out) * stride - (k // 2 if self.padding == "same" else 0)
            place = np.arange(n)[:, None]
            sees.append((place >= begin) & (place < begin + k))
        mask = functools.reduce(np.multiply.outer, sees)  # input and output of each axis by turns
        mask = mask.transpose([*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)])
        mask = np.expand_dims(mask, (0, rank + 1) if self._first else (rank, 2 * rank + 1))
        return mask.astype(np.float64)

    def call(self, inputs: Tensor) -> Tensor:
        outputs = self._product(inputs)
        if self.use_bias:
            outputs = neural.bias_add(outputs, self.bias, data_format=self.data_format)
        return outputs if self.activation is None else self.activation(outputs)

    def _product(self, inputs: Tensor) -> Tensor:
        if self.implementation == 1:
            return self._at_each_place(inputs)
        flat = tf.reshape(inputs, (tf.shape(inputs)[0], -1))
        if self.implementation == 2:
            kernel = self.kernel * self.kernel_mask.astype(self.kernel.dtype.as_numpy_dtype)
            half = self.rank + 1
            rows = int(np.prod(kernel.shape.as_list()[:half]))
            made = tf.matmul(flat, tf.reshape(kernel, (rows, -1)), b_is_sparse=True)
        else:
            sparse = tf.SparseTensor(self.kernel_idxs, self.kernel, self.kernel_shape)
            made = tf.transpose(tf.sparse.sparse_dense_matmul(sparse, flat, adjoint_b=True))
        return tf.reshape(made, [tf.shape(made)[0], *self.compute_output_shape(inputs.shape).as_list()[1:]])

    def _at_each_place(self, inputs: Tensor) -> Tensor:
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Any) -> tf.TensorShape:
        shape = tf.TensorShape(input_shape).as_list()
        places = self._ends(shape[2:] if self._first else shape[1:-1])
        return tf.TensorShape(
            [shape[0], self.filters, *places] if self._first else [shape[0], *places, self.filters]
        )


@export("keras.layers.LocallyConnected1D")
@described("A convolution over one axis, with other weights at each place.", implementation=_IMPLEMENTATIONS)
class LocallyConnected1D(_LocallyConnected):
    rank = 1

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        data_format: str | None = None,
        activation: str | Callable | None = None,
        use_bias: bool = True,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        bias_initializer: str | InitializerLike | None = "zeros",
        kernel_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        activity_regularizer: str | RegularizerLike | None = None,
        kernel_constraint: str | Callable | None = None,
        bias_constraint: str | Callable | None = None,
        implementation: int = 1,
        **kwargs: Any,
    ):
        self._init(locals(), kwargs)

    def _at_each_place(self, inputs: Tensor) -> Tensor:
        return neural.local_conv1d(inputs, self.kernel, self.kernel_size, self.strides, self.data_format)


@export("keras.layers.LocallyConnected2D")
@described("A convolution over two axes, with other weights at each place.", implementation=_IMPLEMENTATIONS)
class LocallyConnected2D(_LocallyConnected):
    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        activation: str | Callable | None = None,
        use_bias: bool = True,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        bias_initializer: str | InitializerLike | None = "zeros",
        kernel_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        activity_regularizer: str | RegularizerLike | None = None,
        kernel_constraint: str | Callable | None = None,
        bias_constraint: str | Callable | None = None,
        implementation: int = 1,
        **kwargs: Any,
    ):
        self._init(locals(), kwargs)

    def _at_each_place(self, inputs: Tensor) -> Tensor:
        return neural.local_conv2d(
            inputs, self.kernel, self.kernel_size, self.strides, self._places, self.data_format
        )
