"""make_template: a function whose variables are made by the first call and shared by all others."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from tideflow.export import export
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.graph.traceback import user_frames, user_line
from tideflow.variables import variable_scope
from tideflow.variables.trackable import Trackable
from tideflow.variables.variable_scope import VariableScope


@export("make_template")
def make_template(
    name_: str,
    func_: Callable,
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Callable | None = None,
    **kwargs: Any,
) -> Template:
    """Wraps a function so that all its calls share the variables of the first call.

        scale = tf.make_template("scale", lambda x: x * tf.get_variable("factor", []))
        a, b = scale(x), scale(y)  # one variable, "scale/factor"

    Args:
      name_: The name of the variable scope, which is made unique.
      func_: The function, which creates variables with `tf.get_variable`.
      create_scope_now_: Whether the scope is made now; else the first call makes it.
      unique_name_: A name for the scope that is used as it is, without being made unique.
      custom_getter_: The custom getter of the variable scope.
      **kwargs: Arguments that every call of `func_` gets.

    Returns:
      A callable object with the arguments and the result of `func_`.

    Raises:
      ValueError: When called, if a later call creates variables that the first call did not.
    """
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)


class _Calls(threading.local):
    """Templates that are being called in this thread, the innermost last."""

    def __init__(self) -> None:
        self.under_way: list[Template] = []


_calls = _Calls()


class Template(Trackable):
    """What `make_template` returns."""

    def __init__(
        self,
        name: str,
        func: Callable,
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Callable | None = None,
    ):
        if name is None:
            raise ValueError("name cannot be None.")
        self._func = func
        self._name = name
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._made_at = user_frames()
        self._called = False
        self._inner: list[Template] = []
        self._variable_scope: VariableScope | None = None
        if create_scope_now:
            unique = unique_name or variable_scope.scope_state().unique(name)
            with variable_scope.pure_variable_scope(unique, custom_getter=custom_getter) as scope:
                self._variable_scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self._open_scope() as scope:
            self._variable_scope = scope if self._variable_scope is None else self._variable_scope
            if not self._called and _calls.under_way:
                _calls.under_way[-1]._inner.append(self)
            _calls.under_way.append(self)
            try:
                return self._run(args, kwargs)
            finally:
                _calls.under_way.pop()

    def _open_scope(self) -> Any:
        if self._variable_scope is None:
            return variable_scope.variable_scope(
                self._unique_name, self._name, custom_getter=self._custom_getter
            )
        return variable_scope.variable_scope(self._variable_scope, reuse=self._called)

    def _run(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        before = len(get_collection(GraphKeys.TRAINABLE_VARIABLES))
        try:
            result = self._func(*args, **kwargs)
        except Exception as error:
            what, *rest = error.args or (str(error),)
            error.args = (f"{what}\n\noriginally defined at:\n  {user_line(self._made_at)}", *rest)
            raise
        new = get_collection(GraphKeys.TRAINABLE_VARIABLES)[before:]
        if new and self._called:
            raise ValueError(
                "Trainable variable created when calling a template after the first time, perhaps you used "
                f"tf.Variable when you meant tf.get_variable: {new}"
            )
        self._called = True
        return result

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        """Variables and the templates that were first called inside, by their names within the scope."""
        prefix = f"{self.variable_scope_name}/"
        found = {}
        for variable in self.variables:
            owners = (t for t in self._inner if variable.op.name.startswith(f"{t.variable_scope_name}/"))
            owner = next(owners, None)
            name = owner.variable_scope_name if owner else variable.op.name
            found[name.removeprefix(prefix)] = owner or variable
        return list(found.items())

    # -------------------------------------------------------------------------------- what it is

    @property
    def name(self) -> str:
        """The name of the template, as it was given."""
        return self._name

    @property
    def func(self) -> Callable:
        """The function that the template wraps."""
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        """The variable scope; None before the first call."""
        return self._variable_scope

    @property
    def var_scope(self) -> VariableScope | None:
        """The older name of `variable_scope`."""
        return self._variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """The name of the scope, None before there is one."""
        return self._variable_scope.name if self._variable_scope else None

    def _collection(self, key: str) -> list:
        return self._variable_scope.get_collection(key) if self._variable_scope else []

    @property
    def variables(self) -> list:
        """The global and local variables of the scope."""
        return self.global_variables + self.local_variables

    @property
    def global_variables(self) -> list:
        """The global variables of the scope."""
        return self._collection(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list:
        """The local variables of the scope."""
        return self._collection(GraphKeys.LOCAL_VARIABLES)

    @property
    def trainable_variables(self) -> list:
        """The trainable variables of the scope."""
        return self._collection(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def non_trainable_variables(self) -> list:
        """The variables of the scope that are not trainable."""
        trainable = set(self.trainable_variables)
        return [variable for variable in self.variables if variable not in trainable]

    @property
    def weights(self) -> list:
        """The variables of the scope, as `variables` has them."""
        return self.variables

    @property
    def trainable_weights(self) -> list:
        """The trainable variables of the scope."""
        return self.trainable_variables

    @property
    def non_trainable_weights(self) -> list:
        """The variables of the scope that are not trainable."""
        return self.non_trainable_variables
