"""ExportStrategy: a way to export an estimator, with a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tideflow.export import export
from tideflow.platform.deprecation import deprecated
from tideflow.platform.function_arguments import fn_args, those_taken


class _Fields(NamedTuple):
    name: str
    export_fn: Callable
    strip_default_attrs: bool | None


@export("contrib.learn.ExportStrategy")
class ExportStrategy(_Fields):
    """A way to export an estimator.

    Args:
      name: The name of the folder of the exports.
      export_fn: A function of the estimator and the folder, and of `checkpoint_path`, `eval_result` and
        `strip_default_attrs` if it names them, that writes an export and returns its path.
      strip_default_attrs: Whether attributes with their default values are removed.
    """

    @deprecated(None, "Please switch to tf.estimator.train_and_evaluate, and use tf.estimator.Exporter.")
    def __new__(
        cls, name: str, export_fn: Callable, strip_default_attrs: bool | None = None
    ) -> ExportStrategy:
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(
        self,
        estimator: Any,
        export_path: str | bytes,
        checkpoint_path: str | None = None,
        eval_result: dict[str, Any] | None = None,
    ) -> Any:
        """Exports an estimator.

        Args:
          estimator: The estimator.
          export_path: The folder of the exports.
          checkpoint_path: The checkpoint to export.
          eval_result: The results of its evaluation.

        Returns:
          What the function returns: the path of the export.

        Raises:
          ValueError: If the function takes results of an evaluation, but no checkpoint.
        """
        names = fn_args(self.export_fn)
        if "eval_result" in names and "checkpoint_path" not in names:
            raise ValueError("An export_fn accepting eval_result must also accept checkpoint_path.")
        taken = those_taken(
            self.export_fn,
            checkpoint_path=checkpoint_path,
            eval_result=eval_result,
            strip_default_attrs=self.strip_default_attrs,
        )
        return self.export_fn(estimator, export_path, **taken)
