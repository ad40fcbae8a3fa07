"""What unit tests written for TensorFlow are made of."""
