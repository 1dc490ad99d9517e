//! Choices: settings with a closed set of values, each an enum that the program matches on.

/// Declares an enum whose variants are the words a user may write.
macro_rules! choice {
    ($(#[doc = $doc:literal])* $vis:vis $name:ident { $($(#[doc = $variant_doc:literal])* $variant:ident = $word:literal,)+ }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $name {
            $($(#[doc = $variant_doc])* $variant,)+
        }

        impl $name {
            /// The words, in the order of the reference; the first is the default.
            pub const WORDS: &[&str] = &[$($word,)+];

            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            pub fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use choice;

choice! {
    pub ProviderChoice {
        /// The first provider with a key, or a local server.
        Auto = "auto",
        OpenAi = "openai",
        Anthropic = "anthropic",
        Responses = "openai-responses",
        Gemini = "gemini",
        Bedrock = "bedrock",
        /// Azure `OpenAI`: the model name is the name of the deployment.
        Azure = "azure",
        Command = "command",
        /// A model that runs inside this program, from the folder of local models.
        Local = "local",
        /// No model: passages are shown instead of an answer.
        None = "none",
    }
}

choice! {
    /// How a question is answered.
    pub StrategyChoice {
        /// Chosen to suit the question and the text.
        Auto = "auto",
        /// One call with everything that fits.
        Direct = "direct",
        /// The recursive loop: code explores the text and calls sub-models.
        Repl = "repl",
        /// An index finds passages, and one call answers from them.
        Search = "search",
        /// Analysts read every part, and a synthesis combines their findings.
        Map = "map",
        /// Like `map`, but only over the parts that share words with the question.
        Hybrid = "hybrid",
        /// A model works with tools on its own files, and writes its answer to one of them.
        Agent = "agent",
    }
}

choice! {
    pub SandboxChoice {
        /// The built-in interpreter, in a worker process.
        Monty = "monty",
        /// The machine's `CPython`, confined by the operating system.
        CPython = "cpython",
    }
}

choice! {
    /// What a recorded reply survives.
    pub DurabilityChoice {
        Process = "process",
        Power = "power",
    }
}

choice! {
    pub ColorChoice {
        /// On a terminal, unless `NO_COLOR` is set.
        Auto = "auto",
        Always = "always",
        Never = "never",
    }
}
