//! Choices: settings with a closed set of values, each an enum that the program matches on.

/// Declares an enum whose variants are the words a user may write.
macro_rules! choice {
    ($(#[doc = $doc:literal])+ $vis:vis $name:ident { $($(#[doc = $variant_doc:literal])+ $variant:ident = $word:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $name {
            $($(#[doc = $variant_doc])+ $variant,)+
        }

        impl $name {
            /// The words, in the order of the reference; the first is the default.
            pub const WORDS: &[&str] = &[$($word,)+];

            /// The variant with this name.
            pub fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

choice! {
    /// Who answers calls.
    pub ProviderChoice {
        /// Whoever there is a key for, or a local server.
        Auto = "auto",
        /// A server that speaks OpenAI's chat completions.
        OpenAi = "openai",
        /// A server that speaks Anthropic's messages.
        Anthropic = "anthropic",
        /// A server that speaks OpenAI's responses.
        Responses = "openai-responses",
        /// Google Gemini.
        Gemini = "gemini",
        /// AWS Bedrock, by the usual AWS credentials.
        Bedrock = "bedrock",
        /// Azure `OpenAI`: the model's name is that of the deployment.
        Azure = "azure",
        /// A program that reads the prompt and writes the reply.
        Command = "command",
        /// A model inside this program, from the folder of local models.
        Local = "local",
        /// Nobody: passages are shown instead of an answer.
        None = "none",
    }
}

choice! {
    /// How a question is answered.
    pub StrategyChoice {
        /// What suits the question and the text.
        Auto = "auto",
        /// One call with everything that fits.
        Direct = "direct",
        /// The recursive loop: code explores the text and asks sub-models.
        Repl = "repl",
        /// An index finds passages, and one call answers from them.
        Search = "search",
        /// Analysts read every part, and what they find is put together.
        Map = "map",
        /// The same over the parts that share words with the question.
        Hybrid = "hybrid",
        /// A model works with tools on files of its own, and writes its answer into one.
        Agent = "agent",
    }
}

choice! {
    /// What runs the code that models write.
    pub SandboxChoice {
        /// The interpreter of the program itself, in a process of its own.
        Monty = "monty",
        /// The `CPython` of the machine, confined by the operating system.
        CPython = "cpython",
    }
}

choice! {
    /// When output is coloured.
    pub ColorChoice {
        /// On a terminal, unless `NO_COLOR` is set.
        Auto = "auto",
        /// Everywhere.
        Always = "always",
        /// Nowhere.
        Never = "never",
    }
}
