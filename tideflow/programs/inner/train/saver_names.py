"""Names that tests and libraries take from `tensorflow.python.training.saver`, beside the public ones."""

from __future__ import annotations

from tideflow.train import saveables
from tideflow.train.saver_graph import SaverBuilder
from tideflow.train.scaffold import get_saver_or_default

_get_saver_or_default = get_saver_or_default


class BaseSaverBuilder(SaverBuilder):
    """Builds the operations that save and restore; holds the classes of what they save."""

    SaveSpec = saveables.SaveSpec
    SaveableObject = saveables.SaveableObject
    VariableSaveable = saveables.ReferenceVariableSaveable
    ResourceVariableSaveable = saveables.ResourceVariableSaveable


BulkSaverBuilder = BaseSaverBuilder
