"""Scaffold: the operations that a session needs around a model, taken from the graph or made by default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection, get_collection, get_default_graph
from tideflow.lookup.collections import tables_initializer
from tideflow.ops.arrays import joining
from tideflow.ops.control_flow import grouping
from tideflow.platform import logging
from tideflow.summary import functions as summaries
from tideflow.train import resource_registry as resources
from tideflow.train.checkpoint import Checkpoint
from tideflow.train.object_saver import frozen_saveables
from tideflow.train.saver import Saver
from tideflow.variables import collections as variables


@export("train.Scaffold")
class Scaffold:
    """The operations around a model: they initialize it, check that it is ready, summarize and save it.

    An operation that is not given is taken from a collection of the graph (INIT_OP, READY_OP, SAVERS and so
    on) or made, by `finalize`.

    Args:
      init_op: The operation that initializes the global variables.
      init_feed_dict: Values to feed to it.
      init_fn: A function `init_fn(scaffold, session)` that is called after `init_op`.
      ready_op: A tensor that is empty when all variables are initialized.
      ready_for_local_init_op: A tensor that is empty when `local_init_op` can run.
      local_init_op: The operation that initializes local variables and tables.
      summary_op: The summary of the model, as a string tensor.
      saver: The Saver.
      copy_from_scaffold: A Scaffold whose operations are used if an argument is None.
    """

    def __init__(
        self,
        init_op: Tensor | Operation | None = None,
        init_feed_dict: dict | None = None,
        init_fn: Callable[[Scaffold, Any], None] | None = None,
        ready_op: Tensor | None = None,
        ready_for_local_init_op: Tensor | None = None,
        local_init_op: Tensor | Operation | None = None,
        summary_op: Tensor | None = None,
        saver: Saver | None = None,
        copy_from_scaffold: Scaffold | None = None,
    ):
        given = {
            "_init_op": init_op,
            "_init_feed_dict": init_feed_dict,
            "_user_init_fn": init_fn,
            "_ready_op": ready_op,
            "_ready_for_local_init_op": ready_for_local_init_op,
            "_local_init_op": local_init_op,
            "_summary_op": summary_op,
            "_saver": saver,
        }
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError(
                "copy_from_scaffold is not a Scaffold instance, but a "
                f"{type(copy_from_scaffold).__name__}: {copy_from_scaffold!r}"
            )
        for field, value in given.items():
            copied = getattr(copy_from_scaffold, field, None) if value is None else value
            setattr(self, field, copied)

    def finalize(self) -> Scaffold:
        """Finds or makes the operations that were not given, and makes the graph read-only.

        Returns:
          This object.
        """
        keys = GraphKeys
        self._init_op = _first(
            self._init_op, lambda: self.get_or_default("init_op", keys.INIT_OP, _default_init_op)
        )
        self._ready_op = _first(
            self._ready_op, lambda: self.get_or_default("ready_op", keys.READY_OP, _default_ready_op)
        )
        self._ready_for_local_init_op = _first(
            self._ready_for_local_init_op,
            lambda: self.get_or_default(
                "ready_for_local_init_op", keys.READY_FOR_LOCAL_INIT_OP, _default_ready_for_local_init_op
            ),
        )
        self._local_init_op = _first(
            self._local_init_op,
            lambda: self.get_or_default("local_init_op", keys.LOCAL_INIT_OP, self.default_local_init_op),
        )
        self._summary_op = _first(
            self._summary_op,
            lambda: self.get_or_default("summary_op", keys.SUMMARY_OP, summaries.merge_all),
        )
        self._saver = _first(self._saver, get_saver_or_default)
        if isinstance(self._saver, Checkpoint):
            self._saver = Saver(frozen_saveables(self._saver), sharded=True)
        self._saver.build()
        get_default_graph().finalize()
        logging.info("Graph was finalized.")
        return self

    @property
    def init_fn(self) -> Callable[[Any], None] | None:
        """A function of the session that is called after `init_op`, or None."""
        function = self._user_init_fn
        return (lambda sess: function(self, sess)) if function else None

    @property
    def init_op(self) -> Any:
        """The operation that initializes the global variables."""
        return self._init_op

    @property
    def init_feed_dict(self) -> dict | None:
        """The values that are fed to `init_op`."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """A tensor that is empty when all variables are initialized."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """A tensor that is empty when `local_init_op` can run."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        """The operation that initializes local variables and tables."""
        return self._local_init_op

    @property
    def summary_op(self) -> Any:
        """The summary of the model."""
        return self._summary_op

    @property
    def saver(self) -> Any:
        """The Saver."""
        return self._saver

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], Any]) -> Any:
        """Gets the only item of a collection, or makes it.

        Args:
          arg_name: The name of the item, for errors.
          collection_key: The collection's key.
          default_constructor: Makes the item if the collection is empty; it is added to the collection.

        Returns:
          The item.

        Raises:
          RuntimeError: If the collection has several items.
        """
        found = get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which one to use '
                f"by passing it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Operation:
        """Adds an operation that initializes local variables, tables and local resources.

        Returns:
          The operation.
        """
        return grouping.group(
            variables.local_variables_initializer(),
            tables_initializer(),
            resources.initialize_resources(resources.local_resources()),
        )


def _first(given: Any, otherwise: Callable[[], Any]) -> Any:
    return otherwise() if given is None else given


def _default_init_op() -> Operation:
    return grouping.group(
        variables.global_variables_initializer(),
        resources.initialize_resources(resources.shared_resources()),
    )


def _default_ready_op() -> Tensor:
    return joining.concat(
        [variables.report_uninitialized_variables(), resources.report_uninitialized_resources()], 0
    )


def _default_ready_for_local_init_op() -> Tensor:
    return joining.concat(
        [
            variables.report_uninitialized_variables(variables.global_variables()),
            resources.report_uninitialized_resources(resources.shared_resources()),
        ],
        0,
    )


def only_saver() -> Any:
    """The graph's only saver, if it has one; more than one are an error."""
    savers = get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(
            f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by "
            "passing it to the constructor."
        )
    return savers[0] if savers else None


def get_saver_or_default() -> Any:
    """The graph's only saver; where it has none, one of all that can be saved, which becomes the graph's."""
    saver = only_saver()
    if saver is None:
        saver = Saver(sharded=True, allow_empty=True)
        add_to_collection(GraphKeys.SAVERS, saver)
    return saver
