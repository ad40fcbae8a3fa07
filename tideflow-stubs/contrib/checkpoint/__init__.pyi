# Written by `python -m tideflow.programs.stubs`.

from typing import Any as _Any
from tideflow.contrib.checkpoint import List as List
from tideflow.contrib.checkpoint import Mapping as Mapping
from tideflow.contrib.checkpoint import NumpyState as NumpyState
from tideflow.contrib.checkpoint import UniqueNameTracker as UniqueNameTracker
from tideflow.contrib.checkpoint import capture_dependencies as capture_dependencies
from tideflow.contrib.checkpoint import dot_graph_from_checkpoint as dot_graph_from_checkpoint
from tideflow.contrib.checkpoint import list_objects as list_objects
from tideflow.contrib.checkpoint import split_dependency as split_dependency
from tideflow.train.checkpoint_manager import CheckpointManager as CheckpointManager
from tideflow.train.object_saver import PythonState as _PythonStateWrapper
from tideflow.train.object_saver import object_metadata as object_metadata
from tideflow.variables.trackable import AutoTrackable as _Checkpointable
from tideflow.variables.trackable import NoDependency as NoDependency
from tideflow.variables.trackable import Trackable as _CheckpointableBase

Checkpointable = _Checkpointable
CheckpointableBase = _CheckpointableBase
CheckpointableObjectGraph: _Any
PythonStateWrapper = _PythonStateWrapper
