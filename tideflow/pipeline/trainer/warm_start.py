"""Training that begins with an earlier model's parameters, matched by word where vocabularies changed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import tideflow as tf
from tideflow.graph import errors
from tideflow.io.saved_models import ASSETS_DIRECTORY, variables_prefix
from tideflow.pipeline.transform.output import TFTransformOutput


def warm_start_settings(
    base_model: str,
    transformed: TFTransformOutput | None = None,
    vocabularies: Mapping[str, str] | None = None,
    variables: str | list[str] = ".*",
    num_oov_buckets: int | Mapping[str, int] = 0,
) -> tf.estimator.WarmStartSettings:
    """The settings with which an estimator begins with an earlier model's parameters.

        tf.estimator.DNNClassifier(..., warm_start_from=warm_start_settings(
            fn_args.base_model, transformed, {"company": ".*/company_embedding/.*"}, num_oov_buckets=1))

    Args:
      base_model: The folder of the earlier SavedModel, exported with its transform graph.
      transformed: The transform's output of the new model.
      vocabularies: By the name of a vocabulary, a regular expression of the variables that have a row for
        each of its words. Words of both models keep their rows; new ones and the buckets behind them
        begin as zeros.
      variables: The variables to begin with: a regular expression, or a list of them.
      num_oov_buckets: The number of rows behind the words, of all vocabularies or by name.

    Returns:
      WarmStartSettings.

    Raises:
      NotFoundError: If the earlier model or the transform has no such vocabulary.
      ValueError: If no variable of the earlier model fits an expression.
    """
    checkpoint = variables_prefix(base_model)
    names = [name for name, _ in tf.train.list_variables(checkpoint)]
    infos: dict[str, Any] = {}
    for vocabulary, pattern in (vocabularies or {}).items():
        if transformed is None:
            raise ValueError("Vocabularies are those of a transform's output: give it too")
        own = [name for name in names if re.fullmatch(pattern, name) and not _is_slot(name, names)]
        if not own:
            raise ValueError(f"{base_model} has no variable like {pattern!r}; it has {names}")
        new = transformed.vocabulary_file_by_name(vocabulary)
        if new is None:
            raise errors.not_found(f"The transform has no vocabulary {vocabulary}")
        old = os.path.join(base_model, ASSETS_DIRECTORY, os.path.basename(new))
        if not os.path.exists(old):
            raise errors.not_found(f"{base_model} has no vocabulary {os.path.basename(new)}")
        buckets = num_oov_buckets if isinstance(num_oov_buckets, int) else num_oov_buckets.get(vocabulary, 0)
        size = transformed.vocabulary_size_by_name(vocabulary)
        for name in own:
            infos[name] = tf.estimator.VocabInfo(new, size, buckets, old)
    return tf.estimator.WarmStartSettings(checkpoint, variables, infos)


def _is_slot(name: str, names: list[str]) -> bool:
    """Whether an optimizer keeps this variable for another one: they have its name and a word more."""
    return any(name.startswith(f"{other}/") for other in names)


def warm_start_variables(settings: tf.estimator.WarmStartSettings) -> None:
    """Makes the variables of the default graph begin as settings say, for training by sessions or by Keras.

    Args:
      settings: What `warm_start_settings` returned. Variables are initialized after this call.
    """
    tf.train.warm_start(*settings)
