#include "tideflow/kernels/machine.h"
