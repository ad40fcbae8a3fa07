"""WALSMatrixFactorization: an estimator that finds the factors of a matrix, rows and columns in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.factorization.matrices import WALSModel
from tideflow.contrib.learn.estimator import Estimator
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.learn.modes import ModeKeys
from tideflow.contrib.learn.run_config import RunConfig
from tideflow.export import export
from tideflow.train.session_run_hook import SessionRunArgs, SessionRunHook
from tideflow.variables.global_step import get_global_step

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _Sweeps:
    """The operations of training: sweeps over all rows and over all columns, one after the other."""

    def __init__(self, model: WALSModel, features: dict[str, Any], num_rows: int, num_cols: int):
        names = WALSMatrixFactorization
        self.init = model.worker_init
        self.is_row_sweep = _state(True, "is_row_sweep")
        self.is_done = _state(False, "is_sweep_done")
        self._completed = _state(0, names.COMPLETED_SWEEPS)
        self.loss = _state(0.0, names.LOSS)
        self._error = _state(0.0, names.RWSE)
        tf.summary.scalar("loss", self.loss)
        tf.summary.scalar("root_weighted_squared_error", self._error)
        tf.summary.scalar("completed_sweeps", self._completed)
        rows, cols = features[names.INPUT_ROWS], features[names.INPUT_COLS]
        row_reset, row_train = self._axis(rows, num_rows, "rows", model.update_row_factors(rows))
        cols_solved = model.update_col_factors(cols, transpose_input=True)
        col_reset, col_train = self._axis(cols, num_cols, "cols", cols_solved)
        self.train = {True: row_train, False: col_train}
        self.prepare = {
            True: [model.row_update_prep_gramian_op, model.initialize_row_update_op],
            False: [model.col_update_prep_gramian_op, model.initialize_col_update_op],
        }
        turned = tf.assign(self.is_row_sweep, tf.logical_not(self.is_row_sweep))
        self.switch = tf.group(turned, row_reset, col_reset, name="sweep_switch_op")

    def hook(self) -> _SweepHook:
        """The hook that runs them."""
        return _SweepHook(
            self.is_row_sweep,
            self.is_done,
            self.init,
            self.prepare[True],
            self.prepare[False],
            self.train[True],
            self.train[False],
            self.switch,
        )

    def _axis(self, given: Any, count: int, axis: str, solved: tuple[Any, ...]) -> tuple[Any, Any]:
        """The operation that forgets which rows (or columns) were seen, and that of a training step."""
        seen = _state(tf.fill([count], False), f"processed_{axis}")
        _, update, loss, penalty, weight = solved
        places = given.indices[:, 0]
        kept = [
            update,
            tf.assign(self.loss, loss + penalty),
            tf.assign(self._error, tf.sqrt(loss / weight)),
        ]
        with tf.control_dependencies(kept):
            name = f"update_processed_{axis}_indices"
            now_seen = tf.scatter_update(seen, places, tf.ones_like(places, tf.bool), name=name)
        with tf.control_dependencies([now_seen]):
            is_done = tf.reduce_all(seen)
            train = tf.group(
                tf.assign(self.is_done, is_done),
                tf.assign_add(self._completed, tf.cast(is_done, tf.int32)),
                name=f"{axis}_sweep_train_op",
            )
        return seen.initializer, train


def _state(value: Any, name: str) -> Any:
    return tf.Variable(value, trainable=False, name=name)


class _SweepHook(SessionRunHook):
    """Runs a step of the current sweep in each run, and prepares each sweep.

    Args:
      is_row_sweep_var: Whether the current sweep is over rows.
      is_sweep_done_var: Whether it has been over all of them.
      init_op: Runs before the first sweep.
      row_prep_ops: Run one after the other before a sweep over rows.
      col_prep_ops: Run before a sweep over columns.
      row_train_op: A step over rows.
      col_train_op: A step over columns.
      switch_op: Turns to the other sweep.
    """

    def __init__(
        self,
        is_row_sweep_var: Any,
        is_sweep_done_var: Any,
        init_op: Any,
        row_prep_ops: Sequence[Any],
        col_prep_ops: Sequence[Any],
        row_train_op: Any,
        col_train_op: Any,
        switch_op: Any,
    ):
        self._is_row_sweep_var = is_row_sweep_var
        self._is_sweep_done_var = is_sweep_done_var
        self._init_op = init_op
        self._prepare = {True: row_prep_ops, False: col_prep_ops}
        self._train = {True: row_train_op, False: col_train_op}
        self._switch_op = switch_op
        self._has_begun = False

    def before_run(self, run_context: Any) -> SessionRunArgs:
        session = run_context.session
        is_done = session.run(self._is_sweep_done_var)
        if not self._has_begun:
            session.run(self._init_op)
        if is_done:
            session.run(self._switch_op)
        of_rows = bool(session.run(self._is_row_sweep_var))
        if is_done or not self._has_begun:
            for prepare in self._prepare[of_rows]:
                session.run(prepare)
        self._has_begun = True
        return SessionRunArgs([self._train[of_rows]])


class _IncrementGlobalStepHook(SessionRunHook):
    """Counts the global step, if there is one."""

    def __init__(self) -> None:
        step = get_global_step()
        self._count = None if step is None else tf.assign_add(step, 1, name="global_step_incr").op

    def before_run(self, run_context: Any) -> None:
        if self._count is not None:
            run_context.session.run(self._count)


class _StopAtSweepHook(SessionRunHook):
    """Ends the training after a number of sweeps."""

    def __init__(self, last_sweep: int):
        self._last_sweep = last_sweep

    def begin(self) -> None:
        name = WALSMatrixFactorization.COMPLETED_SWEEPS
        try:
            self._completed = tf.get_default_graph().get_tensor_by_name(f"{name}:0")
        except KeyError:
            raise RuntimeError(f"{name} counter should be created to use StopAtSweepHook.") from None

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._completed)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results >= self._last_sweep:
            run_context.request_stop()


def _model_fn(features: dict[str, Any], labels: Any, mode: str, params: dict) -> ModelFnOps:
    assert labels is None
    is_training, names = mode == ModeKeys.TRAIN, WALSMatrixFactorization
    model = WALSModel(
        **params["model"],
        use_factors_weights_cache=params["use_factors_weights_cache"] and is_training,
        use_gramian_cache=params["use_gramian_cache"] and is_training,
    )
    if is_training:
        sweeps = _Sweeps(model, features, params["model"]["input_rows"], params["model"]["input_cols"])
        hooks: list[SessionRunHook] = [sweeps.hook(), _IncrementGlobalStepHook()]
        if params["max_sweeps"] is not None:
            hooks.append(_StopAtSweepHook(params["max_sweeps"]))
        return _made(mode, loss=sweeps.loss, training_hooks=hooks)
    rows, cols = features[names.INPUT_ROWS], features[names.INPUT_COLS]
    of_rows = features[names.PROJECT_ROW]
    if mode == ModeKeys.INFER:
        weights = features.get(names.PROJECTION_WEIGHTS)
        projection = tf.cond(
            of_rows,
            lambda: model.project_row_factors(rows, projection_weights=weights),
            lambda: model.project_col_factors(cols, projection_weights=weights, transpose_input=True),
        )
        return _made(mode, predictions={names.PROJECTION_RESULT: projection})

    def loss_of(solved: tuple[Any, ...]) -> Any:
        _, _, loss, penalty, _ = solved
        return loss + penalty

    loss = tf.cond(
        of_rows,
        lambda: loss_of(model.update_row_factors(rows)),
        lambda: loss_of(model.update_col_factors(cols, transpose_input=True)),
    )
    return _made(mode, loss=loss)


def _made(mode: str, **given: Any) -> ModelFnOps:
    return ModelFnOps(mode=mode, train_op=tf.no_op(), **{"predictions": {}, "eval_metric_ops": {}, **given})


@export("contrib.factorization.WALSMatrixFactorization")
class WALSMatrixFactorization(Estimator):
    """An estimator that finds the factors of a matrix by weighted alternating least squares.

    Its input functions return a dictionary and None. `"input_rows"` and `"input_cols"` are SparseTensors of
    some rows, and of some columns of the matrix (as rows). For evaluation and prediction `"project_row"`
    tells which of the two is meant, and `"projection_weights"` may give their weights.

    Args:
      num_rows: The number of rows of the matrix.
      num_cols: The number of its columns.
      embedding_dimension: The size of a factor.
      unobserved_weight: What an element counts, beside its own weight: that of the unknown ones, which are 0.
      regularization_coeff: The factor of the factors' squares; None for none.
      row_init: The first factors of rows: `"random"`, a matrix, a list with a matrix for each shard, or a
        function that gives these.
      col_init: The first factors of columns.
      num_row_shards: In how many variables the factors of rows are kept.
      num_col_shards: In how many those of columns are kept.
      row_weights: The weights of rows: a number, numbers, or a list with numbers for each shard. None for
        both if all count alike.
      col_weights: The weights of columns.
      use_factors_weights_cache_for_training: Whether training keeps copies of factors and weights.
      use_gramian_cache_for_training: Whether training keeps copies of Gramians.
      max_sweeps: After how many sweeps training ends; each goes over all rows, or over all columns.
      model_dir: The directory of the model.
      config: A RunConfig.

    Raises:
      ValueError: If there is more than one worker.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = "completed_sweeps"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows: int,
        num_cols: int,
        embedding_dimension: int,
        unobserved_weight: float = 0.1,
        regularization_coeff: float | None = None,
        row_init: str | TensorLike | Sequence[TensorLike] | Callable = "random",
        col_init: str | TensorLike | Sequence[TensorLike] | Callable = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache_for_training: bool = True,
        use_gramian_cache_for_training: bool = True,
        max_sweeps: int | None = None,
        model_dir: str | None = None,
        config: RunConfig | None = None,
    ):
        params = {
            "model": {
                "input_rows": num_rows,
                "input_cols": num_cols,
                "n_components": embedding_dimension,
                "unobserved_weight": unobserved_weight,
                "regularization": regularization_coeff,
                "row_init": row_init,
                "col_init": col_init,
                "num_row_shards": num_row_shards,
                "num_col_shards": num_col_shards,
                "row_weights": row_weights,
                "col_weights": col_weights,
            },
            "use_factors_weights_cache": use_factors_weights_cache_for_training,
            "use_gramian_cache": use_gramian_cache_for_training,
            "max_sweeps": max_sweeps,
        }
        self._shards = {"row": num_row_shards, "col": num_col_shards}
        super().__init__(_model_fn, model_dir, config, params)
        if self.config.num_worker_replicas > 1:
            raise ValueError("WALSMatrixFactorization must be run on a single worker replica.")

    def get_row_factors(self) -> list[Any]:
        """The factors of the rows, an array for each shard."""
        return self._factors("row")

    def get_col_factors(self) -> list[Any]:
        """The factors of the columns, an array for each shard."""
        return self._factors("col")

    def _factors(self, side: str) -> list[Any]:
        return [self.get_variable_value(f"{side}_factors_shard_{i}") for i in range(self._shards[side])]

    def get_projections(self, input_fn: Callable) -> Iterator[Any]:
        """Finds factors of rows or columns, given those of the other side.

        Args:
          input_fn: A function that returns rows and columns, and which of them are meant.

        Returns:
          An iterator over the factors of each row, or column.
        """
        return (found[self.PROJECTION_RESULT] for found in self.predict(input_fn=input_fn))
