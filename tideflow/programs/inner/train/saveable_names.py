"""`tensorflow.python.training.saving.saveable_object_util`: how variables become what a saver saves."""

from tideflow.train import saveables
from tideflow.train.saveables import (  # noqa: F401 - looked up by programs
    ReferenceVariableSaveable,
    ResourceVariableSaveable,
)

set_cpu0 = saveables.on_cpu
saveable_objects_for_op = saveables.saveables_for
op_list_to_dict = saveables.names_of
validate_and_slice_inputs = saveables.saveables_of
