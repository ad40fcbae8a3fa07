"""From losses to steps of training: both sides in turns, or together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.contrib.gan.namedtuples import (
    CycleGANLoss,
    CycleGANModel,
    GANLoss,
    GANModel,
    GANTrainOps,
    GANTrainSteps,
)
from tideflow.contrib.slim.training_loop import train_step
from tideflow.contrib.training.train_ops import create_train_op
from tideflow.contrib.training.training_loop import train
from tideflow.export import export
from tideflow.graph.scopes import GraphKeys, get_collection, name_scope
from tideflow.train.optimizer import Optimizer
from tideflow.train.session_run_hook import SessionRunContext, SessionRunHook
from tideflow.train.sync_replicas_optimizer import SyncReplicasOptimizer
from tideflow.variables.global_step import get_or_create_global_step
from tideflow.variables.initializers import Zeros
from tideflow.variables.variable_scope import get_variable

if TYPE_CHECKING:
    from tideflow.train.scaffold import Scaffold

ONE_EACH = GANTrainSteps(1, 1)


@export("contrib.gan.gan_train_ops")
def gan_train_ops(
    model: GANModel | CycleGANModel,
    loss: GANLoss | CycleGANLoss,
    generator_optimizer: Optimizer,
    discriminator_optimizer: Optimizer,
    check_for_unused_update_ops: bool = True,
    is_chief: bool = True,
    **kwargs: Any,
) -> GANTrainOps:
    """Makes the steps of training of both sides.

    Args:
      model: The model.
      loss: Its losses.
      generator_optimizer: The generator's optimizer.
      discriminator_optimizer: The discriminator's optimizer.
      check_for_unused_update_ops: Whether an update that belongs to neither side is an error.
      is_chief: Whether this is the chief of synchronous replicas.
      kwargs: Further arguments of `tf.contrib.training.create_train_op`, for both sides.

    Returns:
      A `GANTrainOps`.

    Raises:
      ValueError: If an update belongs to neither side.
    """
    if isinstance(model, CycleGANModel):
        options = (generator_optimizer, discriminator_optimizer, check_for_unused_update_ops, is_chief)
        return _train_ops_of_cycle(model, loss, *options, **kwargs)
    global_step = get_or_create_global_step()
    counted = global_step.assign_add(1)
    scopes = model.generator_scope.name, model.discriminator_scope.name
    given = kwargs.pop("update_ops", None)
    of_generator, of_discriminator = _updates(given, *scopes, check_for_unused_update_ops)
    hooks: list[SessionRunHook] = []

    def trained(side: str, total: Any, optimizer: Optimizer, variables: Any, updates: list[Any]) -> Any:
        own_step = None
        if isinstance(optimizer, SyncReplicasOptimizer):
            # Replicas are synchronized by a step that their optimizer counts; both sides count their own.
            own_step = get_variable(
                f"dummy_global_step_{side}",
                shape=[],
                dtype=global_step.dtype.base_dtype,
                initializer=Zeros(),
                trainable=False,
                collections=[GraphKeys.GLOBAL_VARIABLES],
            )
            updates = [*updates, own_step.assign(global_step)]
            hooks.append(optimizer.make_session_run_hook(is_chief))
        with name_scope(f"{side}_train"):
            return create_train_op(
                total,
                optimizer,
                global_step=own_step,
                variables_to_train=variables,
                update_ops=updates,
                **kwargs,
            )

    generator = trained(
        "generator", loss.generator_loss, generator_optimizer, model.generator_variables, of_generator
    )
    discriminator = trained(
        "discriminator",
        loss.discriminator_loss,
        discriminator_optimizer,
        model.discriminator_variables,
        of_discriminator,
    )
    return GANTrainOps(generator, discriminator, counted, hooks)


def _train_ops_of_cycle(model: Any, loss: Any, *options: Any, **kwargs: Any) -> GANTrainOps:
    with name_scope("cyclegan_x2y_train"):
        x2y = gan_train_ops(model.model_x2y, loss.loss_x2y, *options, **kwargs)
    with name_scope("cyclegan_y2x_train"):
        y2x = gan_train_ops(model.model_y2x, loss.loss_y2x, *options, **kwargs)
    return GANTrainOps(
        (x2y.generator_train_op, y2x.generator_train_op),
        (x2y.discriminator_train_op, y2x.discriminator_train_op),
        get_or_create_global_step().assign_add(1),
        [*x2y.train_hooks, *y2x.train_hooks],
    )


def _updates(given: Any, generator: str, discriminator: str, check: bool) -> tuple[list[Any], list[Any]]:
    """The updates of each side, in the order in which they were made."""
    chosen = get_collection(GraphKeys.UPDATE_OPS) if given is None else list(given)
    chosen = list(dict.fromkeys(chosen))
    sides = [set(get_collection(GraphKeys.UPDATE_OPS, scope)) for scope in (generator, discriminator)]
    unused = set(chosen) - sides[0] - sides[1]
    if check and unused:
        raise ValueError(f"There are unused update ops: {unused}")
    return [op for op in chosen if op in sides[0]], [op for op in chosen if op in sides[1]]


@export("contrib.gan.RunTrainOpsHook")
class RunTrainOpsHook(SessionRunHook):
    """A hook that runs operations some times before every step.

    Args:
      train_ops: An operation, or a list of those that run together.
      train_steps: How many times.
    """

    def __init__(self, train_ops: Any, train_steps: int):
        self._train_ops = train_ops if isinstance(train_ops, (list, tuple)) else [train_ops]
        self._train_steps = train_steps

    def before_run(self, run_context: SessionRunContext) -> None:
        """Runs the operations.

        Args:
          run_context: The step, with the session that it runs in.
        """
        for _ in range(self._train_steps):
            run_context.session.run(self._train_ops)


@export("contrib.gan.get_sequential_train_hooks")
def get_sequential_train_hooks(train_steps: GANTrainSteps = ONE_EACH) -> Callable[[GANTrainOps], list]:
    """Makes a function that makes hooks: all steps of the generator, then all of the discriminator.

    Args:
      train_steps: How many steps each side makes.

    Returns:
      A function from `GANTrainOps` to hooks.
    """

    def hooks(train_ops: GANTrainOps) -> list:
        return [
            RunTrainOpsHook(train_ops.generator_train_op, train_steps.generator_train_steps),
            RunTrainOpsHook(train_ops.discriminator_train_op, train_steps.discriminator_train_steps),
            *train_ops.train_hooks,
        ]

    return hooks


@export("contrib.gan.get_joint_train_hooks")
def get_joint_train_hooks(train_steps: GANTrainSteps = ONE_EACH) -> Callable[[GANTrainOps], list]:
    """Makes a function that makes hooks: steps of both sides at once, then those that one has left.

    Args:
      train_steps: How many steps each side makes.

    Returns:
      A function from `GANTrainOps` to hooks.
    """
    generator_steps, discriminator_steps = train_steps
    together = min(train_steps)

    def hooks(train_ops: GANTrainOps) -> list:
        both = [train_ops.generator_train_op, train_ops.discriminator_train_op]
        return [
            RunTrainOpsHook(both, together),
            RunTrainOpsHook(train_ops.generator_train_op, generator_steps - together),
            RunTrainOpsHook(train_ops.discriminator_train_op, discriminator_steps - together),
            *train_ops.train_hooks,
        ]

    return hooks


@export("contrib.gan.get_sequential_train_steps")
def get_sequential_train_steps(train_steps: GANTrainSteps = ONE_EACH) -> Callable:
    """Makes a `train_step_fn` for `tf.contrib.slim.learning.train`.

    Args:
      train_steps: How many steps each side makes.

    Returns:
      A function of a session, `GANTrainOps`, the global step and arguments of
      `tf.contrib.slim.learning.train_step`, to the sum of the losses and whether training should stop.
    """

    def step(sess: Any, train_ops: GANTrainOps, global_step: Any, train_step_kwargs: dict) -> tuple[Any, Any]:
        options = {key: value for key, value in train_step_kwargs.items() if key != "should_stop"}
        turns = [train_ops.generator_train_op] * train_steps.generator_train_steps
        turns += [train_ops.discriminator_train_op] * train_steps.discriminator_train_steps
        total = sum(train_step(sess, op, global_step, options)[0] for op in turns)
        sess.run(train_ops.global_step_inc_op)
        # Asked only now: it counts the step that was just made.
        stops = "should_stop" in train_step_kwargs and sess.run(train_step_kwargs["should_stop"])
        return total, stops

    return step


@export("contrib.gan.gan_train")
def gan_train(
    train_ops: GANTrainOps,
    logdir: str,
    get_hooks_fn: Callable[[GANTrainOps], list] = get_sequential_train_hooks(),
    master: str = "",
    is_chief: bool = True,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: ConfigProto | None = None,
) -> Any:
    """Trains a GAN until a hook stops it; `tf.contrib.training.train` with a GAN's hooks.

    Args:
      train_ops: The steps of training.
      logdir: The folder of checkpoints and summaries.
      get_hooks_fn: A function from `train_ops` to hooks that train.
      master: The session's target.
      is_chief: Whether this is the chief of several replicas.
      scaffold: What the session starts with.
      hooks: Further hooks, such as `tf.train.StopAtStepHook`.
      chief_only_hooks: Hooks of the chief only.
      save_checkpoint_secs: The seconds between checkpoints; None for none.
      save_summaries_steps: The steps between summaries; None for none.
      config: The session's configuration.

    Returns:
      The global step.
    """
    return train(
        train_ops.global_step_inc_op,
        logdir,
        master=master,
        is_chief=is_chief,
        scaffold=scaffold,
        hooks=[*(hooks or ()), *get_hooks_fn(train_ops)],
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
    )
