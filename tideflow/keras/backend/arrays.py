"""Backend functions: arrays, variables, random numbers and control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.export import export
from tideflow.layers import keras_state
from tideflow.layers.argument_docs import explained
from tideflow.layers.keras_graph import get_graph
from tideflow.layers.keras_session import get_value, track_variable
from tideflow.train.moving_averages import assign_moving_average
from tideflow.variables.behavior import v2_behavior_enabled

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike

_WORDS = {
    "axis": "The axis.",
    "axes": "The axis, or a list of axes.",
    "shape": "The shape.",
    "dtype": "The type of the elements; the default of Keras if None.",
    "name": "The name of the operation.",
    "tensors": "A list of parts.",
    "value": "The value.",
    "reference": "The tensor that is taken from.",
    "indices": "The numbers of what is taken.",
    "num_classes": "The number of classes.",
    "n": "The number of repetitions.",
    "rep": "The number of repetitions of each element.",
    "pattern": "The new order of the axes.",
    "size": "The number of rows.",
    "start": "The first number.",
    "stop": "The end, which is not included; `start` if None, and then from 0.",
    "step": "The distance of numbers.",
    "ndim": "The rank, if the shape is not given.",
    "sparse": "Whether it is sparse.",
    "ragged": "Whether it is ragged.",
    "constraint": "The constraint, which optimizers apply after each update.",
    "tensor": "A sparse tensor, or another.",
    "condition": "The condition, a tensor.",
    "then_expression": "What is taken where it holds: a tensor, or a function of one structure.",
    "else_expression": "What is taken elsewhere: a tensor, or a function of one structure.",
    "alt": "What is taken otherwise: a value, or a function without arguments.",
    "training": "The training mode; the learning phase if None.",
    "new_x": "The new value.",
    "increment": "What is added.",
    "decrement": "What is subtracted.",
    "momentum": "The decay.",
    "mean": "The mean.",
    "stddev": "The standard deviation.",
    "scale": "The standard deviation.",
    "low": "The least number.",
    "high": "The upper bound.",
    "minval": "The least number.",
    "maxval": "The upper bound.",
    "p": "The probability of a one.",
    "loss": "The loss.",
    "variables": "A variable, or a list of them.",
    "message": "What is printed before the value.",
    "fn": "The function.",
    "elems": "What the function is called with: the parts along the first axis.",
    "initializer": "The first value.",
}


def _type(dtype: Any) -> Any:
    return tf.as_dtype(keras_state.floatx() if dtype is None else dtype)


@export("keras.backend.backend")
@explained("Says what computes.", "The name.", **_WORDS)
def backend() -> str:
    return "tensorflow"


@export("keras.backend.cast")
@explained("Converts to another type.", **_WORDS)
def cast(x: TensorLike, dtype: DTypeLike) -> Tensor:
    return tf.cast(x, dtype)


@export("keras.backend.cast_to_floatx")
@explained("Converts to the default type of floats.", **_WORDS)
def cast_to_floatx(x: TensorLike) -> Any:
    return (
        tf.cast(x, keras_state.floatx())
        if isinstance(x, (tf.Tensor, tf.Variable, tf.SparseTensor))
        else np.asarray(x, dtype=keras_state.floatx())
    )


@export("keras.backend.dtype")
@explained("The type of elements, as a name.", "The name.", **_WORDS)
def dtype(x: TensorLike) -> str:
    return x.dtype.base_dtype.name


@export("keras.backend.shape")
@explained("Computes the shape.", **_WORDS)
def shape(x: TensorLike) -> Tensor:
    return tf.shape(x)


@export("keras.backend.int_shape")
@explained("The static shape.", "A tuple, or None where even the rank is open.", **_WORDS)
def int_shape(x: TensorLike) -> Any:
    sizes = getattr(x, "shape", None)
    if sizes is None or tf.TensorShape(sizes).ndims is None:
        return None
    return tuple(tf.TensorShape(sizes).as_list())


@export("keras.backend.ndim")
@explained("The rank.", "An int, or None where it is open.", **_WORDS)
def ndim(x: TensorLike) -> Any:
    return tf.TensorShape(x.shape).ndims


@export("keras.backend.count_params")
@explained("The number of elements.", "An int.", **_WORDS)
def count_params(x: TensorLike) -> int:
    return np.prod(x.shape.as_list())


@export("keras.backend.is_sparse")
@explained("Whether a tensor is sparse.", "A bool.", **_WORDS)
def is_sparse(tensor: TensorLike) -> bool:
    return isinstance(tensor, tf.SparseTensor)


@export("keras.backend.to_dense")
@explained("Converts a sparse tensor to one with all elements.", **_WORDS)
def to_dense(tensor: TensorLike) -> Tensor:
    return tf.sparse.to_dense(tensor) if is_sparse(tensor) else tensor


@export("keras.backend.constant")
@explained("Makes a constant.", **_WORDS)
def constant(
    value: TensorLike, dtype: DTypeLike | None = None, shape: ShapeLike | None = None, name: str | None = None
) -> Tensor:
    return tf.constant(value, dtype=_type(dtype), shape=shape, name=name or "Const")


@export("keras.backend.placeholder")
@explained("Makes a placeholder.", **_WORDS)
def placeholder(
    shape: ShapeLike | None = None,
    ndim: int | None = None,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
    name: str | None = None,
    ragged: bool = False,
) -> Any:
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True when creating a placeholder.")
    if not shape and ndim:
        shape = (None,) * ndim
    if sparse:
        with get_graph().as_default():
            return tf.sparse_placeholder(_type(dtype), shape, name=name)
    if ragged:
        sizes = tuple(tf.TensorShape(shape).as_list())
        inner = sizes[1:]
        rank = next((i for i, size in enumerate(inner) if size is not None), len(inner))
        with get_graph().as_default():
            return tf.ragged.placeholder(_type(dtype), rank, inner[rank:], name=name)
    with get_graph().as_default():
        return tf.placeholder(_type(dtype), shape, name=name)


@export("keras.backend.variable")
@explained("Makes a variable.", "The variable.", **_WORDS)
def variable(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    constraint: Callable | None = None,
) -> Any:
    made = tf.Variable(value, dtype=_type(dtype), name=name, constraint=constraint, use_resource=True)
    track_variable(made)
    return made


@export("keras.backend.zeros")
@explained("Makes a variable of zeros.", "The variable; a tensor where the shape is open.", **_WORDS)
def zeros(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    value = tf.zeros(shape, dtype=_type(dtype), name=name)
    return variable(value, dtype, name) if value.shape.is_fully_defined() else value


@export("keras.backend.zeros_like")
@explained("Makes zeros of the same shape.", **_WORDS)
def zeros_like(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    return tf.zeros_like(x, dtype=dtype, name=name)


@export("keras.backend.ones")
@explained("Makes a variable of ones.", "The variable; a tensor where the shape is open.", **_WORDS)
def ones(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    value = tf.ones(shape, dtype=_type(dtype), name=name)
    return variable(value, dtype, name) if value.shape.is_fully_defined() else value


@export("keras.backend.ones_like")
@explained("Makes ones of the same shape.", **_WORDS)
def ones_like(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    return tf.ones_like(x, dtype=dtype, name=name)


@export("keras.backend.eye")
@explained("Makes a variable of the identity matrix.", "The variable.", **_WORDS)
def eye(size: int, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    return variable(tf.eye(size, dtype=_type(dtype)), dtype, name)


@export("keras.backend.random_uniform_variable")
@explained("Makes a variable of uniformly distributed numbers.", "The variable.", **_WORDS)
def random_uniform_variable(
    shape: ShapeLike,
    low: float,
    high: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    value = tf.random_uniform_initializer(low, high, dtype=_type(dtype), seed=seed_of_numpy(seed, 10**9))(
        shape
    )
    return variable(value, dtype, name)


@export("keras.backend.random_normal_variable")
@explained("Makes a variable of normally distributed numbers.", "The variable.", **_WORDS)
def random_normal_variable(
    shape: ShapeLike,
    mean: float,
    scale: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    value = tf.random_normal_initializer(mean, scale, dtype=_type(dtype), seed=seed_of_numpy(seed, 10**9))(
        shape
    )
    return variable(value, dtype, name)


def seed_of_numpy(seed: int | None, end: int = 10**7) -> int:
    """The seed that was given; without one, NumPy's generator says it."""
    return int(np.random.randint(end)) if seed is None else seed


