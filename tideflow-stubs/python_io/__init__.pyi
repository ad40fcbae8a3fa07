# Written by `python -m tideflow.programs.stubs`.

from tideflow.io.records import TFRecordCompressionType as TFRecordCompressionType
from tideflow.io.records import TFRecordOptions as TFRecordOptions
from tideflow.io.records import TFRecordWriter as TFRecordWriter
from tideflow.io.records import tf_record_iterator as tf_record_iterator
