"""Complex numbers: made of two real parts, and taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation, shapes
from tideflow.ops.helpers import unbroadcast
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.samples import c64, f32
from tideflow.ops.helpers.types import COMPLEX, REAL_PARTS
from tideflow.ops.math import binary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorOrRagged

COMPLEX_T = attr("type", "complex64", allowed=COMPLEX)
REAL_T = attr("type", "float", allowed=REAL_PARTS)

complex_abs_op = Op("ComplexAbs", "x: T -> y: Tout", T=COMPLEX_T, Tout=REAL_T)
complex_abs_op.shape(same_shape)
complex_abs_op.kernel(torch.abs)


@complex_abs_op.gradient
def _complex_abs_gradient(op, grad):
    direction = complex(grad, creation.zeros_like(grad)) * op.inputs[0]
    return binary.div_no_nan(direction, complex(op.outputs[0], creation.zeros_like(op.outputs[0])))


complex_abs_op.samples(c64(2, 3), c64(), c64(0, 2), against=np.abs)

real_op = Op("Real", "input: T -> output: Tout", T=COMPLEX_T, Tout=REAL_T)
real_op.shape(same_shape)
real_op.kernel(torch.real)


@real_op.gradient
def _real_gradient(op, grad):
    return complex(grad, constants.constant(0, dtype=grad.dtype.base_dtype))


real_op.samples(c64(2, 3), c64(), c64(0, 2), against=np.real)


@export("real", "math.real", ragged="values")
def real(input: TensorOrRagged, name: str | None = None) -> Tensor:
    """The real part of each element; real numbers are their own.

    Args:
      input: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of the shape of `input` and the real type of its parts; `input` itself where it is real.
    """
    with name_scope(name, "Real", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        return real_op(input, Tout=input.dtype.real_dtype, name=scope) if input.dtype.is_complex else input


imag_op = Op("Imag", "input: T -> output: Tout", T=COMPLEX_T, Tout=REAL_T)
imag_op.shape(same_shape)
imag_op.kernel(torch.imag)


@imag_op.gradient
def _imag_gradient(op, grad):
    return complex(constants.constant(0, dtype=grad.dtype.base_dtype), grad)


imag_op.samples(c64(2, 3), c64(), c64(0, 2), against=np.imag)


@export("imag", "math.imag", ragged="values")
def imag(input: TensorOrRagged, name: str | None = None) -> Tensor:
    """The imaginary part of each element; of real numbers, zeros.

    Args:
      input: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of the shape of `input` and the real type of its parts.
    """
    with name_scope(name, "Imag", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return imag_op(input, Tout=input.dtype.real_dtype, name=scope)
        return creation.zeros_like(input)


angle_op = Op("Angle", "input: T -> output: Tout", T=COMPLEX_T, Tout=REAL_T)
angle_op.shape(same_shape)
angle_op.kernel(torch.angle)


@angle_op.gradient
def _angle_gradient(op, grad):
    with control_dependencies([grad]):
        re, im = real(op.inputs[0]), imag(op.inputs[0])
        turned = tf.reciprocal(complex(im, re))
        return -complex(grad, constants.constant(0, dtype=grad.dtype.base_dtype)) * turned


angle_op.samples(c64(2, 3), c64(), c64(0, 2), against=np.angle)


@export("angle", "math.angle", ragged="values")
def angle(input: TensorOrRagged, name: str | None = None) -> Tensor:
    """The argument of each complex number, between -pi and pi; of real numbers, zeros.

    Args:
      input: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of the shape of `input` and the real type of its parts.
    """
    with name_scope(name, "Angle", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return angle_op(input, Tout=input.dtype.real_dtype, name=scope)
        return creation.zeros_like(input)


complex_op = Op(
    "Complex",
    "real: T, imag: T -> out: Tout",
    T=REAL_T,
    Tout=COMPLEX_T,
)
complex_op.shape(broadcast_shapes)


@complex_op.kernel
def _complex_kernel(real, imag):
    return torch.complex(*torch.broadcast_tensors(real, imag))


@complex_op.gradient
def _complex_gradient(op, grad):
    to_real, to_imag = unbroadcast.ways_back(shapes.shape(op.inputs[0]), shapes.shape(op.inputs[1]))
    return [to_real(real(grad)), to_imag(imag(grad))]


complex_op.samples(
    (f32(2, 3), f32(2, 3)), (f32(2, 1), f32(3)), (f32(), f32()), against=lambda x, y: x + 1j * y
)


@export("complex", "dtypes.complex", ragged="broadcast_values")
def complex(real: TensorOrRagged, imag: TensorOrRagged, name: str | None = None) -> Tensor:
    """Complex numbers of their parts: real + i * imag.

    Args:
      real: A tensor of type float32 or float64.
      imag: A tensor of the type of `real`, of a shape that broadcasts with that of `real`.
      name: A name for the operation.

    Returns:
      A tensor of type complex64 or complex128 and of the broadcast shape.

    Raises:
      TypeError: If the parts are not both float32 or both float64.
    """
    real, imag = convert_to_tensor(real, name="real"), convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        parts = real.dtype.base_dtype, imag.dtype.base_dtype
        if parts[0] is not parts[1] or parts[0] not in REAL_PARTS:
            raise TypeError(f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}")
        return complex_op(real, imag, Tout=COMPLEX[REAL_PARTS.index(parts[0])], name=scope)
