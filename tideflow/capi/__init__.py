"""The C API: `libtideflow.so`, which has the names of TensorFlow's `c_api.h` (docs/c_api.md).

`include/` has the header, `src/` the library; `build.py` compiles it. The library is thin: it holds objects
of the C side and converts what is passed; what a call does is a function of one of the modules here, which it
finds by name. Tensors, operations, graphs and sessions pass as they are, messages as bytes.
"""
