#include "tideflow/kernels/numbers.h"
