//! Enums whose values are words in flags, settings, events and reports.

/// Gives an enum the list of its values in the order of help and reports, their names, and the way back.
#[macro_export]
macro_rules! named {
    ($type:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $type {
            /// Every value, in the order shown in help and reports.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in flags, settings, events and reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The value with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// The same with an error that says what was expected, for an enum that exists or is declared here with its names.
macro_rules! names {
    ($what:literal, $(#[$about:meta])* pub enum $type:ident {
        $($(#[$about_variant:meta])* $variant:ident = $name:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $type {
            $($(#[$about_variant])* #[serde(rename = $name)] $variant,)+
        }

        names! { $what, $type { $($variant = $name,)+ } }
    };
    ($what:literal, $type:ident { $($variant:ident = $name:literal,)+ }) => {
        $crate::named! { $type { $($variant = $name,)+ } }

        impl std::str::FromStr for $type {
            type Err = $crate::IdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::from_name(text).ok_or_else(|| $crate::IdError::new($what, text))
            }
        }
    };
}
