# Written by `python -m tideflow.programs.stubs`.

from tideflow.train.checkpoint_manager import CheckpointManager as CheckpointManager
from tideflow.train.object_saver import object_metadata as object_metadata
from tideflow.variables.trackable import AutoTrackable as _Checkpointable

Checkpointable = _Checkpointable
