//! Code cells without a run, for Python: a Python function answers a cell's calls to the host.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};
use spelunk::session::{
    CellEnd, HostCall, HostFunction, HostReply, Interpreter, InterpreterError, Sessions, Step, Value,
    last_value_to,
};

use crate::waiting::wait;

/// The host functions of every cell.
const FUNCTIONS: [&str; 4] = ["_spelunk_bind", "_spelunk_call", SHOW, "_spelunk_submit"];
/// Receives the value of a cell's last expression.
const SHOW: &str = "_spelunk_show";
/// How deeply a value passed to a cell may be nested.
const DEPTH_MAX: usize = 32;

/// A session: its variables are in a worker process, which ends with it.
#[pyclass(frozen)]
pub(crate) struct Session(Arc<Mutex<Box<dyn Interpreter>>>);

/// How a cell ended: its output, whether the host ended it, and its exception (class, message,
/// traceback, whether the session is lost).
type Ended = (String, bool, Option<(String, String, String, bool)>);

impl Session {
    pub(crate) fn open(py: Python<'_>, sessions: &Sessions) -> PyResult<Self> {
        let function = |name: &str| HostFunction {
            name: name.to_owned(),
            doc: format!("{name}(*args, **kwargs)"),
            is_awaitable: false,
        };
        let opened = py.detach(|| sessions.open(FUNCTIONS.map(function).to_vec()));
        Ok(Self(Arc::new(Mutex::new(opened.map_err(|error| broken(&error))?))))
    }

    /// Uses the session without the interpreter lock. If the wait is interrupted, the limits of the cell end the work.
    fn with(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Interpreter) -> Result<Step, InterpreterError> + Send + 'static,
    ) -> PyResult<Step> {
        let session = Arc::clone(&self.0);
        let work = move || work(session.lock().unwrap_or_else(PoisonError::into_inner).as_mut());
        let done = wait(py, async { tokio::task::spawn_blocking(work).await })?;
        done.map_err(|error| PyRuntimeError::new_err(error.to_string()))?.map_err(|error| broken(&error))
    }
}

#[pymethods]
impl Session {
    /// Runs a cell. `answer` takes a list of its calls, `(name, args, kwargs)`, and returns as many replies: `("return",
    /// value)`, `("finish", None)`, or the name of an exception and its message. `coerce` converts any other value to a plain one.
    fn run(
        &self,
        py: Python<'_>,
        code: &str,
        answer: &Bound<'_, PyAny>,
        coerce: &Bound<'_, PyAny>,
    ) -> PyResult<Ended> {
        let code = last_value_to(SHOW, code);
        let mut step = self.with(py, move |session| session.feed(&code))?;
        loop {
            let calls = match step {
                Step::Calls(calls) => calls,
                Step::Finished(CellEnd::Done { output }) => return Ok((output.render(), false, None)),
                Step::Finished(CellEnd::Finished { output }) => return Ok((output.render(), true, None)),
                Step::Finished(CellEnd::Raised { output, raised }) => {
                    let raised = (raised.kind, raised.message, raised.traceback, raised.is_poisoned);
                    return Ok((output.render(), false, Some(raised)));
                }
            };
            let calls = calls.iter().map(|call| told(py, call)).collect::<PyResult<Vec<_>>>()?;
            let replies: Vec<(String, Bound<'_, PyAny>)> = answer.call1((calls,))?.extract()?;
            let replies: PyResult<Vec<HostReply>> =
                replies.into_iter().map(|(kind, value)| reply(kind, &value, coerce)).collect();
            let replies = replies?;
            step = self.with(py, move |session| session.resume(replies))?;
        }
    }
}

fn broken(error: &InterpreterError) -> PyErr {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    PyRuntimeError::new_err(format!("{error}{}", cause.unwrap_or_default()))
}

/// A call as its name, its arguments and its keyword arguments.
fn told<'py>(py: Python<'py>, call: &HostCall) -> PyResult<(String, Bound<'py, PyAny>, Bound<'py, PyDict>)> {
    let kwargs = PyDict::new(py);
    for (name, value) in &call.kwargs {
        kwargs.set_item(name, shown(py, value)?)?;
    }
    Ok((call.name.clone(), all_shown(py, &call.args)?, kwargs))
}

