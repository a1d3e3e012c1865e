//! The macros [`parameters!`](crate::parameters!) and [`choices!`](crate::choices!).

/// Declares a struct of parameters with defaults, limits and help; see the [module](mod@crate::parameters).
///
/// - `pub struct Values { .. }`: values with setters.
/// - `pub struct Values, builder Params for A, B { .. }`: values, a builder with the setters, and `A::params()`, `B::params()`.
/// - `pub struct More, after Values in Params for C { .. }`: further setters on that builder, for learners whose parameters are
///   `(Values, More)`.
#[macro_export]
macro_rules! parameters {
    (
        $(#[$outer:meta])*
        $visibility:vis struct $name:ident { $($fields:tt)* }
    ) => {
        $crate::declare_values! { $(#[$outer])* $visibility struct $name { $($fields)* } }
        impl $name {
            $crate::declare_setters! { $name { $($fields)* } }
        }
    };
    (
        $(#[$outer:meta])*
        $visibility:vis struct $name:ident, builder $builder:ident for $($learner:ident),+ { $($fields:tt)* }
    ) => {
        $crate::declare_values! { $(#[$outer])* $visibility struct $name { $($fields)* } }
        $crate::declare_builder! { $visibility struct $builder of $name }
        impl<L: $crate::Algorithm> $builder<L>
        where
            L::Parameters: AsMut<$name>,
        {
            $crate::declare_setters! { $name { $($fields)* } }
        }
        $( $crate::declare_params! { $learner, $builder } )+
    };
    (
        $(#[$outer:meta])*
        $visibility:vis struct $name:ident, after $first:ident in $builder:ident for $($learner:ident),+ { $($fields:tt)* }
    ) => {
        $crate::declare_values! { $(#[$outer])* $visibility struct $name { $($fields)* } }
        impl AsMut<$first> for ($first, $name) {
            fn as_mut(&mut self) -> &mut $first {
                &mut self.0
            }
        }
        impl AsMut<$name> for ($first, $name) {
            fn as_mut(&mut self) -> &mut $name {
                &mut self.1
            }
        }
        impl<L: $crate::Algorithm> $builder<L>
        where
            L::Parameters: AsMut<$name>,
        {
            $crate::declare_setters! { $name { $($fields)* } }
        }
        $( $crate::declare_params! { $learner, $builder } )+
    };
}

/// The values, their declaration and their checks. Fields are seen inside their crate only, so that nobody else goes round the check.
#[doc(hidden)]
#[macro_export]
macro_rules! declare_values {
    (
        $(#[$outer:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[doc = $help:literal])+
                $field:ident : $type:ty = $default:expr $(, $mark:ident $what:literal)* ;
            )*
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $name {
            $( $(#[doc = $help])+ pub(crate) $field: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl AsMut<$name> for $name {
            fn as_mut(&mut self) -> &mut $name {
                self
            }
        }

        #[allow(unused_variables, reason = "there may be no parameters")]
        impl $crate::parameters::ParameterSet for $name {
            fn declared() -> Vec<$crate::parameters::Parameter> {
                let values = Self::default();
                vec![ $( $crate::parameters::Parameter::new(
                    stringify!($field),
                    &values.$field,
                    &[ $( $crate::parameters::Mark::$mark($what) ),* ],
                    &[ $( $help ),+ ],
                ) ),* ]
            }

            fn set(&mut self, settings: &$crate::Settings) -> $crate::Result<()> {
                let declared = Self::declared();
                $( if let Some(value) = settings.get(stringify!($field)) {
                    self.$field = $crate::parameters::named(&declared, stringify!($field)).read(value)?;
                } )*
                Ok(())
            }

            fn to_settings(&self) -> $crate::Settings {
                [ $( (stringify!($field), $crate::parameters::ParameterType::to_value(&self.$field)) ),* ]
                    .into_iter()
                    .collect()
            }

            fn check(&self) -> $crate::Result<()> {
                let declared = Self::declared();
                $( $crate::parameters::named(&declared, stringify!($field)).check(&self.$field)?; )*
                Ok(())
            }
        }
    };
}

/// A builder of parameters; its setters follow by `declare_setters!`.
#[doc(hidden)]
#[macro_export]
macro_rules! declare_builder {
    ($visibility:vis struct $builder:ident of $name:ident) => {
        #[doc = concat!(
            "Sets [`", stringify!($name), "`] and fits the learner `L` with them. Nothing is checked before [`check`](Self::check) or ",
            "[`fit`](Self::fit), and nothing is fitted unchecked."
        )]
        #[must_use = "parameters do nothing until they are checked or fitted"]
        $visibility struct $builder<L: $crate::Algorithm>($crate::Unchecked<L>);

        impl<L: $crate::Algorithm> $builder<L> {
            /// Takes over the values of a preset of the learner; what it leaves out stays.
            pub fn preset(self, name: &str) -> $crate::Result<Self> {
                self.0.preset(name).map(Self)
            }

            /// The random seed. Default: 0.
            pub fn seed(mut self, seed: u64) -> Self {
                self.0.seed = seed;
                self
            }

            /// Threads to use; they do not change the model. Default: 0, one per core.
            pub fn threads(mut self, threads: usize) -> Self {
                self.0.threads = threads;
                self
            }

            /// Checks every value: a bad one is an error that names it.
            pub fn check(self) -> $crate::Result<$crate::Checked<L>> {
                self.0.check()
            }

            /// Checks the values and fits them to `data`.
            pub fn fit(self, data: &$crate::Dataset) -> $crate::Result<$crate::TrainedModel> {
                self.0.fit(data, &mut ())
            }

            /// As [`fit`](Self::fit), watched by an observer, which may end it.
            pub fn fit_observed(
                self,
                data: &$crate::Dataset,
                observer: &mut dyn $crate::Observer,
            ) -> $crate::Result<$crate::TrainedModel> {
                self.0.fit(data, observer)
            }
        }

        impl<L: $crate::Algorithm> Default for $builder<L> {
            fn default() -> Self {
                Self($crate::Unchecked::default())
            }
        }

        impl<L: $crate::Algorithm> Clone for $builder<L> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<L: $crate::Algorithm> std::fmt::Debug for $builder<L> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl<L: $crate::Algorithm, P> AsMut<P> for $builder<L>
        where
            L::Parameters: AsMut<P>,
        {
            fn as_mut(&mut self) -> &mut P {
                self.0.parameters.as_mut()
            }
        }
    };
}

/// `Learner::params()`.
#[doc(hidden)]
#[macro_export]
macro_rules! declare_params {
    ($learner:ident, $builder:ident) => {
        impl $learner {
            /// The parameters with their defaults: set what differs, then fit.
            pub fn params() -> $builder<$learner> {
                $builder::default()
            }
        }
    };
}

/// One consuming setter for each parameter.
#[doc(hidden)]
#[macro_export]
macro_rules! declare_setters {
    ($name:ident { $(
        $(#[doc = $help:literal])+
        $field:ident : $type:ident $(< $inner:ident >)? = $default:expr $(, $mark:ident $what:literal)* ;
    )* }) => {
        $( $crate::declare_setter! {
            {
                $(#[doc = $help])+
                ///
                #[doc = concat!(
                    "Default: `", stringify!($default), "`",
                    $( ", ", $crate::declare_words!($mark), " ", stringify!($what), )* "."
                )]
                #[must_use = "a setter gives the parameters back"]
            }
            $name $field $type $(< $inner >)?
        } )*
    };
}

/// One setter: text and optional values are taken as they come.
#[doc(hidden)]
#[macro_export]
macro_rules! declare_setter {
    ({ $($attributes:tt)* } $name:ident $field:ident String) => {
        $($attributes)*
        pub fn $field(mut self, value: impl Into<String>) -> Self {
            AsMut::<$name>::as_mut(&mut self).$field = value.into();
            self
        }
    };
    ({ $($attributes:tt)* } $name:ident $field:ident Option<String>) => {
        $($attributes)*
        pub fn $field(mut self, value: impl Into<String>) -> Self {
            AsMut::<$name>::as_mut(&mut self).$field = Some(value.into());
            self
        }
    };
    ({ $($attributes:tt)* } $name:ident $field:ident $type:ident) => {
        $($attributes)*
        pub fn $field(mut self, value: $type) -> Self {
            AsMut::<$name>::as_mut(&mut self).$field = value;
            self
        }
    };
    ({ $($attributes:tt)* } $name:ident $field:ident $type:ident<$inner:ident>) => {
        $($attributes)*
        pub fn $field(mut self, value: impl Into<$type<$inner>>) -> Self {
            AsMut::<$name>::as_mut(&mut self).$field = value.into();
            self
        }
    };
}

/// The words of a mark, for documentation.
#[doc(hidden)]
#[macro_export]
macro_rules! declare_words {
    (at_least) => {
        "at least"
    };
    (at_most) => {
        "at most"
    };
    (known_as) => {
        "in scikit-learn"
    };
    ($mark:ident) => {
        stringify!($mark)
    };
}

/// Declares an enum whose variants are the words that a parameter takes, with `ALL`, `name()`, `FromStr` and `Display`.
///
/// ```
/// ldlf_core::choices! {
///     /// How the learning rate changes.
///     pub enum Schedule {
///         /// It does not.
///         Constant = "constant",
///         /// Half a cosine down to zero.
///         Cosine = "cosine",
///     }
/// }
/// assert_eq!("cosine".parse::<Schedule>()?, Schedule::Cosine);
/// assert_eq!(Schedule::ALL.map(Schedule::name), ["constant", "cosine"]);
/// # Ok::<(), ldlf_core::Error>(())
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[$outer:meta])*
        $visibility:vis enum $name:ident { $( $(#[$inner:meta])* $variant:ident = $word:literal ),+ $(,)? }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name { $( $(#[$inner])* $variant ),+ }

        impl $name {
            /// Every choice, in the order of declaration.
            pub const ALL: [$name; [ $( $word ),+ ].len()] = [ $( $name::$variant ),+ ];

            /// The word for it.
            pub const fn name(self) -> &'static str {
                match self { $( $name::$variant => $word ),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Error;

            fn from_str(text: &str) -> $crate::Result<Self> {
                match text {
                    $( $word => Ok($name::$variant), )+
                    _ => {
                        let words = $name::ALL.map($name::name).join(", ");
                        Err($crate::Error::usage(format!("{text:?} is not one of {words}")))
                    }
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl $crate::parameters::ParameterType for $name {
            fn kind() -> $crate::parameters::Kind {
                $crate::parameters::Kind::Choice { choices: $name::ALL.map($name::name).to_vec() }
            }
            fn to_value(&self) -> $crate::Value {
                $crate::Value::from(self.name())
            }
            fn from_value(value: &$crate::Value) -> Option<Self> {
                value.as_str()?.parse().ok()
            }
        }
    };
}
