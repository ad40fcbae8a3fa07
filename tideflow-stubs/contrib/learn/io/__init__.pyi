# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.frames import extract_dask_data as extract_dask_data
from tideflow.contrib.learn.frames import extract_dask_labels as extract_dask_labels
from tideflow.contrib.learn.frames import extract_pandas_data as extract_pandas_data
from tideflow.contrib.learn.frames import extract_pandas_labels as extract_pandas_labels
from tideflow.contrib.learn.frames import extract_pandas_matrix as extract_pandas_matrix
from tideflow.contrib.learn.frames import numpy_input_fn as numpy_input_fn
from tideflow.contrib.learn.frames import pandas_input_fn as pandas_input_fn
from tideflow.contrib.learn.readers import generator_input_fn as generator_input_fn
from tideflow.contrib.learn.readers import queue_parsed_features as queue_parsed_features
from tideflow.contrib.learn.readers import read_batch_examples as read_batch_examples
from tideflow.contrib.learn.readers import read_batch_features as read_batch_features
from tideflow.contrib.learn.readers import read_batch_record_features as read_batch_record_features
from tideflow.contrib.learn.readers import read_keyed_batch_examples as read_keyed_batch_examples
from tideflow.contrib.learn.readers import read_keyed_batch_examples_shared_queue as read_keyed_batch_examples_shared_queue
from tideflow.contrib.learn.readers import read_keyed_batch_features as read_keyed_batch_features
from tideflow.contrib.learn.readers import read_keyed_batch_features_shared_queue as read_keyed_batch_features_shared_queue
