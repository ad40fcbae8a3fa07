#include "tideflow/kernels/threads.h"
