# Written by `python -m tideflow.programs.stubs`.

from builtins import int as _int
from tideflow.data.checkpoints import CheckpointInputPipelineHook as CheckpointInputPipelineHook
from tideflow.data.checkpoints import make_saveable_from_iterator as make_saveable_from_iterator
from tideflow.data.conversions import from_variant as from_variant
from tideflow.data.conversions import get_structure as get_structure
from tideflow.data.conversions import to_variant as to_variant
from tideflow.data.dataset import DatasetSpec as _DatasetStructure
from tideflow.data.features import make_batched_features_dataset as make_batched_features_dataset
from tideflow.data.features import make_csv_dataset as make_csv_dataset
from tideflow.data.features import parse_example_dataset as parse_example_dataset
from tideflow.data.grouping import Reducer as Reducer
from tideflow.data.grouping import bucket_by_sequence_length as bucket_by_sequence_length
from tideflow.data.grouping import group_by_reducer as group_by_reducer
from tideflow.data.grouping import group_by_window as group_by_window
from tideflow.data.optional import Optional as Optional
from tideflow.data.optional import OptionalSpec as _OptionalStructure
from tideflow.data.optional import get_next_as_optional as get_next_as_optional
from tideflow.data.options import DistributeOptions as DistributeOptions
from tideflow.data.options import MapVectorizationOptions as MapVectorizationOptions
from tideflow.data.options import OptimizationOptions as OptimizationOptions
from tideflow.data.options import StatsOptions as StatsOptions
from tideflow.data.options import ThreadingOptions as ThreadingOptions
from tideflow.data.readers import CsvDataset as CsvDataset
from tideflow.data.readers import SqlDataset as SqlDataset
from tideflow.data.resampling import rejection_resample as rejection_resample
from tideflow.data.stats import StatsAggregator as StatsAggregator
from tideflow.data.stats import bytes_produced_stats as bytes_produced_stats
from tideflow.data.stats import latency_stats as latency_stats
from tideflow.data.structure import sparse_tensor_structure as _SparseTensorStructure
from tideflow.data.structure import tensor_structure as _TensorStructure
from tideflow.data.transformations import Counter as Counter
from tideflow.data.transformations import RandomDataset as RandomDataset
from tideflow.data.transformations import TFRecordWriter as TFRecordWriter
from tideflow.data.transformations import cardinality as cardinality
from tideflow.data.transformations import choose_from_datasets as choose_from_datasets
from tideflow.data.transformations import copy_to_device as copy_to_device
from tideflow.data.transformations import dense_to_sparse_batch as dense_to_sparse_batch
from tideflow.data.transformations import enumerate_dataset as enumerate_dataset
from tideflow.data.transformations import get_single_element as get_single_element
from tideflow.data.transformations import ignore_errors as ignore_errors
from tideflow.data.transformations import map_and_batch as _map_and_batch_with_legacy_function
from tideflow.data.transformations import map_and_batch as map_and_batch
from tideflow.data.transformations import parallel_interleave as parallel_interleave
from tideflow.data.transformations import prefetch_to_device as prefetch_to_device
from tideflow.data.transformations import sample_from_datasets as sample_from_datasets
from tideflow.data.transformations import scan as scan
from tideflow.data.transformations import shuffle_and_repeat as shuffle_and_repeat
from tideflow.data.transformations import take_while as take_while
from tideflow.data.transformations import unbatch as unbatch
from tideflow.data.transformations import unique as unique
from tideflow.graph.type_spec import TypeSpec as _Structure
from tideflow.ops.control_flow.tensor_array_spec import tensor_array_structure as _TensorArrayStructure
from tideflow.ragged.spec import ragged_tensor_structure as _RaggedTensorStructure

AUTOTUNE: _int
DatasetStructure = _DatasetStructure
INFINITE_CARDINALITY: _int
OptionalStructure = _OptionalStructure
RaggedTensorStructure = _RaggedTensorStructure
SparseTensorStructure = _SparseTensorStructure
Structure = _Structure
TensorArrayStructure = _TensorArrayStructure
TensorStructure = _TensorStructure
UNKNOWN_CARDINALITY: _int
map_and_batch_with_legacy_function = _map_and_batch_with_legacy_function
