//! The parts of the source's own split, by the names that tables give them.

/// What the rows of a part are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitPart {
    /// To learn from.
    Train,
    /// To choose by while learning: an iteration, a parameter.
    Valid,
    /// To test on.
    Test,
}

impl SplitPart {
    /// The part of a name in any letter case: `train`, `training`, `test`, or whatever begins with `val`.
    ///
    /// ```
    /// use ldlf_core::split::SplitPart;
    /// assert_eq!(SplitPart::named(" Validation"), Some(SplitPart::Valid));
    /// assert_eq!(SplitPart::named("tset"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "test" => Some(SplitPart::Test),
            "train" | "training" => Some(SplitPart::Train),
            name if name.starts_with("val") => Some(SplitPart::Valid),
            _ => None,
        }
    }
}
