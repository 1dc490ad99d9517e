//! The failure classes of trials whose answer is not fully right.

macro_rules! failures {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// The class of a failure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Failure {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Failure {
            /// Every class, in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The class of that name.
            pub fn of(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|failure| failure.name() == name)
            }
        }
    };
}

failures! {
    /// The run failed: no model, no answer.
    Error = "error";
    /// A limit ended the run.
    Budget = "budget";
    /// No answer could be extracted from the reply.
    Parsing = "parsing";
    /// The text was not decomposed: no code ran, or no sub-model was called although lines have to be read.
    Decomposition = "decomposition";
    /// Parts of the text that the answer needs were not read.
    Coverage = "coverage";
    /// The run went normally, but the answer is wrong.
    Wrong = "wrong-answer";
}
