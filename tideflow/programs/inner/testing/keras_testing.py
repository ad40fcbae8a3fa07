"""`tensorflow.python.keras.testing_utils`: data, models and checks of layers, for tests of Keras programs."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.graph import nest
from tideflow.layers import precision

# ---------------------------------------------------------------------------- what a test is to run with


class _Choices(threading.local):
    """What decorators of tests have chosen; None outside of them."""

    model_type: str | None = None
    run_eagerly: bool | None = None
    experimental_run_tf_function: bool | None = None


_choices = _thread_local_data = _Choices()


def _scope(name: str) -> Callable[[Any], contextlib.AbstractContextManager[Any]]:
    @contextlib.contextmanager
    def scope(value: Any) -> Iterator[Any]:
        before = getattr(_choices, name)
        setattr(_choices, name, value)
        try:
            yield value
        finally:
            setattr(_choices, name, before)

    return scope


def _chosen(name: str, asked_by: str, scope: str, decorator: str) -> Any:
    value = getattr(_choices, name)
    if value is None:
        raise ValueError(f"Cannot call `{asked_by}()` outside of a `{scope}()` or `{decorator}` decorator.")
    return value


model_type_scope = _scope("model_type")
run_eagerly_scope = _scope("run_eagerly")
experimental_run_tf_function_scope = _scope("experimental_run_tf_function")


def get_model_type() -> str:
    """The type of models to test: 'functional', 'subclass', 'subclass_custom_build' or 'sequential'."""
    return _chosen("model_type", "get_model_type", "model_type_scope", "run_with_all_model_types")


def should_run_eagerly() -> bool:
    """Whether models are to run eagerly."""
    chosen = _chosen("run_eagerly", "should_run_eagerly", "run_eagerly_scope", "run_all_keras_modes")
    return chosen and tf.executing_eagerly()


def should_run_tf_function() -> bool:
    """Whether models are to run as functions."""
    name = "experimental_run_tf_function"
    chosen = _chosen(name, "should_run_tf_function", f"{name}_scope", "run_all_keras_modes")
    return chosen and tf.executing_eagerly()


def enable_v2_dtype_behavior(fn: Callable) -> Callable:
    """Decorator: layers that a function makes have Keras's type, and cast floating-point inputs to it."""
    return _with_v2_dtypes(fn, True)


def disable_v2_dtype_behavior(fn: Callable) -> Callable:
    """Decorator: layers that a function makes take the type of their first inputs."""
    return _with_v2_dtypes(fn, False)


def _with_v2_dtypes(fn: Callable, enabled: bool) -> Callable:
    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        before = precision.v2_dtypes()
        precision.set_v2_dtypes(enabled)
        try:
            return fn(*args, **kwargs)
        finally:
            precision.set_v2_dtypes(before)

    return wrapper


# ------------------------------------------------------------------------------------- data, optimizers


