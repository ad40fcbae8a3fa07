# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.categories import CategoricalProcessor as CategoricalProcessor
from tideflow.contrib.learn.categories import CategoricalVocabulary as CategoricalVocabulary
from tideflow.contrib.learn.feeders import setup_processor_data_feeder as setup_processor_data_feeder
from tideflow.contrib.learn.texts import ByteProcessor as ByteProcessor
from tideflow.contrib.learn.texts import VocabularyProcessor as VocabularyProcessor
from tideflow.contrib.learn.texts import tokenizer as tokenizer
