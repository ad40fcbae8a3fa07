"""Files and messages: readers, checkpoints, parsing of Examples, decoding, summaries."""
