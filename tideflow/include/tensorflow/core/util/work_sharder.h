#include "tideflow/kernels/work_sharder.h"
