// Trains a line by gradient descent, then serves a SavedModel from several goroutines, in Go.
//
//	make capi
//	python examples/capi/save_model.py out/half_plus_two
//	export PKG_CONFIG_PATH=$PWD/build/capi/lib/pkgconfig
//	go build -o out/line examples/capi/line.go
//	out/line out/half_plus_two
package main

// #cgo pkg-config: tideflow
// #include <stdlib.h>
// #include <tideflow/c_api.h>
import "C"

import (
	"fmt"
	"log"
	"os"
	"sync"
	"unsafe"
)

const (
	points = 16
	steps  = 200
)

// check ends the program unless a call went well.
func check(status *C.TF_Status) {
	if C.TF_GetCode(status) != C.TF_OK {
		log.Fatalf("error %d: %s", C.TF_GetCode(status), C.GoString(C.TF_Message(status)))
	}
}

// cString is a text for C, which is left to the end of the program.
func cString(text string) *C.char { return C.CString(text) }

// tensor copies values into a tensor of the library.
func tensor[T float32 | int32](kind C.TF_DataType, values []T, dims ...C.int64_t) *C.TF_Tensor {
	var sizes *C.int64_t
	if len(dims) > 0 {
		sizes = &dims[0]
	}
	bytes := C.size_t(len(values)) * C.size_t(unsafe.Sizeof(values[0]))
	made := C.TF_AllocateTensor(kind, sizes, C.int(len(dims)), bytes)
	copy(unsafe.Slice((*T)(C.TF_TensorData(made)), len(values)), values)
	return made
}

// floats are the elements of a tensor.
func floats(from *C.TF_Tensor) []float32 {
	return unsafe.Slice((*float32)(C.TF_TensorData(from)), C.TF_TensorElementCount(from))
}

// graph builds operations.
type graph struct {
	self   *C.TF_Graph
	status *C.TF_Status
}

func (g graph) add(kind, name string, inputs ...C.TF_Output) C.TF_Output {
	desc := C.TF_NewOperation(g.self, cString(kind), cString(name))
	for _, input := range inputs {
		C.TF_AddInput(desc, input)
	}
	if kind == "Placeholder" || kind == "VariableV2" {
		C.TF_SetAttrType(desc, cString("dtype"), C.TF_FLOAT)
	}
	if kind == "VariableV2" {
		C.TF_SetAttrShape(desc, cString("shape"), nil, 0)
	}
	return g.finish(desc)
}

func (g graph) constant(name string, value *C.TF_Tensor) C.TF_Output {
	desc := C.TF_NewOperation(g.self, cString("Const"), cString(name))
	C.TF_SetAttrType(desc, cString("dtype"), C.TF_TensorType(value))
	C.TF_SetAttrTensor(desc, cString("value"), value, g.status)
	check(g.status)
	C.TF_DeleteTensor(value)
	return g.finish(desc)
}

func (g graph) finish(desc *C.TF_OperationDescription) C.TF_Output {
	made := C.TF_FinishOperation(desc, g.status)
	check(g.status)
	return C.TF_Output{oper: made, index: 0}
}

// run runs a step: it feeds, fetches, and runs operations. Any goroutine may call it.
func run(session *C.TF_Session, feeds []C.TF_Output, fed []*C.TF_Tensor, fetches []C.TF_Output, targets ...C.TF_Output) []*C.TF_Tensor {
	status := C.TF_NewStatus()
	defer C.TF_DeleteStatus(status)
	found := make([]*C.TF_Tensor, len(fetches)+1) // one more, so that there is a first one
	operations := make([]*C.TF_Operation, len(targets)+1)
	for i, target := range targets {
		operations[i] = target.oper
	}
	feeds, fed, fetches = append(feeds, C.TF_Output{}), append(fed, nil), append(fetches, C.TF_Output{})
	C.TF_SessionRun(session, nil, &feeds[0], &fed[0], C.int(len(feeds)-1), &fetches[0], &found[0],
		C.int(len(fetches)-1), &operations[0], C.int(len(targets)), nil, status)
	check(status)
	return found[:len(fetches)-1]
}

