//! Enums whose variants are words: what a person writes for a choice.

/// A type with one word per value.
pub trait Words: Copy + 'static {
    /// Every value, in the order of declaration.
    const ALL: &'static [Self];

    /// The word of a value.
    fn word(self) -> &'static str;

    /// The value of a word.
    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word() == word)
    }
}

/// Declares an enum with one word per variant; see [`Words`].
///
/// ```
/// use ldlf_math::words::Words;
/// ldlf_math::words! {
///     /// How the learning rate changes.
///     pub enum Schedule {
///         /// It does not.
///         Constant = "constant",
///         /// Half a cosine down to zero.
///         Cosine = "cosine",
///     }
/// }
/// assert_eq!(Schedule::from_word("cosine"), Some(Schedule::Cosine));
/// assert_eq!(Schedule::Constant.word(), "constant");
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[$outer:meta])*
        $visibility:vis enum $name:ident { $( $(#[$inner:meta])* $variant:ident = $word:literal ),+ $(,)? }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name { $( $(#[$inner])* $variant ),+ }

        impl $crate::words::Words for $name {
            const ALL: &'static [Self] = &[ $( $name::$variant ),+ ];

            fn word(self) -> &'static str {
                match self { $( $name::$variant => $word ),+ }
            }
        }
    };
}