def get_test_data(
    train_samples: int,
    test_samples: int,
    input_shape: tuple[int, ...],
    num_classes: int,
    random_seed: int | None = None,
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Samples of classes, each a point with noise around it: for training and for tests."""
    if random_seed is not None:
        np.random.seed(random_seed)
    count = train_samples + test_samples
    points = 2 * num_classes * np.random.random((num_classes, *input_shape))
    y = np.random.randint(0, num_classes, size=(count,))
    noise = [np.random.normal(loc=0, scale=1.0, size=input_shape) for _ in range(count)]
    x = np.array([points[kind] + each for kind, each in zip(y, noise, strict=True)], np.float32)
    x = x.reshape(count, *input_shape)
    return (x[:train_samples], y[:train_samples]), (x[train_samples:], y[train_samples:])


def get_v2_optimizer(name: str, **kwargs: Any) -> Any:
    """The optimizer of a name."""
    names = {each.lower(): each for each in "Adadelta Adagrad Adam Adamax Nadam RMSprop SGD".split()}
    if name not in names:
        raise ValueError(f"Could not find requested v2 optimizer: {name}\nValid choices: {list(names)}")
    return getattr(tf.keras.optimizers, names[name])(**kwargs)


def get_expected_metric_variable_names(var_names: Sequence[str], name_suffix: str = "") -> list[str]:
    """The names that variables of metrics have in this mode."""
    if tf.executing_eagerly():
        return [f"{name}:0" for name in var_names]
    return [f"{name}{name_suffix}:0" for name in var_names]


# ------------------------------------------------------------------------------------------------- models


def _dense_layers(num_hidden: int, num_classes: int, **first: Any) -> list[Any]:
    last = "sigmoid" if num_classes == 1 else "softmax"
    dense = tf.keras.layers.Dense
    return [dense(num_hidden, activation="relu", **first), dense(num_classes, activation=last)]


def _in_turn(layers: Sequence[Any], value: Any) -> Any:
    for layer in layers:
        value = layer(value)
    return value


class _LayersInTurn(tf.keras.Model):
    """A subclassed model of some layers, made with it or when it is built."""

    def __init__(self, layers: Sequence[Any], late: bool = False, name: str | None = None):
        super().__init__(name=name)
        self._make: Any = lambda: list(layers)
        self.all_layers = None if late else list(layers)

    def build(self, input_shape: Any) -> None:
        if self.all_layers is None:
            self.all_layers = self._make()

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        return _in_turn(self.all_layers, inputs)


def get_small_sequential_mlp(num_hidden: int, num_classes: int, input_dim: int | None = None) -> Any:
    """A sequential model of two dense layers."""
    first = {"input_dim": input_dim} if input_dim else {}
    return tf.keras.models.Sequential(_dense_layers(num_hidden, num_classes, **first))


def get_small_functional_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Any:
    """A functional model of two dense layers."""
    inputs = tf.keras.Input(shape=(input_dim,))
    return tf.keras.Model(inputs, _in_turn(_dense_layers(num_hidden, num_classes), inputs))


def get_small_subclass_mlp(num_hidden: int, num_classes: int) -> Any:
    """A subclassed model of two dense layers."""
    return _LayersInTurn(_dense_layers(num_hidden, num_classes))


def get_small_subclass_mlp_with_custom_build(num_hidden: int, num_classes: int) -> Any:
    """A subclassed model of two dense layers, which it has when it is built."""
    return _LayersInTurn(_dense_layers(num_hidden, num_classes), late=True)


def get_small_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Any:
    """A model of two dense layers, of the type that is to be tested."""
    kind = get_model_type()
    if kind == "sequential":
        return get_small_sequential_mlp(num_hidden, num_classes, input_dim)
    if kind == "functional":
        return get_small_functional_mlp(num_hidden, num_classes, input_dim)
    return get_model_from_layers(_dense_layers(num_hidden, num_classes))


def get_model_from_layers(
    layers: Sequence[Any],
    input_shape: Any = None,
    input_dtype: Any = None,
    name: str | None = None,
    input_ragged: bool | None = None,
    input_sparse: bool | None = None,
) -> Any:
    """A model of layers, one after the other, of the type that is to be tested."""
    kind = get_model_type()
    given = {"dtype": input_dtype, "ragged": input_ragged, "sparse": input_sparse}
    if kind in ("subclass", "subclass_custom_build"):
        model = _LayersInTurn(layers, late=kind == "subclass_custom_build", name=name)
        if kind == "subclass" and (input_ragged or input_sparse):
            model._set_inputs(tf.keras.Input(shape=input_shape, **given))
        return model
    if kind == "sequential":
        first = [tf.keras.layers.InputLayer(input_shape=input_shape, **given)] if input_shape else []
        return tf.keras.models.Sequential([*first, *layers], name=name)
    if kind != "functional":
        raise ValueError(f"Unknown model type {kind}")
    if not input_shape:
        raise ValueError("Cannot create a functional model from layers with no input shape.")
    inputs = tf.keras.Input(shape=input_shape, **given)
    return tf.keras.Model(inputs, _in_turn(layers, inputs), name=name)


class _TwoBranches(tf.keras.Model):
    """A subclassed model of two branches, with layers before or behind both."""

    def __init__(self, a: Sequence[Any], b: Sequence[Any], before: Any, behind: Any):
        super().__init__()
        self._branch_a, self._branch_b = list(a), list(b)
        self._before, self._behind = list(before or ()), list(behind or ())

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        return _branches(inputs, self._branch_a, self._branch_b, self._before, self._behind)


def _branches(inputs: Any, a: Any, b: Any, before: Any, behind: Any) -> Any:
    first, second = [_in_turn(before, inputs)] * 2 if before else inputs
    return _in_turn(behind or (), [_in_turn(a, first), _in_turn(b, second)])


def get_multi_io_model(
    branch_a: Sequence[Any],
    branch_b: Sequence[Any],
    shared_input_branch: Sequence[Any] | None = None,
    shared_output_branch: Sequence[Any] | None = None,
) -> Any:
    """A model of two branches, of the type that is to be tested. Where a branch begins, its first layer is
    the tensor of an input.
    """
    if shared_input_branch:
        inputs, shared_input_branch = shared_input_branch[0], shared_input_branch[1:]
    else:
        inputs, branch_a, branch_b = (branch_a[0], branch_b[0]), branch_a[1:], branch_b[1:]
    kind = get_model_type()
    if kind in ("subclass", "subclass_custom_build"):
        return _TwoBranches(branch_a, branch_b, shared_input_branch, shared_output_branch)
    if kind != "functional":
        reason = "Cannot use `get_multi_io_model` to construct sequential models"
        raise ValueError(reason if kind == "sequential" else f"Unknown model type {kind}")
    outputs = _branches(inputs, branch_a, branch_b, shared_input_branch, shared_output_branch)
    return tf.keras.Model(inputs, outputs)


# ------------------------------------------------------------------------------------------- a layer's checks


def layer_test(
    layer_cls: Callable[..., Any],
    kwargs: dict[str, Any] | None = None,
    input_shape: Any = None,
    input_dtype: Any = None,
    input_data: Any = None,
    expected_output: Any = None,
    expected_output_dtype: Any = None,
    expected_output_shape: Any = None,
    validate_training: bool = True,
    adapt_data: Any = None,
) -> np.ndarray:
    """Checks a layer of one input and one output: types, shapes, values, configurations, weights, a step of
    training, as a functional and as a sequential model.

    Returns:
      What the layer makes of the data.

    Raises:
      ValueError: If neither `input_shape` nor `input_data` is given.
      AssertionError: If the layer is not as it should be.
    """
    if input_data is None:
        input_data = _random_input(input_shape, input_dtype or "float32")
        input_dtype = input_dtype or "float32"
    input_shape = input_data.shape if input_shape is None else input_shape
    input_dtype = input_data.dtype if input_dtype is None else input_dtype
    kwargs = kwargs or {}
    layer = layer_cls(**kwargs)
    if adapt_data is not None:
        layer.adapt(adapt_data)
    layer.set_weights(layer.get_weights())
    if "weights" in inspect.signature(layer_cls.__init__).parameters:  # type: ignore[misc]
        layer = layer_cls(**{**kwargs, "weights": layer.get_weights()})
    x = tf.keras.layers.Input(shape=input_shape[1:], dtype=input_dtype)
    y = layer(x)
    about = f"When testing layer {layer_cls.__name__}, for input {x}, found"
    _check(
        tf.keras.backend.dtype(y) == (expected_output_dtype or input_dtype),
        f"{about} output dtype={tf.keras.backend.dtype(y)} but expected to find "
        f"{expected_output_dtype or input_dtype}.\nFull kwargs: {kwargs}",
    )
    if expected_output_shape is not None:
        _check_shape(about, tf.TensorShape(expected_output_shape).as_list(), y.shape.as_list(), kwargs)
    model = tf.keras.models.Model(x, y)
    computed = layer.compute_output_shape(tf.TensorShape(input_shape)).as_list()
    signature = layer.compute_output_signature(tf.TensorSpec(shape=input_shape, dtype=input_dtype))
    output = model.predict(input_data)
    _check_shape(about, computed, output.shape, kwargs)
    _check_shape(about, signature.shape.as_list(), output.shape, kwargs)
    _check(
        signature.dtype == output.dtype,
        f"{about} output_dtype={output.dtype} but expected to find {signature.dtype}.\nFull kwargs: {kwargs}",
    )
    _check_values(output, expected_output)
    _check_recovered(model, input_data, output)
    if validate_training:
        _train_once(tf.keras.models.Model(x, layer(x)), input_data, output)
    config = {**layer.get_config(), "batch_input_shape": input_shape}
    layer = layer.__class__.from_config(config)
    if adapt_data is not None:
        layer.adapt(adapt_data)
    model = tf.keras.models.Sequential([layer])
    output = model.predict(input_data)
    _check_shape(about.replace(", for", " **after deserialization**, for"), computed, output.shape, kwargs)
    _check_values(output, expected_output)
    _check_recovered(model, input_data, output)
    return output


def _random_input(shape: Any, dtype: str) -> np.ndarray:
    if shape is None:
        raise ValueError("input_shape is None")
    sizes = [np.random.randint(1, 4) if size is None else size for size in shape]
    values = 10 * np.random.random(sizes)
    return (values - 0.5 if dtype.startswith("float") else values).astype(dtype)


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _check_shape(
    about: str, expected: Sequence[int | None], found: Sequence[int | None], kwargs: Any
) -> None:
    same = len(expected) == len(found) and all(
        size is None or size == other for size, other in zip(expected, found, strict=True)
    )
    _check(
        same, f"{about} output_shape={tuple(found)} but expected to find {expected}.\nFull kwargs: {kwargs}"
    )


def _check_values(found: Any, expected: Any) -> None:
    if expected is not None:
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6)


def _check_recovered(model: Any, data: Any, output: Any) -> None:
    """A model made of the configuration and the weights of another computes the same."""
    kind = (
        tf.keras.models.Sequential if isinstance(model, tf.keras.models.Sequential) else tf.keras.models.Model
    )
    recovered = kind.from_config(model.get_config())
    if nest.flatten(model.weights):
        recovered.set_weights(model.get_weights())
        _check_values(recovered.predict(data), output)


def _train_once(model: Any, data: Any, targets: Any) -> None:
    eagerly = {} if _choices.run_eagerly is None else {"run_eagerly": should_run_eagerly()}
    model.compile("rmsprop", "mse", weighted_metrics=["acc"], **eagerly)
    model.train_on_batch(data, targets)
