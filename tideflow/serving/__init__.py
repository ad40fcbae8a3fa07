"""Online prediction: TensorFlow Serving's interface on Clipper's ideas (`docs/serving.md`)."""
