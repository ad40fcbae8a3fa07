# Written by `python -m tideflow.programs.stubs`.

from tideflow.data import experimental as experimental
from tideflow.data.conversions import get_output_classes as get_output_classes
from tideflow.data.conversions import get_output_shapes as get_output_shapes
from tideflow.data.conversions import get_output_types as get_output_types
from tideflow.data.conversions import make_initializable_iterator as make_initializable_iterator
from tideflow.data.conversions import make_one_shot_iterator as make_one_shot_iterator
from tideflow.data.dataset import Dataset as Dataset
from tideflow.data.dataset import DatasetSpec as DatasetSpec
from tideflow.data.iterator import Iterator as Iterator
from tideflow.data.options import Options as Options
from tideflow.data.readers import FixedLengthRecordDataset as FixedLengthRecordDataset
from tideflow.data.readers import TFRecordDataset as TFRecordDataset
from tideflow.data.readers import TextLineDataset as TextLineDataset