func train() {
	status := C.TF_NewStatus()
	defer C.TF_DeleteStatus(status)
	g := graph{C.TF_NewGraph(), status}
	defer C.TF_DeleteGraph(g.self)
	x, y := g.add("Placeholder", "x"), g.add("Placeholder", "y")
	slope, offset := g.add("VariableV2", "slope"), g.add("VariableV2", "offset")
	start := g.constant("start", tensor(C.TF_FLOAT, []float32{0}))
	rate := g.constant("rate", tensor(C.TF_FLOAT, []float32{0.1}))
	axes := g.constant("axes", tensor(C.TF_INT32, []int32{0}, 1))
	line := g.add("Add", "line", g.add("Mul", "scaled", slope, x), offset)
	loss := g.add("Mean", "loss", g.add("SquaredDifference", "error", line, y), axes)
	variables, gradients := []C.TF_Output{slope, offset}, make([]C.TF_Output, 2)
	C.TF_AddGradients(g.self, &loss, 1, &variables[0], 2, nil, status, &gradients[0])
	check(status)
	begin := []C.TF_Output{g.add("Assign", "begin_slope", slope, start), g.add("Assign", "begin_offset", offset, start)}
	descend := []C.TF_Output{
		g.add("ApplyGradientDescent", "d_slope", slope, rate, gradients[0]),
		g.add("ApplyGradientDescent", "d_offset", offset, rate, gradients[1]),
	}

	options := C.TF_NewSessionOptions()
	defer C.TF_DeleteSessionOptions(options)
	session := C.TF_NewSession(g.self, options, status)
	check(status)
	defer C.TF_DeleteSession(session, status)
	run(session, nil, nil, nil, begin...)
	xs, ys := make([]float32, points), make([]float32, points)
	for i := range xs {
		xs[i] = float32(i)/points*2 - 1
		ys[i] = 3*xs[i] + 2
	}
	fed := []*C.TF_Tensor{tensor(C.TF_FLOAT, xs, points), tensor(C.TF_FLOAT, ys, points)}
	for step := 0; step < steps; step++ {
		run(session, []C.TF_Output{x, y}, fed, nil, descend...)
	}
	found := run(session, nil, nil, variables)
	fmt.Printf("line: y = %.2f x + %.2f\n", floats(found[0])[0], floats(found[1])[0])
	for _, each := range append(fed, found...) {
		C.TF_DeleteTensor(each)
	}
}

func serve(model string) {
	status := C.TF_NewStatus()
	defer C.TF_DeleteStatus(status)
	graph := C.TF_NewGraph()
	defer C.TF_DeleteGraph(graph)
	options := C.TF_NewSessionOptions()
	defer C.TF_DeleteSessionOptions(options)
	tag := cString("serve")
	session := C.TF_LoadSessionFromSavedModel(options, nil, cString(model), &tag, 1, graph, nil, status)
	check(status)
	defer C.TF_DeleteSession(session, status)
	x := C.TF_Output{oper: C.TF_GraphOperationByName(graph, cString("x"))}
	y := C.TF_Output{oper: C.TF_GraphOperationByName(graph, cString("y"))}

	answers := make([]float32, 3)
	var asked sync.WaitGroup
	for i := range answers {
		asked.Add(1)
		go func(i int) {
			defer asked.Done()
			fed := tensor(C.TF_FLOAT, []float32{float32(i + 1)}, 1)
			found := run(session, []C.TF_Output{x}, []*C.TF_Tensor{fed}, []C.TF_Output{y})
			answers[i] = floats(found[0])[0]
			C.TF_DeleteTensor(fed)
			C.TF_DeleteTensor(found[0])
		}(i)
	}
	asked.Wait()
	fmt.Println("model:", answers[0], answers[1], answers[2])
}

func main() {
	train()
	if len(os.Args) > 1 {
		serve(os.Args[1])
	}
}
