"""`tf.contrib.eager`: the names of eager mode that programs of 2018 used; most moved to `tf` later."""

from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.eager import callbacks, metrics, modes, network, network_checkpoints  # noqa: F401
from tideflow.eager.context import enable_eager_execution
from tideflow.export import export, expose
from tideflow.graph.scopes import executing_eagerly
from tideflow.platform.app import run as run_app
from tideflow.train.checkpoint import Checkpoint
from tideflow.train.optimizer import Optimizer
from tideflow.train.saver import Saver as NamedSaver
from tideflow.variables.base import Variable
from tideflow.variables.template import make_template

expose(Variable, "contrib.eager.Variable")
expose(Checkpoint, "contrib.eager.Checkpoint")
expose(enable_eager_execution, "contrib.eager.enable_eager_execution")
expose(executing_eagerly, "contrib.eager.executing_eagerly")
expose(make_template, "contrib.eager.make_template")
expose(tf.TensorSpec, "contrib.eager.TensorSpec")


@export("contrib.eager.run")
def run(main: Callable[..., Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """Enables eager execution and runs a program, as `tf.app.run` does.

    Args:
      main: The function to run, of the list of arguments; the module's `main` if None.
      argv: The command line; that of the process if None.
    """
    enable_eager_execution()
    run_app(main, argv)


@export("contrib.eager.get_optimizer_variables")
def get_optimizer_variables(optimizer: Optimizer) -> list[Variable]:
    """Gets the variables of an optimizer.

    Args:
      optimizer: The optimizer.

    Returns:
      Its slots and its own state, by name.
    """
    return optimizer.variables()


@export("contrib.eager.Saver")
class Saver:
    """Saves and restores variables by their names, in eager mode. `tf.train.Checkpoint` is newer.

    Args:
      var_list: The variables, or a dictionary from names to variables.

    Raises:
      RuntimeError: In graph mode.
    """

    def __init__(self, var_list: Sequence[Variable] | dict[str, Variable]):
        if not executing_eagerly():
            raise RuntimeError(
                "tfe.Saver can only be used when eager execution is enabled. Use tf.train.Saver when "
                "building graphs."
            )
        self._saver = NamedSaver(var_list=var_list)

    def save(self, file_prefix: str, global_step: Any = None) -> str | None:
        """Writes a checkpoint.

        Args:
          file_prefix: The prefix of the checkpoint's files.
          global_step: A number to append to it.

        Returns:
          The prefix of the checkpoint.
        """
        return self._saver.save(None, file_prefix, write_meta_graph=False, global_step=global_step)

    def restore(self, file_prefix: str) -> None:
        """Gives the variables the values of a checkpoint.

        Args:
          file_prefix: The prefix of the checkpoint's files.
        """
        self._saver.restore(None, file_prefix)
