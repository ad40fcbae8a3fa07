#include "tideflow/kernels/status.h"
