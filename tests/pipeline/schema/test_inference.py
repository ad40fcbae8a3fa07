"""The law of inference: data fit the schema that is made from them, or brought up to date with them."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tideflow.pipeline import schema as schemas
from tideflow.pipeline.data.sources import Blocks
from tideflow.pipeline.statistics import generate_statistics
from tideflow.pipeline.validation import fixes, validate_statistics

_WORDS = st.sampled_from(["", "a", "b", "true", "false", "0", "1", "-7", "2.5", "nan", "it's", "é", "x\ny"])
_VALUES = {
    pa.int64(): st.integers(-(2**40), 2**40) | st.sampled_from([0, 1]),
    pa.float32(): st.floats(width=32),
    pa.binary(): _WORDS.map(str.encode) | st.binary(max_size=4),
}


@st.composite
def _blocks(draw):
    """Blocks of a few columns, each of one type, with gaps and lists of any length."""
    rows = draw(st.integers(1, 8))
    columns = {}
    for name in draw(st.lists(st.sampled_from(["a", "b.c", "d'"]), min_size=1, unique=True)):
        kind = draw(st.sampled_from(list(_VALUES)))
        lists = st.none() | st.lists(_VALUES[kind], max_size=draw(st.integers(0, 3)))
        columns[name] = pa.array(draw(st.lists(lists, min_size=rows, max_size=rows)), pa.list_(kind))
    return pa.RecordBatch.from_pydict(columns)


def _statistics(block):
    return generate_statistics([Blocks([block])], workers=1)


@settings(max_examples=40)
@given(_blocks(), _blocks())
def test_data_fit_the_schema_that_is_made_from_them(first, second):
    first, second = _statistics(first), _statistics(second)
    schema = schemas.infer_schema(first)
    assert not fixes(validate_statistics(first, schema))
    assert not fixes(validate_statistics(second, schemas.update_schema(schema, second)))
