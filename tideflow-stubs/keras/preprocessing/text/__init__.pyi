# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.preprocessing.text import Tokenizer as Tokenizer
from tideflow.keras.preprocessing.text import hashing_trick as hashing_trick
from tideflow.keras.preprocessing.text import one_hot as one_hot
from tideflow.keras.preprocessing.text import text_to_word_sequence as text_to_word_sequence
from tideflow.keras.preprocessing.text import tokenizer_from_json as tokenizer_from_json
