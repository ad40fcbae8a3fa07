"""A SavedModel of an estimator: a graph for each mode, beside the variables of one checkpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import tideflow as tf
from tideflow.estimator.export.signatures import (
    EXPORT_TAGS,
    outputs_for_mode,
    signatures_of,
    temporary_directory,
    timestamped_directory,
)
from tideflow.estimator.spec import ModeKeys
from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import GraphKeys, add_to_collection, get_collection
from tideflow.platform import gfile
from tideflow.saved_model import constants
from tideflow.saved_model.builder import SavedModelBuilder
from tideflow.session.session import Session
from tideflow.train.saver import Saver
from tideflow.train.scaffold import Scaffold


def write_saved_model(
    estimator: Any,
    export_dir_base: str,
    receivers: Mapping[str, Callable],
    checkpoint_path: str,
    assets_extra: Mapping[str, str] | None,
    as_text: bool,
    strip_default_attrs: bool,
) -> bytes:
    """Writes the model of a checkpoint for each mode that has a receiver; returns the directory."""
    directory = timestamped_directory(export_dir_base)
    temporary = temporary_directory(directory)
    builder = SavedModelBuilder(os.fsdecode(temporary))
    modes = [mode for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) if receivers.get(mode)]
    if not modes:
        raise ValueError(f"No valid modes for exporting found. Got {receivers.keys()}.")
    for mode in modes:
        writes_variables = mode == modes[0]
        _add_mode(
            estimator, builder, receivers[mode], checkpoint_path, mode, writes_variables, strip_default_attrs
        )
    builder.save(as_text)
    for name, source in (assets_extra or {}).items():
        target = os.path.join(os.fsdecode(temporary), "assets.extra", os.fsdecode(name))
        gfile.makedirs(os.path.dirname(target))
        gfile.copy(source, target)
    gfile.rename(temporary, directory)
    return directory


def _add_mode(
    estimator: Any,
    builder: SavedModelBuilder,
    receiver_fn: Callable,
    checkpoint_path: str,
    mode: str,
    writes_variables: bool,
    strip_default_attrs: bool,
) -> None:
    """Adds the graph of a mode to a SavedModel; the first one writes the variables, which all share."""
    with Graph().as_default() as graph:
        estimator._create_and_assert_global_step(graph)
        tf.set_random_seed(estimator._config.tf_random_seed)
        receiver = receiver_fn()
        labels = getattr(receiver, "labels", None)
        spec = estimator._call_model_fn(receiver.features, labels, mode, estimator.config)
        signatures = signatures_of(receiver, outputs_for_mode(spec), mode == ModeKeys.PREDICT)
        with Session(config=estimator._session_config) as session:
            local_init_op = spec.scaffold.local_init_op
            if local_init_op is None:
                local_init_op = Scaffold.default_local_init_op()
            saver = spec.scaffold.saver or Saver(sharded=True)
            _restore(saver, session, checkpoint_path, mode)
            if spec.train_op is not None:
                add_to_collection(constants.TRAIN_OP_KEY, spec.train_op)
            arguments = dict(
                tags=EXPORT_TAGS[mode],
                signature_def_map=signatures,
                assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
                main_op=local_init_op,
                saver=saver,
                strip_default_attrs=strip_default_attrs,
            )
            if writes_variables:
                builder.add_meta_graph_and_variables(session, **arguments)
            else:
                builder.add_meta_graph(**arguments)


def _restore(saver: Saver, session: Session, checkpoint_path: str, mode: str) -> None:
    try:
        saver.restore(session, checkpoint_path)
    except errors.NotFoundError as error:
        raise ValueError(
            "Could not load all requested variables from checkpoint. Please make sure your model_fn does not "
            "expect variables that were not saved in the checkpoint.\n\nEncountered error with mode "
            f"`{mode}` while restoring checkpoint from: `{checkpoint_path}`. Full Traceback:\n\n{error}"
        ) from error
