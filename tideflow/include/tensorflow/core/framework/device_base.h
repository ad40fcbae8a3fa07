#include "tideflow/kernels/op_kernel.h"
