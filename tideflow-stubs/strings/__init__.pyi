# Written by `python -m tideflow.programs.stubs`.

from tideflow.ops.strings.formatting import string_format as _format
from tideflow.ops.strings.hashing import string_to_hash_bucket as _to_hash_bucket
from tideflow.ops.strings.hashing import string_to_hash_bucket_fast as _to_hash_bucket_fast
from tideflow.ops.strings.hashing import string_to_hash_bucket_strong as _to_hash_bucket_strong
from tideflow.ops.strings.joined import reduce_join as reduce_join
from tideflow.ops.strings.joined import string_join as _join
from tideflow.ops.strings.joined import unsorted_segment_join as unsorted_segment_join
from tideflow.ops.strings.numbers import as_string as as_string
from tideflow.ops.strings.numbers import string_to_number as _to_number
from tideflow.ops.strings.regex import regex_full_match as regex_full_match
from tideflow.ops.strings.regex import regex_replace as regex_replace
from tideflow.ops.strings.strings import string_length as _length
from tideflow.ops.strings.strings import string_lower as _lower
from tideflow.ops.strings.strings import string_strip as _strip
from tideflow.ops.strings.strings import string_upper as _upper
from tideflow.ops.strings.strings import substr as substr
from tideflow.ops.strings.unicode import unicode_script as unicode_script
from tideflow.ops.strings.unicode import unicode_transcode as unicode_transcode
from tideflow.ragged.strings import bytes_split as bytes_split
from tideflow.ragged.strings import ngrams as ngrams
from tideflow.ragged.strings import strings_split as _split
from tideflow.ragged.strings import unicode_decode as unicode_decode
from tideflow.ragged.strings import unicode_decode_with_offsets as unicode_decode_with_offsets
from tideflow.ragged.strings import unicode_encode as unicode_encode
from tideflow.ragged.strings import unicode_split as unicode_split
from tideflow.ragged.strings import unicode_split_with_offsets as unicode_split_with_offsets

format = _format
join = _join
length = _length
lower = _lower
split = _split
strip = _strip
to_hash_bucket = _to_hash_bucket
to_hash_bucket_fast = _to_hash_bucket_fast
to_hash_bucket_strong = _to_hash_bucket_strong
to_number = _to_number
upper = _upper
