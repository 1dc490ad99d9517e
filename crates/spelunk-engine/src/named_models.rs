//! The roster: models that code of a session may ask by name, as in `llm_query(prompt, model="fast")`. A model is opened
//! when it is first named, so that a run which never does needs neither its key nor its address.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use spelunk_model::Model;
use spelunk_types::Explain;

use crate::EngineError;
use crate::run::unpriced;

type Opened = Result<Arc<dyn Model>, String>;
type Open = dyn Fn(&str) -> Opened + Send + Sync;

/// Models by name. Cloning gives another handle on the same models.
#[derive(Clone)]
pub struct NamedModels {
    names: Arc<[String]>,
    open: Arc<Open>,
    opened: Arc<Mutex<HashMap<String, Opened>>>,
}

impl NamedModels {
    /// Models of these names, each opened by `open` when it is first asked; its error says in words why it cannot be.
    pub fn new(
        names: Vec<String>,
        open: impl Fn(&str) -> Result<Arc<dyn Model>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { names: names.into(), open: Arc::new(open), opened: Arc::default() }
    }

    /// Models that are open already.
    pub fn of(models: BTreeMap<String, Arc<dyn Model>>) -> Self {
        let names = models.keys().cloned().collect();
        Self::new(names, move |name| {
            models.get(name).cloned().ok_or_else(|| "it is not on the roster".to_owned())
        })
    }

    /// The same models; one without a known price cannot be asked.
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

    /// The names, in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The model of a name; the error says which names there are, or why this one cannot be asked.
    pub(crate) fn model(&self, name: &str) -> Result<Arc<dyn Model>, Unlisted> {
        if !self.names.iter().any(|known| known == name) {
            return Err(Unlisted::Unknown { known: self.names.join(", ") });
        }
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let model = opened.entry(name.to_owned()).or_insert_with(|| (self.open)(name));
        model.clone().map_err(|why| Unlisted::Closed { why })
    }
}

impl Default for NamedModels {
    fn default() -> Self {
        Self::of(BTreeMap::new())
    }
}

impl fmt::Debug for NamedModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedModels").field(&self.names).finish()
    }
}

/// Why a name leads to no model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unlisted {
    /// No model has it.
    Unknown {
        /// The names there are, with commas; empty if there are none.
        known: String,
    },
    /// The model cannot be asked.
    Closed {
        /// In words.
        why: String,
    },
}
