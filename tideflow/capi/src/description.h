// An operation that is being described: its type, inputs and attributes.

#ifndef TIDEFLOW_CAPI_DESCRIPTION_H_
#define TIDEFLOW_CAPI_DESCRIPTION_H_

#include <map>

#include "graph.h"

struct TF_OperationDescription {
  struct Input {
    bool is_list;
    std::vector<TF_Output> outputs;
  };
  TF_Graph* graph;
  std::string type, name, device;
  std::vector<Input> inputs;
  std::vector<const TF_Operation*> controls;
  std::vector<std::string> colocations;
  std::map<std::string, std::string> attrs;  // AttrValues
};

#endif  // TIDEFLOW_CAPI_DESCRIPTION_H_
