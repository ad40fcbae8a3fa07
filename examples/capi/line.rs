// Trains a line by gradient descent, then serves a SavedModel, in Rust: the functions of c_api.h are declared by hand.
//
//   make capi
//   python examples/capi/save_model.py out/half_plus_two
//   rustc -O examples/capi/line.rs -L build/capi/lib -C link-arg=-Wl,-rpath,$PWD/build/capi/lib -o out/line
//   out/line out/half_plus_two

use std::ffi::{c_char, c_int, c_uint, c_void, CStr, CString};
use std::ptr::{null, null_mut};

/// Objects that only the library looks into.
#[repr(C)]
struct Opaque([u8; 0]);

#[repr(C)]
#[derive(Clone, Copy)]
struct Output {
    oper: *mut Opaque,
    index: c_int,
}

const NOTHING: *const Opaque = null();
const FLOAT: c_uint = 1;
const INT32: c_uint = 3;

#[allow(non_snake_case)]
#[link(name = "tideflow")]
extern "C" {
    fn TF_NewStatus() -> *mut Opaque;
    fn TF_DeleteStatus(status: *mut Opaque);
    fn TF_GetCode(status: *const Opaque) -> c_uint;
    fn TF_Message(status: *const Opaque) -> *const c_char;
    fn TF_AllocateTensor(kind: c_uint, dims: *const i64, num_dims: c_int, length: usize) -> *mut Opaque;
    fn TF_DeleteTensor(tensor: *mut Opaque);
    fn TF_TensorData(tensor: *const Opaque) -> *mut c_void;
    fn TF_TensorElementCount(tensor: *const Opaque) -> i64;
    fn TF_TensorType(tensor: *const Opaque) -> c_uint;
    fn TF_NewGraph() -> *mut Opaque;
    fn TF_DeleteGraph(graph: *mut Opaque);
    fn TF_NewOperation(graph: *mut Opaque, kind: *const c_char, name: *const c_char) -> *mut Opaque;
    fn TF_AddInput(desc: *mut Opaque, input: Output);
    fn TF_SetAttrType(desc: *mut Opaque, name: *const c_char, value: c_uint);
    fn TF_SetAttrShape(desc: *mut Opaque, name: *const c_char, dims: *const i64, num_dims: c_int);
    fn TF_SetAttrTensor(desc: *mut Opaque, name: *const c_char, value: *mut Opaque, status: *mut Opaque);
    fn TF_FinishOperation(desc: *mut Opaque, status: *mut Opaque) -> *mut Opaque;
    fn TF_GraphOperationByName(graph: *mut Opaque, name: *const c_char) -> *mut Opaque;
    fn TF_AddGradients(
        graph: *mut Opaque, y: *mut Output, ny: c_int, x: *mut Output, nx: c_int, dx: *mut Output,
        status: *mut Opaque, dy: *mut Output,
    );
    fn TF_NewSessionOptions() -> *mut Opaque;
    fn TF_DeleteSessionOptions(options: *mut Opaque);
    fn TF_NewSession(graph: *mut Opaque, options: *const Opaque, status: *mut Opaque) -> *mut Opaque;
    fn TF_LoadSessionFromSavedModel(
        options: *const Opaque, run_options: *const Opaque, export_dir: *const c_char, tags: *const *const c_char,
        tags_len: c_int, graph: *mut Opaque, meta_graph_def: *mut Opaque, status: *mut Opaque,
    ) -> *mut Opaque;
    fn TF_DeleteSession(session: *mut Opaque, status: *mut Opaque);
    fn TF_SessionRun(
        session: *mut Opaque, run_options: *const Opaque, inputs: *const Output, input_values: *const *mut Opaque,
        ninputs: c_int, outputs: *const Output, output_values: *mut *mut Opaque, noutputs: c_int,
        targets: *const *mut Opaque, ntargets: c_int, run_metadata: *mut Opaque, status: *mut Opaque,
    );
}

fn text(string: &str) -> CString {
    CString::new(string).expect("a string without zeros")
}

