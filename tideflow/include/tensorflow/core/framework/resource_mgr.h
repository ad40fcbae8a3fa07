#include "tideflow/kernels/resource_kernels.h"
