#include "tideflow/kernels/types.h"
