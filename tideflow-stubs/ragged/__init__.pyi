# Written by `python -m tideflow.programs.stubs`.

from tideflow.ragged.arrays import boolean_mask as boolean_mask
from tideflow.ragged.arrays import map_flat_values as map_flat_values
from tideflow.ragged.arrays import stack as stack
from tideflow.ragged.arrays import stack_dynamic_partitions as stack_dynamic_partitions
from tideflow.ragged.creation import constant as constant
from tideflow.ragged.creation import constant_value as constant_value
from tideflow.ragged.creation import placeholder as placeholder
from tideflow.ragged.creation import range_ as _range
from tideflow.ragged.partitions import row_splits_to_segment_ids as row_splits_to_segment_ids
from tideflow.ragged.partitions import segment_ids_to_row_splits as segment_ids_to_row_splits
from tideflow.ragged.value import RaggedTensorValue as RaggedTensorValue

range = _range
