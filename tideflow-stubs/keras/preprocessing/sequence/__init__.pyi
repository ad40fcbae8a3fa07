# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.preprocessing.sequence import TimeseriesGenerator as TimeseriesGenerator
from tideflow.keras.preprocessing.sequence import make_sampling_table as make_sampling_table
from tideflow.keras.preprocessing.sequence import pad_sequences as pad_sequences
from tideflow.keras.preprocessing.sequence import skipgrams as skipgrams
