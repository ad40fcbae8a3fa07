# Written by `python -m tideflow.programs.stubs`.

from typing import Any as _Any
from tideflow.contrib.lookup import index_table_from_tensor as index_table_from_tensor
from tideflow.contrib.lookup import index_to_string as index_to_string
from tideflow.contrib.lookup import index_to_string_table_from_tensor as index_to_string_table_from_tensor
from tideflow.contrib.lookup import string_to_index as string_to_index
from tideflow.contrib.lookup import string_to_index_table_from_file as string_to_index_table_from_file
from tideflow.contrib.lookup import string_to_index_table_from_tensor as string_to_index_table_from_tensor
from tideflow.lookup.initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from tideflow.lookup.initializers import TableInitializerBase as TableInitializerBase
from tideflow.lookup.initializers import TextFileIdTableInitializer as TextFileIdTableInitializer
from tideflow.lookup.initializers import TextFileIndex as TextFileIndex
from tideflow.lookup.initializers import TextFileInitializer as TextFileInitializer
from tideflow.lookup.initializers import TextFileStringTableInitializer as TextFileStringTableInitializer
from tideflow.lookup.mutable import DenseHashTable as _MutableDenseHashTable
from tideflow.lookup.mutable import MutableHashTable as MutableHashTable
from tideflow.lookup.static import HashTable as HashTable
from tideflow.lookup.static import InitializableLookupTableBase as InitializableLookupTableBase
from tideflow.lookup.static import LookupInterface as LookupInterface
from tideflow.lookup.vocabulary import HasherSpec as HasherSpec
from tideflow.lookup.vocabulary import IdTableWithHashBuckets as IdTableWithHashBuckets
from tideflow.lookup.vocabulary import StrongHashSpec as StrongHashSpec
from tideflow.lookup.vocabulary import index_table_from_file as index_table_from_file
from tideflow.lookup.vocabulary import index_to_string_table_from_file as index_to_string_table_from_file

FastHashSpec: _Any
MutableDenseHashTable = _MutableDenseHashTable
