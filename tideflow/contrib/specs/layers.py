"""The layers of specs, by names of two letters or so."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.contrib.specs.composition import Callable, Composable, External, Function, Import, debug
from tideflow.export import export, expose
from tideflow.variables.variable_scope import VariableScope


@export("contrib.specs.Idx")
class Idx(Composable):
    """The tensor itself."""

    def funcall(self, x: Any) -> Any:
        """Returns what it is given.

        Args:
          x: A tensor.
        """
        return x


@export("contrib.specs.Conc")
class Conc(Composable):
    """The results of several functions of one tensor, joined along an axis.

    Args:
      dim: The axis.
      *args: The functions.
    """

    def __init__(self, dim: int, *args: Composable):
        self.dim, self.funs = dim, args

    def funcall(self, x: Any) -> Any:
        """Calls the functions, and joins what they return.

        Args:
          x: A tensor.
        """
        return tf.concat([fun.funcall(x) for fun in self.funs], self.dim)


@export("contrib.specs.Dws")
def Dws(n: int) -> Function:
    """Makes a dense layer of each pixel, with a sigmoid.

    Args:
      n: How many numbers it gives.

    Returns:
      The layer.
    """
    return _LAYERS["Cs"](n, [1, 1])


@export("contrib.specs.Dwm")
def Dwm(n: int) -> Function:
    """Makes a dense layer of each pixel, with a softmax.

    Args:
      n: How many numbers it gives.

    Returns:
      The layer.
    """
    return _LAYERS["Cm"](n, [1, 1])


@export("contrib.specs.Var")
def Var(name: str, *args: Any, **kw: Any) -> Callable:
    """Makes a variable, whatever the input is.

    Args:
      name: The variable's name.
      *args: More arguments of `tf.get_variable`.
      **kw: Keyword arguments of `tf.get_variable`.

    Returns:
      A function of a tensor that returns the variable.
    """
    return Callable(lambda _: tf.get_variable(name, *args, **kw))


@export("contrib.specs.Shared")
class Shared(Composable):
    """A network whose variables are the same wherever it is used.

    Args:
      subnet: The network.
      name: The name of the scope of its variables.
      scope: The scope itself, of variables that exist.

    Raises:
      ValueError: If name or scope is none, or both are given.
    """

    shared_number = 1

    def __init__(self, subnet: Composable, name: str | None = None, scope: Any = None):
        if scope is not None and not isinstance(scope, VariableScope):
            raise ValueError("scope must be None or a VariableScope")
        if name is not None and not isinstance(scope, str):  # TensorFlow asks this of the scope
            raise ValueError("name must be None or a string")
        if name is None:
            name = f"Shared_{Shared.shared_number}"
            Shared.shared_number += 1
        self.subnet, self.name, self.scope = subnet, name, scope

    def funcall(self, x: Any) -> Any:
        """Calls the network.

        Args:
          x: A tensor.
        """
        if self.scope is not None:
            with tf.variable_scope(self.scope, values=[x], reuse=True):
                return self.subnet.funcall(x)
        with tf.variable_scope(self.name, values=[x]) as scope:
            self.scope = scope
            return self.subnet.funcall(x)


_ACTIVATIONS = {"s": tf.sigmoid, "t": tf.tanh, "r": tf.nn.relu, "m": tf.nn.softmax, "l": None}
_contrib = tf.contrib.layers
_LAYERS = {
    "Print": Function(tf.Print),
    "Id": Function(tf.identity),
    "Cx": Function(_contrib.conv2d),
    **{f"C{key}": Function(_contrib.conv2d, activation_fn=fn) for key, fn in _ACTIVATIONS.items()},
    "Fx": Function(_contrib.fully_connected),
    **{f"F{key}": Function(_contrib.fully_connected, activation_fn=fn) for key, fn in _ACTIVATIONS.items()},
    "Mp": Function(_contrib.max_pool2d),
    "Ap": Function(_contrib.avg_pool2d),
    "Do": Function(_contrib.dropout),
    "Bn": Function(_contrib.batch_norm),
    "Lrn": Function(tf.nn.local_response_normalization),
    "Unit": Function(_contrib.unit_norm),
    "Flat": Function(_contrib.flatten),
    "Reshape": Function(tf.reshape),
    "Transpose": Function(tf.transpose),
    "Squeeze": Function(tf.squeeze),
    "Expand": Function(tf.expand_dims),
    "Relu": Function(tf.nn.relu),
    "Sig": Function(tf.sigmoid),
    "Tanh": Function(tf.tanh),
    "Smax": Function(tf.nn.softmax),
}
for _name, _layer in _LAYERS.items():
    expose(_layer, f"contrib.specs.{_name}")

NAMES: dict[str, Any] = {
    **_LAYERS,
    "Callable": Callable,
    "Conc": Conc,
    "Dwm": Dwm,
    "Dws": Dws,
    "External": External,
    "Fun": Function,
    "Idx": Idx,
    "Import": Import,
    "Shared": Shared,
    "Var": Var,
    "debug": debug,
}
