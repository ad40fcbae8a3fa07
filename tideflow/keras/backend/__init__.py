"""The functions of Keras's backend."""
