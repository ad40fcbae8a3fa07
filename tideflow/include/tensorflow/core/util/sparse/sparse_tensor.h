#include "tideflow/kernels/sparse_tensor.h"
