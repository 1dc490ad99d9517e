//! Python functions as tools of the model. Each call runs in its own thread; arguments and results are JSON.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;
use spelunk::{Builder, EffectClass, ToolError};

/// A function and its description, from a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GivenTool {
    name: String,
    /// JSON Schema.
    schema: String,
    effect: String,
    /// Takes the arguments as JSON and returns the result as JSON.
    call: Py<PyAny>,
}

impl GivenTool {
    pub(crate) fn add_to(self, builder: Builder) -> PyResult<Builder> {
        let wrong = |error: String| PyValueError::new_err(format!("the tool `{}`: {error}", self.name));
        let schema: Value = serde_json::from_str(&self.schema).map_err(|error| wrong(error.to_string()))?;
        let effect: EffectClass =
            self.effect.parse().map_err(|_| wrong(format!("there is no effect `{}`", self.effect)))?;
        let function = Arc::new(self.call);
        Ok(builder.tool(self.name, schema, effect, move |arguments| {
            let function = Arc::clone(&function);
            async move {
                let called = tokio::task::spawn_blocking(move || call(&function, &arguments)).await;
                called.unwrap_or_else(|error| Err(ToolError::Unknown(error.to_string())))
            }
        }))
    }
}

fn call(function: &Py<PyAny>, arguments: &Value) -> Result<Value, ToolError> {
    let called = Python::try_attach(|py| {
        let result = function.call1(py, (arguments.to_string(),));
        result.and_then(|result| result.extract::<String>(py)).map_err(|error| {
            let (kind, value) = (error.get_type(py), error.value(py));
            let kind = kind.name().map(|name| name.to_string()).unwrap_or_default();
            ToolError::Failed(format!("{kind}: {value}"))
        })
    });
    let result = called.ok_or_else(|| ToolError::Unknown("the interpreter has ended".to_owned()))??;
    serde_json::from_str(&result).map_err(|error| ToolError::Failed(error.to_string()))
}
