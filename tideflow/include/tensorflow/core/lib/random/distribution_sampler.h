#include "tideflow/kernels/random.h"