@export("keras.backend.random_normal")
@explained("Makes normally distributed numbers.", **_WORDS)
def random_normal(
    shape: ShapeLike,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
) -> Tensor:
    return tf.random_normal(shape, mean=mean, stddev=stddev, dtype=_type(dtype), seed=seed_of_numpy(seed))


@export("keras.backend.random_uniform")
@explained("Makes uniformly distributed numbers.", **_WORDS)
def random_uniform(
    shape: ShapeLike,
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
) -> Tensor:
    return tf.random_uniform(
        shape, minval=minval, maxval=maxval, dtype=_type(dtype), seed=seed_of_numpy(seed)
    )


@export("keras.backend.random_binomial")
@explained("Makes zeros and ones at random.", **_WORDS)
def random_binomial(
    shape: ShapeLike, p: float = 0.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Tensor:
    chosen = tf.random_uniform(shape, dtype=_type(dtype), seed=seed_of_numpy(seed)) <= p
    return tf.where(chosen, tf.ones(shape, _type(dtype)), tf.zeros(shape, _type(dtype)))


@export("keras.backend.truncated_normal")
@explained("Makes normally distributed numbers within two standard deviations.", **_WORDS)
def truncated_normal(
    shape: ShapeLike,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
) -> Tensor:
    return tf.truncated_normal(shape, mean, stddev, dtype=_type(dtype), seed=seed_of_numpy(seed))


@export("keras.backend.update")
@explained("Sets a variable.", **_WORDS)
def update(x: TensorLike, new_x: TensorLike) -> Tensor:
    return tf.assign(x, new_x)


@export("keras.backend.update_add")
@explained("Adds to a variable.", **_WORDS)
def update_add(x: TensorLike, increment: TensorLike) -> Tensor:
    return tf.assign_add(x, increment)


@export("keras.backend.update_sub")
@explained("Subtracts from a variable.", **_WORDS)
def update_sub(x: TensorLike, decrement: TensorLike) -> Tensor:
    return tf.assign_sub(x, decrement)


@export("keras.backend.moving_average_update")
@explained("Moves a variable towards a value.", **_WORDS)
def moving_average_update(x: TensorLike, value: TensorLike, momentum: float) -> Tensor:
    return assign_moving_average(x, value, momentum, zero_debias=not v2_behavior_enabled())


@export("keras.backend.gather")
@explained("Takes rows.", **_WORDS)
def gather(reference: TensorLike, indices: TensorLike) -> Tensor:
    return tf.gather(reference, indices)


@export("keras.backend.concatenate")
@explained("Joins along an axis.", **_WORDS)
def concatenate(tensors: Sequence[Any], axis: int = -1) -> Tensor:
    rank = tensors[0].shape.ndims
    return tf.concat(tensors, axis % rank if axis < 0 and rank else axis)


@export("keras.backend.reshape")
@explained("Gives another shape.", **_WORDS)
def reshape(x: TensorLike, shape: ShapeLike) -> Tensor:
    return tf.reshape(x, shape)


@export("keras.backend.permute_dimensions")
@explained("Changes the order of axes.", **_WORDS)
def permute_dimensions(x: TensorLike, pattern: Sequence[int]) -> Tensor:
    return tf.transpose(x, perm=pattern)


@export("keras.backend.flatten")
@explained("Makes a vector.", **_WORDS)
def flatten(x: TensorLike) -> Tensor:
    return tf.reshape(x, [-1])


@export("keras.backend.batch_flatten")
@explained("Makes a vector of each sample.", **_WORDS)
def batch_flatten(x: TensorLike) -> Tensor:
    return tf.reshape(x, tf.stack([-1, tf.reduce_prod(tf.shape(x)[1:])]))


@export("keras.backend.expand_dims")
@explained("Adds an axis of size one.", **_WORDS)
def expand_dims(x: TensorLike, axis: int = -1) -> Tensor:
    return tf.expand_dims(x, axis)


@export("keras.backend.squeeze")
@explained("Removes an axis of size one.", **_WORDS)
def squeeze(x: TensorLike, axis: int) -> Tensor:
    return tf.squeeze(x, [axis])


@export("keras.backend.stack")
@explained("Makes one of a list, with an axis more.", **_WORDS)
def stack(x: Sequence[Any], axis: int = 0) -> Tensor:
    return tf.stack(x, axis=axis)


@export("keras.backend.one_hot")
@explained("Computes vectors with a one at an index.", **_WORDS)
def one_hot(indices: TensorLike, num_classes: int) -> Tensor:
    return tf.one_hot(indices, depth=num_classes, axis=-1)


@export("keras.backend.reverse")
@explained("Reverses axes.", **_WORDS)
def reverse(x: TensorLike, axes: Any) -> Tensor:
    return tf.reverse(x, [axes] if isinstance(axes, int) else axes)


@export("keras.backend.tile")
@explained("Repeats along axes.", **_WORDS)
def tile(x: TensorLike, n: Any) -> Tensor:
    return tf.tile(x, [n] if isinstance(n, int) else n)


@export("keras.backend.repeat")
@explained("Makes sequences of repeated vectors.", **_WORDS)
def repeat(x: TensorLike, n: int) -> Tensor:
    if x.shape.ndims != 2:
        raise AssertionError(f"A matrix is repeated, not a tensor of rank {x.shape.ndims}.")
    return tf.tile(tf.expand_dims(x, 1), tf.stack([1, n, 1]))


@export("keras.backend.repeat_elements")
@explained("Repeats each element along an axis.", **_WORDS)
def repeat_elements(x: TensorLike, rep: int, axis: int) -> Tensor:
    sizes = x.shape.as_list()
    if sizes[axis] is not None:
        parts = tf.split(x, num_or_size_splits=sizes[axis], axis=axis)
        return tf.concat([part for part in parts for _ in range(rep)], axis)
    wide = tf.expand_dims(x, axis + 1)
    times = [1] * (len(sizes) + 1)
    times[axis + 1] = rep
    wide = tf.tile(wide, times)
    full = tf.unstack(tf.shape(x), num=len(sizes))
    full[axis] = full[axis] * rep
    made = tf.reshape(wide, tf.stack(full))
    made.set_shape(sizes)
    return made


@export("keras.backend.arange")
@explained("Makes numbers at equal distances.", **_WORDS)
def arange(
    start: TensorLike, stop: TensorLike | None = None, step: int = 1, dtype: DTypeLike = "int32"
) -> Tensor:
    if stop is None and isinstance(start, int) and start < 0:
        start = 0
    made = tf.range(start, limit=stop, delta=step, name="arange")
    return made if dtype == "int32" else tf.cast(made, dtype)


@export("keras.backend.stop_gradient")
@explained("Keeps gradients from flowing through.", **_WORDS)
def stop_gradient(variables: Any) -> Any:
    return (
        [tf.stop_gradient(v) for v in variables]
        if isinstance(variables, (list, tuple))
        else tf.stop_gradient(variables)
    )


@export("keras.backend.gradients")
@explained("Computes gradients.", "A list of gradients.", **_WORDS)
def gradients(loss: TensorLike, variables: Any) -> list[Any]:
    return tf.gradients(loss, variables, colocate_gradients_with_ops=True)


@export("keras.backend.eval")
@explained("Computes a value in the session.", "The value as an array.", **_WORDS)
def eval(x: TensorLike) -> Any:
    return get_value(x)


@export("keras.backend.print_tensor")
@explained("Prints a value whenever it is computed.", **_WORDS)
def print_tensor(x: TensorLike, message: str = "") -> Tensor:
    with tf.control_dependencies([tf.print(message, x)]):
        return tf.identity(x)


@export("keras.backend.map_fn")
@explained("Calls a function for each part.", **_WORDS)
def map_fn(fn: Callable, elems: TensorLike, name: str | None = None, dtype: DTypeLike | None = None) -> Any:
    return tf.map_fn(fn, elems, name=name, dtype=dtype)


@export("keras.backend.foldl")
@explained("Combines parts from the first to the last.", **_WORDS)
def foldl(
    fn: Callable, elems: TensorLike, initializer: TensorLike | None = None, name: str | None = None
) -> Any:
    return tf.foldl(fn, elems, initializer=initializer, name=name)


@export("keras.backend.foldr")
@explained("Combines parts from the last to the first.", **_WORDS)
def foldr(
    fn: Callable, elems: TensorLike, initializer: TensorLike | None = None, name: str | None = None
) -> Any:
    return tf.foldr(fn, elems, initializer=initializer, name=name)


@export("keras.backend.in_train_phase")
@explained(
    "Takes the first in training, the other otherwise.",
    "What was taken.",
    x="What is taken in training: a value, or a function without arguments.",
    **_WORDS,
)
def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    training = keras_state.learning_phase() if training is None else training
    if not isinstance(training, (tf.Tensor, tf.Variable)):
        chosen = x if training else alt
        return chosen() if callable(chosen) and not isinstance(chosen, tf.Tensor) else chosen
    return switch(training, x, alt)


@export("keras.backend.in_test_phase")
@explained(
    "Takes the first unless the model is trained, the other otherwise.",
    "What was taken.",
    x="What is taken in inference: a value, or a function without arguments.",
    **_WORDS,
)
def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    return in_train_phase(alt, x, training=training)


@export("keras.backend.switch")
@explained("Takes one of two values by a condition.", "What was taken.", **_WORDS)
def switch(condition: TensorLike, then_expression: Any, else_expression: Any) -> Any:
    if condition.dtype != tf.bool:
        condition = tf.cast(condition, tf.bool)
    if not condition.shape.ndims:
        then = then_expression if _is_function(then_expression) else lambda: then_expression
        other = else_expression if _is_function(else_expression) else lambda: else_expression
        return tf.cond(condition, then, other)
    a = then_expression() if _is_function(then_expression) else then_expression
    b = else_expression() if _is_function(else_expression) else else_expression
    rank = a.shape.ndims
    if condition.shape.ndims > rank:
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and "
            f"`else_expression`. ndim(condition)={condition.shape.ndims}, ndim(then_expression)={rank}"
        )
    while condition.shape.ndims < rank:
        condition = tf.expand_dims(condition, -1)
    return tf.where(tf.logical_and(condition, tf.ones_like(a, dtype=tf.bool)), a, b)


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, (tf.Tensor, tf.Variable))