struct Status(*mut Opaque);

impl Status {
    fn new() -> Status {
        Status(unsafe { TF_NewStatus() })
    }
    fn check(&self) -> Result<(), String> {
        unsafe {
            match TF_GetCode(self.0) {
                0 => Ok(()),
                code => Err(format!("{}: {}", code, CStr::from_ptr(TF_Message(self.0)).to_string_lossy())),
            }
        }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        unsafe { TF_DeleteStatus(self.0) }
    }
}

struct Tensor(*mut Opaque);

impl Tensor {
    fn new<T: Copy>(kind: c_uint, dims: &[i64], values: &[T]) -> Tensor {
        unsafe {
            let made = TF_AllocateTensor(kind, dims.as_ptr(), dims.len() as c_int, std::mem::size_of_val(values));
            std::ptr::copy_nonoverlapping(values.as_ptr(), TF_TensorData(made) as *mut T, values.len());
            Tensor(made)
        }
    }
    fn floats(&self) -> &[f32] {
        unsafe {
            assert_eq!(TF_TensorType(self.0), FLOAT);
            std::slice::from_raw_parts(TF_TensorData(self.0) as *const f32, TF_TensorElementCount(self.0) as usize)
        }
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        unsafe { TF_DeleteTensor(self.0) }
    }
}

enum Attribute<'a> {
    Type,
    Scalar,
    Value(&'a Tensor),
}

struct Graph(*mut Opaque);

impl Graph {
    fn add(&self, kind: &str, name: &str, inputs: &[Output], attribute: Option<Attribute>) -> Result<Output, String> {
        let status = Status::new();
        unsafe {
            let desc = TF_NewOperation(self.0, text(kind).as_ptr(), text(name).as_ptr());
            inputs.iter().for_each(|input| TF_AddInput(desc, *input));
            if let Some(given) = attribute {
                let kind = if let Attribute::Value(tensor) = given { TF_TensorType(tensor.0) } else { FLOAT };
                TF_SetAttrType(desc, text("dtype").as_ptr(), kind);
                match given {
                    Attribute::Type => (),
                    Attribute::Scalar => TF_SetAttrShape(desc, text("shape").as_ptr(), null(), 0),
                    Attribute::Value(tensor) => TF_SetAttrTensor(desc, text("value").as_ptr(), tensor.0, status.0),
                }
            }
            let made = TF_FinishOperation(desc, status.0);
            status.check()?;
            Ok(Output { oper: made, index: 0 })
        }
    }
    fn find(&self, name: &str) -> Output {
        Output { oper: unsafe { TF_GraphOperationByName(self.0, text(name).as_ptr()) }, index: 0 }
    }
    fn gradients(&self, mut y: Output, mut xs: [Output; 2]) -> Result<[Output; 2], String> {
        let status = Status::new();
        let mut made = xs;
        unsafe { TF_AddGradients(self.0, &mut y, 1, xs.as_mut_ptr(), 2, null_mut(), status.0, made.as_mut_ptr()) };
        status.check().map(|_| made)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        unsafe { TF_DeleteGraph(self.0) }
    }
}

struct Session(*mut Opaque);

