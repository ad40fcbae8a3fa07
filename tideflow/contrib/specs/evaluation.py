"""Specs as texts: evaluated, and called as networks."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from tideflow.contrib.specs import hyperparameters, layers
from tideflow.contrib.specs.composition import check_keywords
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _evaluated(text: str, names: dict[str, Any], environment: dict[str, Any] | None) -> dict[str, Any]:
    check_keywords(text)
    bindings = dict(environment or {})
    exec(text, dict(names), bindings)
    return bindings


@export("contrib.specs.eval_params")
def eval_params(params: str, environment: dict[str, Any] | None = None) -> dict[str, Any]:
    """Evaluates assignments of parameters, such as `a = Uf(0.0, 1.0)`.

    Args:
      params: The assignments.
      environment: Names that they may use.

    Returns:
      The names with their values, those of the environment too.

    Raises:
      ValueError: If the text has statements that specs have no use for.
    """
    return _evaluated(params, hyperparameters.NAMES, environment)


@export("contrib.specs.eval_spec")
def eval_spec(spec: str, environment: dict[str, Any] | None = None) -> dict[str, Any]:
    """Evaluates a spec, such as `net = Fr(10)`.

    Args:
      spec: The spec, assignments of Python.
      environment: Names that it may use.

    Returns:
      The names with their values, those of the environment too.

    Raises:
      ValueError: If the text has statements that specs have no use for.
    """
    return _evaluated(spec, layers.NAMES, environment)


@export("contrib.specs.create_net_fun")
def create_net_fun(spec: str, environment: dict[str, Any] | None = None) -> Any:
    """Makes a function of a spec.

    Args:
      spec: The spec, which defines `net`.
      environment: Names that it may use.

    Returns:
      A function of a tensor.

    Raises:
      ValueError: If it does not define `net`.
    """
    net = eval_spec(spec, environment).get("net")
    if net is None:
        raise ValueError(f"spec failed to create 'net': {spec}")
    return net.funcall


@export("contrib.specs.create_net")
def create_net(spec: str, inputs: TensorLike, environment: dict[str, Any] | None = None) -> Any:
    """Makes the network of a spec.

    Args:
      spec: The spec, which defines `net`.
      inputs: A tensor to call it with.
      environment: Names that it may use.

    Returns:
      What the network makes of it.
    """
    return create_net_fun(spec, environment)(inputs)


@export("contrib.specs.LocalImport")
class LocalImport:
    """A context in which names are global names of the module that enters it.

    Args:
      names: A dictionary of the names, or an object that has them as attributes.
    """

    def __init__(self, names: Any):
        self.names = names if isinstance(names, dict) else vars(names)

    def __enter__(self) -> None:
        self._globals = inspect.currentframe().f_back.f_globals
        self._old = {name: self._globals.get(name) for name in self.names}
        self._globals.update(self.names)

    def __exit__(self, *raised: Any) -> None:
        for name, value in self._old.items():
            if value is None:
                del self._globals[name]
            else:
                self._globals[name] = value
