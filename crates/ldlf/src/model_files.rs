//! Saving and loading models.

use std::path::Path;

use ldlf_core::{Result, TrainedModel};
use ldlf_io::model_file;
use ldlf_io::output::Overwrite;

use crate::registry;

/// Reads a model file, of whichever learner it is.
///
/// ```
/// use ldlf::prelude::*;
/// # let folder = tempfile::tempdir().unwrap();
/// # let file = folder.path().join("votes.ldlf");
/// RandomForest::params().trees(3).fit(&ldlf::generate::artificial(50, 0)?)?.save(&file)?;
/// let model = ldlf::load(&file)?;
/// assert_eq!((model.learner.as_str(), model.schema.label_names.len()), ("random-forest", 3));
/// # Ok::<(), ldlf::Error>(())
/// ```
pub fn load(path: impl AsRef<Path>) -> Result<TrainedModel> {
    model_file::load(path.as_ref(), &registry::learners())
}

/// Lets a model be saved; part of the [`prelude`](crate::prelude).
pub trait SaveModel {
    /// Writes the model file, whole or not at all; a file of that name is replaced.
    ///
    /// ```
    /// use ldlf::prelude::*;
    /// let data = ldlf::generate::artificial(100, 0)?;
    /// let model = Mean::params().fit(&data)?;
    /// let folder = tempfile::tempdir().unwrap();
    /// model.save(folder.path().join("mean.ldlf"))?;
    /// let again = ldlf::load(folder.path().join("mean.ldlf"))?;
    /// assert_eq!(again.predict(&data)?, model.predict(&data)?);
    /// # Ok::<(), ldlf::Error>(())
    /// ```
    fn save(&self, path: impl AsRef<Path>) -> Result<()>;
}

impl SaveModel for TrainedModel {
    fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        model_file::save(self, path.as_ref(), Overwrite::Yes)
    }
}
