"""Functions that combine to networks: one after another, side by side, again and again."""

from __future__ import annotations

import importlib
import operator
import re
from collections.abc import Sequence
from typing import Any

from tideflow.export import export

_QUOTED = re.compile(r"""\"([^"\\]|\\.)*"|'([^'\\]|\\.)*'""")
_KEYWORDS = re.compile(r"\b(import|while|def|exec)\b")
_is_debugging = False


@export("contrib.specs.check_keywords")
def check_keywords(spec: str) -> None:
    """Refuses a text that has statements of Python which specs have no use for.

    Args:
      spec: The text.

    Raises:
      ValueError: If it has one of `import`, `while`, `def` and `exec`.
    """
    if found := _KEYWORDS.search(_QUOTED.sub("", spec)):
        raise ValueError(f"keyword '{found[1]}' found in spec")


@export("contrib.specs.get_positional")
def get_positional(
    args: Sequence[Any], kw: dict[str, Any], kw_overrides: bool = False
) -> tuple[Sequence[Any], dict[str, Any]]:
    """Puts keyword arguments called `_0`, `_1` and so on in their positions.

    Args:
      args: The positional arguments.
      kw: The keyword arguments.
      kw_overrides: Whether they replace positional arguments that are not None.

    Returns:
      The positional arguments, and the other keyword arguments.
    """
    numbered = {int(name[1:]): value for name, value in kw.items() if name.startswith("_")}
    if not numbered:
        return args, kw
    positional = list(args) + [None] * (max(numbered) + 1 - len(args))
    for position, value in numbered.items():
        if kw_overrides or positional[position] is None:
            positional[position] = value
    return positional, {name: value for name, value in kw.items() if not name.startswith("_")}


@export("contrib.specs.Composable")
class Composable:
    """Something that is called with a tensor by `funcall`, and combines with others.

    `f | g` calls g with what f returns, `f + g` and `f * g` combine what both return, `f ** n` is n times f.
    """

    def funcall(self, x: Any) -> Any:
        """Calls it.

        Args:
          x: A tensor, or what a function before returned.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say what it does with a tensor")

    def __or__(self, f: Composable) -> Composition:
        return Composition(self, f)

    def __add__(self, g: Composable) -> Operator:
        return Operator(operator.add, self, g)

    def __mul__(self, g: Composable) -> Operator:
        return Operator(operator.mul, self, g)

    def __pow__(self, n: int) -> Composable:
        assert n >= 0, n
        if n == 0:
            return Function(lambda x, *args, **kw: x)
        result: Composable = self
        for _ in range(n - 1):
            result = Composition(result, self)
        return result


@export("contrib.specs.Callable")
class Callable(Composable):
    """A function of a tensor.

    Args:
      f: The function.
    """

    def __init__(self, f: Any):
        self.f = f

    def funcall(self, x: Any) -> Any:
        """Calls the function.

        Args:
          x: A tensor.
        """
        return self.f(x)


@export("contrib.specs.Operator")
class Operator(Composable):
    """What an operator makes of the results of several functions of one tensor.

    Args:
      op: The operator.
      *args: The functions.
    """

    def __init__(self, op: Any, *args: Composable):
        self.op, self.funs = op, args

    def funcall(self, x: Any) -> Any:
        """Calls the functions, and the operator with what they return.

        Args:
          x: A tensor.
        """
        return self.op(*[fun.funcall(x) for fun in self.funs])


@export("contrib.specs.Function", "contrib.specs.Fun")
class Function(Composable):
    """A function of a tensor and more, some of which is given already. Calling it gives more, and a new one.

    Args:
      f: The function.
      *args: Arguments after the first one.
      **kw: Keyword arguments; those called `_0`, `_1` and so on are positions after the first one.
    """

    def __init__(self, f: Any, *args: Any, **kw: Any):
        if not callable(f):
            raise ValueError(f"{f}: is not callable")
        self.f, self.args, self.kw = f, list(args), kw
        self.__wrapped__ = f  # whose help and signature are shown

    def __call__(self, *args: Any, **kw: Any) -> Function:
        return Function(self.f, *args, *self.args, **{**self.kw, **kw})

    def funcall(self, x: Any) -> Any:
        """Calls the function.

        Args:
          x: A tensor.
        """
        args, kw = get_positional(self.args, self.kw)
        if _is_debugging:
            print("DEBUG:", self.f, x, args, kw)
        return self.f(x, *args, **kw)


@export("contrib.specs.Composition")
class Composition(Composable):
    """One function after another.

    Args:
      f: The first.
      g: The second.
    """

    def __init__(self, f: Composable, g: Composable):
        self.f, self.g = f, g

    def funcall(self, x: Any) -> Any:
        """Calls the first, and the second with what it returns.

        Args:
          x: A tensor.
        """
        return self.g.funcall(self.f.funcall(x))


@export("contrib.specs.External")
def External(module_name: str, function_name: str) -> Function:
    """Brings a function of a Python module into a spec.

    Args:
      module_name: The module's name.
      function_name: The function's.

    Returns:
      A `Function` of it.
    """
    return Function(vars(importlib.import_module(module_name))[function_name])


@export("contrib.specs.Import")
def Import(statements: str) -> Function:
    """Runs Python statements that define `f`, and brings that into a spec.

    Args:
      statements: The statements.

    Returns:
      A `Function` of `f`.

    Raises:
      ValueError: If they do not define `f`.
    """
    environment: dict[str, Any] = {}
    exec(statements, environment)
    if "f" not in environment:
        raise ValueError('failed to define "f": %s', statements)
    return Function(environment["f"])


@export("contrib.specs.debug")
def debug(mode: bool = True) -> None:
    """Says whether functions of specs print what they are called with.

    Args:
      mode: Whether they do.
    """
    global _is_debugging
    _is_debugging = mode
