#include "tideflow/kernels/windows.h"
