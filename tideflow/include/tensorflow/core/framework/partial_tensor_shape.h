#include "tideflow/kernels/tensor.h"
