// Sessions as C holds them.

#ifndef TIDEFLOW_CAPI_SESSION_H_
#define TIDEFLOW_CAPI_SESSION_H_

#include "graph.h"

namespace tideflow {

// What a step feeds, fetches and runs, resolved once.
struct Step {
  Object fetches;    // a list of tensors and operations, or the one tensor
  bool is_single;    // whether it is the one tensor
  bool has_run = false;  // without an error: the session has a plan
  std::vector<Object> feeds;
  std::vector<TF_DataType> feed_types, fetch_types;
};

// Devices, of which the package tells name, type, memory and incarnation; null, after an error, for null.
TF_DeviceList* device_list(const Object& found);

}  // namespace tideflow

struct TF_Session {
  tideflow::Object session, run;
  TF_Graph* graph;
  bool closed = false;
  std::unordered_map<std::string, std::shared_ptr<tideflow::Step>> steps;  // a running one stays when they are cleared
};

#endif  // TIDEFLOW_CAPI_SESSION_H_
