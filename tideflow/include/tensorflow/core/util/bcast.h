#include "tideflow/kernels/tensor_util.h"
