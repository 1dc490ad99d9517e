//! Enums whose values are words in flags, settings and events.

/// Gives an enum the list of its values in the order of help, their names, and conversions both ways.
macro_rules! names {
    ($what:literal, $type:ident { $($variant:ident = $name:literal,)+ }) => {
        impl $type {
            /// Every value, in the order shown in help.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in flags, settings and events.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::IdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let named = Self::ALL.into_iter().find(|value| value.name() == text);
                named.ok_or_else(|| $crate::IdError::new($what, text))
            }
        }
    };
}
