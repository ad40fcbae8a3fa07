# Written by `python -m tideflow.programs.stubs`.

from builtins import bool as _bool
from builtins import int as _int
from builtins import str as _str
from tideflow.graph.operation import Tensor as _Tensor
from typing import Any as _Any
from tideflow import as_string as as_string
from tideflow import reduce_join as reduce_join
from tideflow import regex_replace as regex_replace
from tideflow import string_join as join
from tideflow import string_strip as strip
from tideflow import string_to_hash_bucket as to_hash_bucket
from tideflow import string_to_hash_bucket_fast as to_hash_bucket_fast
from tideflow import string_to_hash_bucket_strong as to_hash_bucket_strong
from tideflow import string_to_number as to_number
from tideflow import substr as substr
from tideflow.ops.strings.formatting import string_format as format
from tideflow.ops.strings.joined import unsorted_segment_join as unsorted_segment_join
from tideflow.ragged.strings import bytes_split as bytes_split
from tideflow.ragged.strings import ngrams as ngrams
from tideflow.ragged.strings import strings_split as split
from tideflow.ragged.strings import unicode_decode as unicode_decode
from tideflow.ragged.strings import unicode_decode_with_offsets as unicode_decode_with_offsets
from tideflow.ragged.strings import unicode_encode as unicode_encode
from tideflow.ragged.strings import unicode_split as unicode_split
from tideflow.ragged.strings import unicode_split_with_offsets as unicode_split_with_offsets

def length(input: _Any, name: _str | None = None, unit: _str = 'BYTE') -> _Tensor:
    """The number of bytes, or of UTF-8 characters, of each string."""

def lower(input: _Any, encoding: _str = '', name: _str | None = None) -> _Tensor:
    """Upper case to lower: of ASCII letters only, or of all with encoding "utf-8"."""

def regex_full_match(input: _Any, pattern: _Any, name: _str | None = None) -> _Tensor:
    """Whether the whole of each string matches the pattern."""

def unicode_script(input: _Any, name: _str | None = None) -> _Tensor:
    """The number, by ICU, of the script that each code point belongs to."""

def unicode_transcode(input: _Any, input_encoding: _str, output_encoding: _str, errors: _str = 'replace', replacement_char: _int = 65533, replace_control_characters: _bool = False, name: _str | None = None) -> _Tensor:
    """Text from one encoding in another; what is illegal is replaced, left out, or an error."""

def upper(input: _Any, encoding: _str = '', name: _str | None = None) -> _Tensor:
    """Lower case to upper: of ASCII letters only, or of all with encoding "utf-8"."""
