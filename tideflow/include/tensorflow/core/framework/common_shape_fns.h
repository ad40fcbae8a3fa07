#include "tideflow/kernels/shape_inference.h"
#include "tideflow/kernels/windows.h"
