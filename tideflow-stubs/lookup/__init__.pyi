# Written by `python -m tideflow.programs.stubs`.

from tideflow.lookup import experimental as experimental
from tideflow.lookup.initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from tideflow.lookup.initializers import TextFileIndex as TextFileIndex
from tideflow.lookup.initializers import TextFileInitializer as TextFileInitializer
from tideflow.lookup.static import StaticHashTable as StaticHashTable
from tideflow.lookup.vocabulary import StaticVocabularyTable as StaticVocabularyTable
