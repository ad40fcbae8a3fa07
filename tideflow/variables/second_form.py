"""The class of variables as TensorFlow's inner modules have it, which makes resource variables."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.variables import base
from tideflow.variables.base import VariableAggregation, VariableSynchronization

if TYPE_CHECKING:
    from tideflow.graph.typing import DeviceLike, DTypeLike, ShapeLike, TensorLike


class _Metaclass(base.VariableMetaclass):
    """Every variable is an instance of the class, whichever form made it."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        given = _SIGNATURE.bind(None, *args, **kwargs).arguments
        given.pop("self")
        return base.Variable(**given, use_resource=True)

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, subclass: Any) -> bool:
        if cls is Variable:  # not by issubclass, which asks the subclasses of the class: this one again
            return base.Variable in subclass.__mro__
        return super().__subclasscheck__(subclass)


class Variable(base.Variable, metaclass=_Metaclass):
    """A resource variable, made by the creators in force; `tf.Variable` has the rest.

    Args:
      initial_value: A tensor, or a function that returns one.
      trainable: Whether optimizers change it unless they are told otherwise.
      validate_shape: Whether the shape of `initial_value` must be known.
      caching_device: A device that keeps a copy for its readers.
      name: A name for the variable.
      variable_def: A VariableDef message to make it from, in place of `initial_value`.
      dtype: The type; that of `initial_value` unless given.
      import_scope: A scope to find the operations of `variable_def` in.
      constraint: A function that an optimizer applies to the new value.
      synchronization: When copies on several devices become one.
      aggregation: How they do.
      shape: The shape, where it is less specific than that of `initial_value`.
    """

    def __init__(
        self,
        initial_value: TensorLike | Callable[[], TensorLike] | None = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: DeviceLike | None = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: DTypeLike | None = None,
        import_scope: str | None = None,
        constraint: Callable | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: ShapeLike | None = None,
    ) -> None:
        raise NotImplementedError("a class of variables has a constructor of its own")


_SIGNATURE = inspect.signature(Variable.__init__)
