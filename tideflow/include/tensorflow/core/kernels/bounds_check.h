#include "tideflow/kernels/bounds_check.h"
