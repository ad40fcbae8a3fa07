# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.datasets.texts import _reuters as _load_data
from tideflow.keras.datasets.texts import _reuters_words as _get_word_index

get_word_index = _get_word_index
load_data = _load_data
