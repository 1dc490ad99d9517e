//! Named models: models that code of a session may call by name, as in `llm_query(prompt, model="fast")`. A model is
//! opened on first use, so a run that never uses it needs neither its key nor its URL.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use spelunk_model::Model;
use spelunk_types::{Explain, ModelRef};

use crate::EngineError;
use crate::sync::lock;

type OpenedModel = Result<Arc<dyn Model>, String>;
type Open = dyn Fn(&str) -> OpenedModel + Send + Sync;

/// Models by name. Clones are handles to the same models.
#[derive(Clone)]
pub struct NamedModels {
    names: Arc<[String]>,
    open: Arc<Open>,
    opened: Arc<Mutex<HashMap<String, OpenedModel>>>,
}

impl NamedModels {
    /// Models with these names, each opened by `open` at its first use; its error explains why it cannot be opened.
    pub fn new(
        names: Vec<String>,
        open: impl Fn(&str) -> Result<Arc<dyn Model>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { names: names.into(), open: Arc::new(open), opened: Arc::default() }
    }

    /// Models that are already open.
    pub fn of(models: BTreeMap<String, Arc<dyn Model>>) -> Self {
        let names = models.keys().cloned().collect();
        Self::new(names, move |name| {
            models.get(name).cloned().ok_or_else(|| "it is not one of the named models".to_owned())
        })
    }

    /// The same models, except that those without a known price are rejected.
    #[must_use]
    pub(crate) fn with_prices(self) -> Self {
        let open = Arc::clone(&self.open);
        let priced = move |name: &str| {
            let model = open(name)?;
            match unpriced(&model) {
                None => Ok(model),
                Some(link) => {
                    let error = EngineError::PriceUnknown { model: link.clone() };
                    Err(format!("{error}: {}", error.hint().unwrap_or_default()))
                }
            }
        };
        Self { open: Arc::new(priced), opened: Arc::default(), ..self }
    }

    /// The names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Looks up a model; the error lists the known names or explains why this one is unavailable.
    pub(crate) fn model(&self, name: &str) -> Result<Arc<dyn Model>, ModelLookupError> {
        if !self.names.iter().any(|known| known == name) {
            return Err(ModelLookupError::Unknown { known: self.names.join(", ") });
        }
        let mut opened = lock(&self.opened);
        let model = opened.entry(name.to_owned()).or_insert_with(|| (self.open)(name));
        model.clone().map_err(|why| ModelLookupError::Closed { why })
    }
}

impl Default for NamedModels {
    fn default() -> Self {
        Self::of(BTreeMap::new())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ModelLookupError {
    Unknown {
        /// The known names, comma-separated; empty if there are none.
        known: String,
    },
    Closed {
        why: String,
    },
}

/// The first model of a chain without a known price.
pub(crate) fn unpriced(model: &Arc<dyn Model>) -> Option<&ModelRef> {
    let links = if model.links().is_empty() { std::slice::from_ref(model) } else { model.links() };
    links.iter().find(|link| link.facts().price.is_none()).map(|link| link.reference())
}
