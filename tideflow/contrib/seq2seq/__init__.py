"""`tf.contrib.seq2seq`: sequences to sequences, with attention, decoders and beam search."""

from tideflow.contrib.seq2seq import (  # noqa: F401
    attention_wrapper,
    basic_decoder,
    beam_search,
    beams,
    decoder,
    helpers,
    losses,
    mechanisms,
    monotonic,
    scheduled_helpers,
)
