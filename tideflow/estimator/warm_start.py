"""WarmStartSettings: with which values of an earlier model an estimator begins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from tideflow.export import export, expose
from tideflow.io.saved_models import VARIABLES_DIRECTORY, VARIABLES_FILENAME
from tideflow.platform import gfile, logging
from tideflow.train.warm_starting import VocabInfo, warm_start

expose(VocabInfo, "estimator.VocabInfo")


class _SettingsFields(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any = ".*"
    var_name_to_vocab_info: dict[str, VocabInfo] = {}
    var_name_to_prev_var_name: dict[str, str] = {}


@export("estimator.WarmStartSettings")
class WarmStartSettings(_SettingsFields):
    """The values with which an estimator begins: the arguments of `tf.train.warm_start`.

    Args:
      ckpt_to_initialize_from: The prefix of a checkpoint, or a directory for its newest checkpoint.
      vars_to_warm_start: The variables: a regular expression or a list of them, a list of variables, or None
        for none but those of the next argument.
      var_name_to_vocab_info: The vocabularies of variables, by the variables' names.
      var_name_to_prev_var_name: The names in the checkpoint, by the variables' names, if they differ.

    Raises:
      ValueError: If `ckpt_to_initialize_from` is empty.
    """

    def __new__(
        cls,
        ckpt_to_initialize_from: str,
        vars_to_warm_start: str | Sequence[Any] | None = ".*",
        var_name_to_vocab_info: dict[str, VocabInfo] | None = None,
        var_name_to_prev_var_name: dict[str, str] | None = None,
    ):
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def settings_from(warm_start_from: Any) -> WarmStartSettings | None:
    """Settings as given, or those of everything in a checkpoint or a SavedModel."""
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes)):
        raise ValueError(
            f"warm_start_from must be a string or a WarmStartSettings, instead got {type(warm_start_from)}"
        )
    path = os.fsdecode(warm_start_from)
    variables = os.path.join(path, VARIABLES_DIRECTORY, VARIABLES_FILENAME)
    if gfile.exists(f"{variables}.index"):
        logging.info("Warm-starting from a SavedModel")
        return WarmStartSettings(variables)
    return WarmStartSettings(path)


def apply_settings(settings: WarmStartSettings) -> None:
    """Makes the variables of the default graph begin as the settings say."""
    logging.info("Warm-starting with WarmStartSettings: %s", settings)
    warm_start(*settings)
