"""Which programs are compared by the words of their errors too, and which of them differ, and why."""

# Files of programs whose every error says TensorFlow's fixed phrase.
PHRASED = {
    "messages",
    "bijectors",
    "candidates",
    "contrib_crf",
    "contrib_distributions",
    "contrib_learn",
    "critical_sections",
    "dataset_functions",
    "embeddings",
    "files_models",
    "files_objects",
    "files_profiles",
    "files_savers",
    "known_values",
    "leftovers",
    "metrics",
    "naming",
    "optimizers",
    "profiling",
    "quantization",
    "random_streams",
    "randomness",
    "replica_optimizers",
    "rnn",
    "saved_models",
    "scopes",
    "unicode_strings",
}

OTHER_WORDS = {
    "messages/sessions[uninitialized resource]": "which container is missing depends on what ran before",
    "messages/sessions[no device]": "TensorFlow speaks of how it was built: without CUDA",
    "messages/graphs[name]": "every name opens a scope here, that of a constant too",
    "messages/inputs[json example]": "the text itself, with a mark below the place",
    "messages/libraries[map_fn of different lengths]": "TensorFlow compares the sizes, we the shapes",
    "messages/libraries[assert_rank_in]": "TensorFlow shows the ranks as arrays of NumPy",
}
