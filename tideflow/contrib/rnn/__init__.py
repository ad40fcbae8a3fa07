"""`tf.contrib.rnn`: more recurrent cells, wrappers and networks beside those of tf.nn."""

from tideflow.contrib.rnn import (  # noqa: F401
    bidirectional,
    blocks,
    cells,
    fused,
    grids,
    independent,
    timed,
    wrappers,
)
