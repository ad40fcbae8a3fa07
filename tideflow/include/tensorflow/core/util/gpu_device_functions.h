#include "tideflow/kernels/gpu.h"
