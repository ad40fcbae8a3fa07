"""Optimizers that live outside the graph: SciPy's, called with the loss and its gradient as functions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.autodiff.gradients import gradients
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_default_session
from tideflow.ops.arrays import constants, creation, joining, shapes
from tideflow.platform import logging
from tideflow.variables.collections import trainable_variables

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike


@export("contrib.opt.ExternalOptimizerInterface")
class ExternalOptimizerInterface:
    """The variables as one vector, to which a subclass's `_minimize` applies whatever algorithm it has.

    Args:
      loss: The loss, a scalar.
      var_list: The variables; all trainable ones if None.
      equalities: Tensors that are to be zero.
      inequalities: Tensors that are not to be negative.
      var_to_bounds: The lowest and the highest value by variable.
      optimizer_kwargs: Options of the algorithm.
    """

    def __init__(
        self,
        loss: Tensor,
        var_list: Sequence[Any] | None = None,
        equalities: Sequence[Tensor] | None = None,
        inequalities: Sequence[Tensor] | None = None,
        var_to_bounds: Mapping[Any, tuple[Any, Any]] | None = None,
        **optimizer_kwargs: Any,
    ):
        self._loss = loss
        self._equalities = list(equalities or ())
        self._inequalities = list(inequalities or ())
        self._vars = trainable_variables() if var_list is None else list(var_list)
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_bounds = None if var_to_bounds is None else self._bounds(var_to_bounds)
        self._placeholders = [constants.placeholder(v.dtype.base_dtype) for v in self._vars]
        self._assignments = [v.assign(fed) for v, fed in zip(self._vars, self._placeholders)]
        self._packed_loss_grad = self._packed_gradient(loss)
        self._packed_equality_grads = [self._packed_gradient(equality) for equality in self._equalities]
        self._packed_inequality_grads = [
            self._packed_gradient(inequality) for inequality in self._inequalities
        ]
        self._packed_var = _packed([v.value() for v in self._vars])
        sizes = [int(np.prod(v.shape.as_list())) for v in self._vars]
        ends = np.cumsum([0, *sizes])
        self._packing_slices = [slice(start, end) for start, end in itertools.pairwise(ends)]

    def minimize(
        self,
        session: SessionLike | None = None,
        feed_dict: dict | None = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable | None = None,
        loss_callback: Callable | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Minimizes the loss and assigns the result to the variables.

        Args:
          session: The session; the default session if None.
          feed_dict: What every step is fed.
          fetches: What every step computes besides, for `loss_callback`.
          step_callback: A function of the vector of variables that is called after each step.
          loss_callback: A function of the fetches that is called each time the loss is computed.
          run_kwargs: Arguments of `Session.run`.
        """
        session = session or get_default_session()
        feed_dict, fetches = feed_dict or {}, list(fetches or ())
        start = session.run(self._packed_var)

        def evaluator(tensors: list[Any], callback: Callable | None = None) -> Callable:
            def evaluate(vector: np.ndarray) -> list[np.ndarray]:
                feeds = dict(zip(self._vars, self._unpacked(vector)))
                found = session.run([*tensors, *fetches], {**feeds, **feed_dict}, **run_kwargs)
                if callback is not None:
                    callback(*found[len(tensors) :])
                return found[: len(tensors)]

            return evaluate

        def constraint_functions(values: list[Tensor], slopes: list[Tensor]) -> tuple[list, list]:
            return [evaluator([v]) for v in values], [evaluator([s]) for s in slopes]

        equalities, equality_grads = constraint_functions(self._equalities, self._packed_equality_grads)
        inequalities, inequality_grads = constraint_functions(
            self._inequalities, self._packed_inequality_grads
        )
        found = self._minimize(
            initial_val=start,
            loss_grad_func=evaluator([self._loss, self._packed_loss_grad], loss_callback),
            equality_funcs=equalities,
            equality_grad_funcs=equality_grads,
            inequality_funcs=inequalities,
            inequality_grad_funcs=inequality_grads,
            packed_bounds=self._packed_bounds,
            step_callback=step_callback,
            optimizer_kwargs=self.optimizer_kwargs,
        )
        session.run(self._assignments, dict(zip(self._placeholders, self._unpacked(found))), **run_kwargs)

    def _minimize(self, **_: Any) -> np.ndarray:
        raise NotImplementedError(
            "To use ExternalOptimizerInterface, subclass from it and implement the _minimize() method."
        )

    def _unpacked(self, vector: np.ndarray) -> list[np.ndarray]:
        return [
            vector[part].reshape(v.shape.as_list()).astype(v.dtype.base_dtype.as_numpy_dtype)
            for v, part in zip(self._vars, self._packing_slices)
        ]

    def _packed_gradient(self, value: Tensor) -> Tensor:
        found = gradients(value, self._vars)
        return _packed([creation.zeros_like(v) if g is None else g for g, v in zip(found, self._vars)])

    def _bounds(self, var_to_bounds: Mapping[Any, tuple[Any, Any]]) -> list[tuple[float, float]]:
        pairs: list[tuple[float, float]] = []
        for v in self._vars:
            low, high = var_to_bounds.get(v, (-np.inf, np.inf))
            shape = v.shape.as_list()
            pairs += zip(np.broadcast_to(low, shape).ravel(), np.broadcast_to(high, shape).ravel())
        return pairs


def _packed(tensors: Sequence[Any]) -> Tensor:
    flat = [shapes.reshape(t, [-1]) for t in tensors]
    return flat[0] if len(flat) == 1 else joining.concat(flat, 0)


@export("contrib.opt.ScipyOptimizerInterface")
class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """`scipy.optimize.minimize`, L-BFGS-B unless another method is named.

    Args:
      loss: The loss, a scalar.
      var_list: The variables; all trainable ones if None.
      equalities: Tensors that are to be zero.
      inequalities: Tensors that are not to be negative.
      var_to_bounds: The lowest and the highest value by variable.
      optimizer_kwargs: `method`, the name of the algorithm, and `options`, its options.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self,
        initial_val: np.ndarray,
        loss_grad_func: Callable,
        equality_funcs: list[Callable],
        equality_grad_funcs: list[Callable],
        inequality_funcs: list[Callable],
        inequality_grad_funcs: list[Callable],
        packed_bounds: list | None,
        step_callback: Callable | None,
        optimizer_kwargs: dict[str, Any],
    ) -> np.ndarray:
        from scipy import optimize  # loaded when asked for

        def loss_and_gradient(vector: np.ndarray) -> tuple[float, np.ndarray]:
            loss, slope = loss_grad_func(vector)
            return float(loss), np.asarray(slope, dtype=np.float64)

        def constraints(kind: str, values: list[Callable], slopes: list[Callable]) -> list[dict]:
            return [
                {
                    "type": kind,
                    "fun": lambda x, f=f: np.asarray(f(x)[0], np.float64),
                    "jac": lambda x, g=g: np.asarray(g(x)[0], np.float64),
                }
                for f, g in zip(values, slopes)
            ]

        options = dict(optimizer_kwargs)
        result = optimize.minimize(
            loss_and_gradient,
            np.asarray(initial_val, np.float64),
            method=options.pop("method", self._DEFAULT_METHOD),
            jac=True,
            callback=step_callback,
            constraints=[
                *constraints("eq", equality_funcs, equality_grad_funcs),
                *constraints("ineq", inequality_funcs, inequality_grad_funcs),
            ],
            bounds=packed_bounds,
            **options,
        )
        logging.info(
            "Optimization terminated with:\n  Message: %s\n  Objective function value: %f",
            result.message,
            result.fun,
        )
        return result.x
