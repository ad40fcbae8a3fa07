"""ONNX's operators, each as a few operations of a graph; a module a family."""