impl Session {
    fn new(graph: &Graph, saved_model: Option<&str>) -> Result<Session, String> {
        let status = Status::new();
        unsafe {
            let options = TF_NewSessionOptions();
            let session = match saved_model {
                None => TF_NewSession(graph.0, options, status.0),
                Some(path) => {
                    let tag = text("serve");
                    let tags = [tag.as_ptr()];
                    TF_LoadSessionFromSavedModel(
                        options, NOTHING, text(path).as_ptr(), tags.as_ptr(), 1, graph.0, null_mut(), status.0,
                    )
                }
            };
            TF_DeleteSessionOptions(options);
            status.check().map(|_| Session(session))
        }
    }
    fn run(&self, feeds: &[(Output, &Tensor)], fetches: &[Output], targets: &[Output]) -> Result<Vec<Tensor>, String> {
        let status = Status::new();
        let inputs: Vec<Output> = feeds.iter().map(|feed| feed.0).collect();
        let values: Vec<*mut Opaque> = feeds.iter().map(|feed| feed.1 .0).collect();
        let operations: Vec<*mut Opaque> = targets.iter().map(|target| target.oper).collect();
        let mut results = vec![null_mut(); fetches.len()];
        unsafe {
            TF_SessionRun(
                self.0, NOTHING, inputs.as_ptr(), values.as_ptr(), inputs.len() as c_int, fetches.as_ptr(),
                results.as_mut_ptr(), fetches.len() as c_int, operations.as_ptr(), operations.len() as c_int,
                null_mut(), status.0,
            )
        };
        status.check().map(|_| results.into_iter().map(Tensor).collect())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let status = Status::new();
        unsafe { TF_DeleteSession(self.0, status.0) }
    }
}

fn train() -> Result<(), String> {
    let graph = Graph(unsafe { TF_NewGraph() });
    let x = graph.add("Placeholder", "x", &[], Some(Attribute::Type))?;
    let y = graph.add("Placeholder", "y", &[], Some(Attribute::Type))?;
    let slope = graph.add("VariableV2", "slope", &[], Some(Attribute::Scalar))?;
    let offset = graph.add("VariableV2", "offset", &[], Some(Attribute::Scalar))?;
    let value = |name, tensor: Tensor| graph.add("Const", name, &[], Some(Attribute::Value(&tensor)));
    let axes = value("axes", Tensor::new(INT32, &[1], &[0i32]))?;
    let zero = value("zero", Tensor::new(FLOAT, &[], &[0f32]))?;
    let rate = value("rate", Tensor::new(FLOAT, &[], &[0.1f32]))?;
    let scaled = graph.add("Mul", "scaled", &[slope, x], None)?;
    let line = graph.add("Add", "line", &[scaled, offset], None)?;
    let error = graph.add("SquaredDifference", "error", &[line, y], None)?;
    let loss = graph.add("Mean", "loss", &[error, axes], None)?;
    let gradients = graph.gradients(loss, [slope, offset])?;
    let begin = [
        graph.add("Assign", "begin_slope", &[slope, zero], None)?,
        graph.add("Assign", "begin_offset", &[offset, zero], None)?,
    ];
    let descend = [
        graph.add("ApplyGradientDescent", "d_slope", &[slope, rate, gradients[0]], None)?,
        graph.add("ApplyGradientDescent", "d_offset", &[offset, rate, gradients[1]], None)?,
    ];

    let xs: Vec<f32> = (0..16).map(|i| i as f32 / 8.0 - 1.0).collect();
    let ys: Vec<f32> = xs.iter().map(|x| 3.0 * x + 2.0).collect();
    let (fed_x, fed_y) = (Tensor::new(FLOAT, &[16], &xs), Tensor::new(FLOAT, &[16], &ys));
    let session = Session::new(&graph, None)?;
    session.run(&[], &[], &begin)?;
    for _ in 0..200 {
        session.run(&[(x, &fed_x), (y, &fed_y)], &[], &descend)?;
    }
    let found = session.run(&[], &[slope, offset], &[])?;
    println!("line: y = {:.2} x + {:.2}", found[0].floats()[0], found[1].floats()[0]);
    Ok(())
}

fn serve(model: &str) -> Result<(), String> {
    let graph = Graph(unsafe { TF_NewGraph() });
    let session = Session::new(&graph, Some(model))?;
    let fed = Tensor::new(FLOAT, &[3], &[1f32, 2.0, 3.0]);
    let found = session.run(&[(graph.find("x"), &fed)], &[graph.find("y")], &[])?;
    let values = found[0].floats();
    println!("model: {} {} {}", values[0], values[1], values[2]);
    Ok(())
}

fn main() -> Result<(), String> {
    train()?;
    std::env::args().nth(1).map_or(Ok(()), |model| serve(&model))
}