fn reply(kind: String, value: &Bound<'_, PyAny>, coerce: &Bound<'_, PyAny>) -> PyResult<HostReply> {
    Ok(match kind.as_str() {
        // Not an error here: the cell is waiting for a reply.
        "return" => given(value, coerce, 0).map_or_else(
            |error| HostReply::Raise { kind: "RuntimeError".to_owned(), message: error.to_string() },
            HostReply::Return,
        ),
        "finish" => HostReply::Finish,
        _ => HostReply::Raise { kind, message: value.extract()? },
    })
}

/// A value from a cell. Every sequence becomes a list, as in JSON.
fn shown<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::None | Value::Slice(..) => Ok(py.None().into_bound(py)),
        Value::Bool(bit) => Ok(PyBool::new(py, *bit).to_owned().into_any()),
        Value::Int(number) => Ok(number.into_pyobject(py)?.into_any()),
        Value::BigInt(digits) => py.get_type::<PyInt>().call1((digits,)),
        Value::Float(number) => Ok(PyFloat::new(py, *number).into_any()),
        Value::Str(text) => Ok(PyString::new(py, text).into_any()),
        Value::Bytes(bytes) => Ok(PyBytes::new(py, bytes).into_any()),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) => all_shown(py, items),
        Value::Dict(pairs) => {
            let dict = PyDict::new(py);
            for (key, value) in pairs {
                // A key that was a tuple in the cell must not become a list.
                let key = if let Value::Tuple(items) = key {
                    all_shown(py, items)?.cast::<PyList>()?.to_tuple().into_any()
                } else {
                    shown(py, key)?
                };
                dict.set_item(key, shown(py, value)?)?;
            }
            Ok(dict.into_any())
        }
        Value::Handle(handle) => Ok(PyString::new(py, &handle.class).into_any()),
        Value::Opaque { repr, .. } => Ok(PyString::new(py, repr).into_any()),
    }
}

fn all_shown<'py>(py: Python<'py>, items: &[Value]) -> PyResult<Bound<'py, PyAny>> {
    let items = items.iter().map(|item| shown(py, item)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, items)?.into_any())
}

/// A value for a cell. Named tuples and all types without an equivalent are coerced first.
fn given(value: &Bound<'_, PyAny>, coerce: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > DEPTH_MAX {
        return Err(PyValueError::new_err(format!("a value is nested deeper than {DEPTH_MAX}")));
    }
    let below = |item: Bound<'_, PyAny>| given(&item, coerce, depth + 1);
    let all = |items: Bound<'_, PyAny>| -> PyResult<Value> {
        let items: PyResult<Vec<Value>> = items.try_iter()?.map(|item| below(item?)).collect();
        Ok(Value::List(items?))
    };
    if value.is_none() {
        Ok(Value::None)
    } else if let Ok(bit) = value.cast::<PyBool>() {
        Ok(Value::Bool(bit.is_true()))
    } else if value.is_instance_of::<PyInt>() {
        Ok(match value.extract::<i64>() {
            Ok(number) => Value::Int(number),
            Err(_) => {
                Value::BigInt(value.py().get_type::<PyInt>().call_method1("__str__", (value,))?.extract()?)
            }
        })
    } else if let Ok(number) = value.cast::<PyFloat>() {
        Ok(Value::Float(number.value()))
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(Value::Str(text.extract()?))
    } else if let Ok(bytes) = value.cast::<PyBytes>() {
        Ok(Value::Bytes(bytes.as_bytes().to_vec()))
    } else if let Ok(pairs) = value.cast::<PyDict>() {
        let pairs: PyResult<Vec<_>> = pairs
            .items()
            .iter()
            .map(|pair| pair.extract())
            .map(|pair: PyResult<(_, _)>| {
                let (key, value) = pair?;
                Ok((below(key)?, below(value)?))
            })
            .collect();
        Ok(Value::Dict(pairs?))
    } else if value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>() && !value.hasattr("_fields")?
    {
        all(value.clone())
    } else if value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
        // Sorted if possible, so that the order is the same in every process.
        let sorted = value.py().import("builtins")?.getattr("sorted")?.call1((value,));
        all(sorted.unwrap_or_else(|_| value.clone()))
    } else {
        below(coerce.call1((value,))?)
    }
}
