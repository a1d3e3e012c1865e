//! Rows unlike the training rows: how far a row is from them, beside how far they are from each other.
//!
//! Every feature is standardised and compressed, `asinh((x - mean) / deviation)`, so that one wild value does not hide the others, and
//! where features are many, up to 32 random sums of them with signs take their place. A row's distance is
//! `(z - m)' C^-1 (z - m)`, with the mean and the covariance of one half of the training rows. The other half says which distances are
//! usual: the *familiarity* of a row is the fraction of them, the row itself counted, that are at least as far.
//!
//! Of new rows that are exchangeable with those of the training, no more than a fraction `t` have a familiarity of at most `t` (Laxhammar
//! and Falkman, Conformal prediction for distribution-independent anomaly detection, 2010). No training row is stored: means,
//! deviations and a covariance are.

use ldlf_math::random::permutation;
use rand::RngExt;

use crate::conformal::{Ladder, RowWeights};
use crate::features::Row;
use crate::stored::{Array, Parts};
use crate::{Dataset, Error, Features, Result, Seed, Threads};

/// Random sums that stand for many features, at most.
const DIMENSIONS: usize = 32;

/// Rows that each half of the training rows has at most.
const MOST_ROWS: usize = 5_000;

/// Below so many rows (or groups) nothing can be said.
const FEWEST_ROWS: usize = 40;

/// Rows per dimension of a covariance, at least.
const ROWS_PER_DIMENSION: usize = 4;

/// How much of the covariance is replaced by that of a sphere.
const SHRINKAGE: f64 = 0.05;

/// Rows that one task looks at.
const TASK: usize = 256;

/// At or below this familiarity a row is called unlike the training rows: of rows like them, one in a hundred is.
pub const UNLIKE: f64 = 0.01;

/// The array of the usual distances in a model file.
const DISTANCES: &str = "familiarity.distances";

/// What the training rows look like, to tell how unlike them a row is.
///
/// ```
/// use ldlf_core::{Dataset, Features, Matrix, Threads, familiarity::Familiarity};
/// let line = |x: f32| [x, x + 0.1 * (7.0 * x).sin()];
/// let rows: Vec<[f32; 2]> = (0..200).map(|i| line(i as f32 / 100.0)).collect();
/// let features = Features::Dense(Matrix::from_rows(&rows));
/// let data = Dataset::new(features, Matrix::from_rows(&[[0.5, 0.5]; 200]))?;
/// let familiarity = Familiarity::fit(&data).unwrap();
/// let asked = Features::Dense(Matrix::from_rows(&[line(1.234), [0.2, 1.8], [9.0, 9.0]]));
/// let found = familiarity.of(&asked, &Threads::one());
/// assert!(found[0] > 0.1 && found[1] <= 0.01 && found[2] <= 0.01);
/// # Ok::<(), ldlf_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Familiarity {
    /// By feature.
    centre: Vec<f32>,
    /// By feature; above 0.
    scale: Vec<f32>,
    /// By feature: one bit per dimension. Empty where features are few and each is a dimension.
    signs: Vec<u32>,
    /// What a row of zeros is in every dimension: sparse rows differ from it in their entries.
    of_zeros: Vec<f64>,
    middle: Vec<f64>,
    /// `[dimensions, dimensions]`: the lower factor of the covariance.
    factor: Vec<f64>,
    usual: Ladder,
}

impl Familiarity {
    /// Looks at the training rows; `None` where they are images or too few.
    pub fn fit(data: &Dataset) -> Option<Self> {
        let features = data.features().ok()?;
        let (known, others) = halves(data)?;
        let dimensions = DIMENSIONS.min(features.cols()).min(known.len() / ROWS_PER_DIMENSION);
        if dimensions == 0 {
            return None;
        }
        let (centre, scale) = moments(features, &known);
        let mut found = Familiarity::new(centre, scale, dimensions);
        let rows: Vec<Vec<f64>> = known.iter().map(|&row| found.project(features.row(row))).collect();
        for (dimension, middle) in found.middle.iter_mut().enumerate() {
            *middle = rows.iter().map(|row| row[dimension]).sum::<f64>() / rows.len() as f64;
        }
        found.factor = factorised(covariance(&rows, &found.middle), dimensions)?;
        let weights = RowWeights::of(data, &others)?;
        let distances =
            others.iter().map(|&row| (found.distance(features.row(row)), weights.of_row(data, row)));
        found.usual = Ladder::new(distances.collect(), weights.units());
        Some(found)
    }

    fn new(centre: Vec<f32>, scale: Vec<f32>, dimensions: usize) -> Self {
        let seed = Seed::new(0).named("familiarity");
        let draw = |feature: usize| seed.numbered(feature as u64).generator().random::<u32>();
        let signs = match centre.len() > dimensions {
            true => (0..centre.len()).map(draw).collect(),
            false => Vec::new(),
        };
        let mut found = Familiarity {
            centre,
            scale,
            signs,
            of_zeros: vec![0.0; dimensions],
            middle: vec![0.0; dimensions],
            factor: Vec::new(),
            usual: Ladder::new(Vec::new(), 1.0),
        };
        let mut of_zeros = vec![0.0; dimensions];
        (0..found.centre.len())
            .for_each(|feature| found.add(feature, found.scaled(feature, 0.0), &mut of_zeros));
        found.of_zeros = of_zeros;
        found
    }

    /// The familiarity of every row, above 0 and up to 1.
    pub fn of(&self, features: &Features, threads: &Threads) -> Vec<f64> {
        let tasks = threads.map(ldlf_math::parallel::chunks(features.rows(), TASK), |rows| {
            rows.map(|row| 1.0 - self.usual.below(self.distance(features.row(row)))).collect::<Vec<f64>>()
        });
        tasks.concat()
    }

    fn scaled(&self, feature: usize, value: f32) -> f64 {
        let (centre, scale) = (f64::from(self.centre[feature]), f64::from(self.scale[feature]));
        ((f64::from(value) - centre) / scale).asinh()
    }

    /// Adds a feature to the dimensions.
    fn add(&self, feature: usize, scaled: f64, sums: &mut [f64]) {
        match self.signs.get(feature) {
            None => sums[feature] += scaled,
            Some(signs) => {
                for (dimension, sum) in sums.iter_mut().enumerate() {
                    *sum += if (signs >> dimension) & 1 == 1 { scaled } else { -scaled };
                }
            }
        }
    }

    fn project(&self, row: Row<'_>) -> Vec<f64> {
        match row {
            Row::Dense(values) => {
                let mut sums = vec![0.0; self.middle.len()];
                let each = values.iter().enumerate();
                each.for_each(|(feature, &value)| self.add(feature, self.scaled(feature, value), &mut sums));
                sums
            }
            Row::Sparse(columns, values) => {
                let mut sums = self.of_zeros.clone();
                for (&feature, &value) in columns.iter().zip(values) {
                    let feature = feature as usize;
                    self.add(feature, self.scaled(feature, value) - self.scaled(feature, 0.0), &mut sums);
                }
                sums
            }
        }
    }

    /// `|L^-1 (z - m)|^2`, where `L` is the factor of the covariance.
    fn distance(&self, row: Row<'_>) -> f64 {
        let mut z = self.project(row);
        let size = z.len();
        for i in 0..size {
            let known: f64 = (0..i).map(|j| self.factor[i * size + j] * z[j]).sum();
            z[i] = (z[i] - self.middle[i] - known) / self.factor[i * size + i];
        }
        z.iter().map(|y| y * y).sum()
    }

    /// Adds its arrays to a model's.
    pub fn store(&self, parts: &mut Parts) {
        let (features, dimensions) = (self.centre.len(), self.middle.len());
        parts.put("familiarity.centre", Array::F32(vec![features], self.centre.clone()));
        parts.put("familiarity.scale", Array::F32(vec![features], self.scale.clone()));
        parts.put("familiarity.middle", Array::F64(vec![dimensions], self.middle.clone()));
        parts.put("familiarity.factor", Array::F64(vec![dimensions, dimensions], self.factor.clone()));
        self.usual.store(DISTANCES, parts);
    }

    /// Rebuilds, checked, what [`Familiarity::store`] kept; `None` where it kept nothing.
    pub fn load(parts: &Parts, features: usize) -> Result<Option<Self>> {
        let Some(usual) = Ladder::load(DISTANCES, parts)? else {
            return match parts.has("familiarity.centre") {
                true => Err(Error::model_file("the model file lacks the distances of its \"familiarity\"")),
                false => Ok(None),
            };
        };
        let centre = parts.f32s("familiarity.centre", &[features])?;
        let scale = parts.f32s("familiarity.scale", &[features])?;
        let dimensions = parts.shape("familiarity.middle")?.first().copied().unwrap_or(0);
        let middle = parts.f64s("familiarity.middle", &[dimensions])?;
        let factor = parts.f64s("familiarity.factor", &[dimensions, dimensions])?;
        let positive = |place: usize| factor[place * (dimensions + 1)] > 0.0;
        if !(1..=DIMENSIONS.min(features)).contains(&dimensions)
            || scale.iter().any(|scale| *scale <= 0.0)
            || !(0..dimensions).all(positive)
        {
            return Err(Error::model_file(
                "the model file's \"familiarity\" is not of rows like the model's",
            ));
        }
        Ok(Some(Familiarity { middle, factor, usual, ..Familiarity::new(centre, scale, dimensions) }))
    }
}

/// Rows of two halves, drawn at random; those of a group stay together. `None` where they are too few.
fn halves(data: &Dataset) -> Option<(Vec<usize>, Vec<usize>)> {
    let rows: Vec<usize> = (0..data.rows()).filter(|&row| data.weight(row) > 0.0).collect();
    let unit = |row: usize| data.groups().map_or(row as u64, |groups| u64::from(groups[row]));
    let mut units: Vec<u64> = rows.iter().map(|&row| unit(row)).collect();
    units.sort_unstable();
    units.dedup();
    if units.len() < FEWEST_ROWS {
        return None;
    }
    let order = permutation(units.len(), &mut Seed::new(0).named("halves").generator());
    let mut first = vec![false; units.len()];
    order.iter().take(units.len() / 2).for_each(|&place| first[place] = true);
    let is_first = |row: &usize| units.binary_search(&unit(*row)).is_ok_and(|place| first[place]);
    let (known, others): (Vec<usize>, Vec<usize>) = rows.into_iter().partition(is_first);
    let some =
        |rows: Vec<usize>| rows.iter().copied().step_by(rows.len().div_ceil(MOST_ROWS).max(1)).collect();
    Some((some(known), some(others)))
}

/// The mean and the standard deviation of every feature over some rows. A feature that is the same in all of them is measured by a tenth of
/// its size, or by 1 where it is 0.
fn moments(features: &Features, rows: &[usize]) -> (Vec<f32>, Vec<f32>) {
    let mut sums = vec![(0.0f64, 0.0f64); features.cols()];
    let count = rows.len() as f64;
    for &row in rows {
        features.for_each_in_row(row, |column, value| sums[column].0 += f64::from(value));
    }
    for &row in rows {
        features.for_each_in_row(row, |column, value| {
            // Around the mean, with what the zeros that are not stored add taken off here and added below.
            let mean = sums[column].0 / count;
            sums[column].1 += (f64::from(value) - mean).powi(2) - mean.powi(2);
        });
    }
    let of_feature = |(sum, squares): (f64, f64)| {
        let mean = sum / count;
        let deviation = (squares / count + mean.powi(2)).max(0.0).sqrt();
        let scale = match (deviation > 1e-6 * mean.abs(), mean != 0.0) {
            (true, _) => deviation,
            (false, true) => 0.1 * mean.abs(),
            (false, false) => 1.0,
        };
        (mean as f32, (scale as f32).max(f32::MIN_POSITIVE))
    };
    sums.into_iter().map(of_feature).unzip()
}

/// The covariance of some rows, a little rounder than it is.
fn covariance(rows: &[Vec<f64>], middle: &[f64]) -> Vec<f64> {
    let size = middle.len();
    let mut found = vec![0.0; size * size];
    for row in rows {
        for i in 0..size {
            for j in 0..=i {
                found[i * size + j] += (row[i] - middle[i]) * (row[j] - middle[j]) / rows.len() as f64;
            }
        }
    }
    let round = (0..size).map(|i| found[i * (size + 1)]).sum::<f64>() / size as f64;
    found.iter_mut().for_each(|entry| *entry *= 1.0 - SHRINKAGE);
    (0..size).for_each(|i| found[i * (size + 1)] += SHRINKAGE * round);
    found
}

/// The lower factor `L` of `L L' = A`; `None` where rows do not differ.
fn factorised(mut a: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    for i in 0..size {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| a[i * size + k] * a[j * size + k]).sum();
            let left = a[i * size + j] - known;
            a[i * size + j] = match i == j {
                false => left / a[j * size + j],
                true if left > 0.0 && left.is_finite() => left.sqrt(),
                true => return None,
            };
        }
    }
    Some(a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csr, Matrix};
    use ldlf_math::random::normal;

    /// Rows of 60 features that follow three hidden numbers.
    fn rows(count: usize, number: u64) -> Matrix<f32> {
        let mut generator = Seed::new(9).numbered(number).generator();
        let mut out = Vec::new();
        for _ in 0..count {
            let hidden: Vec<f64> = (0..3).map(|_| normal(&mut generator)).collect();
            for feature in 0..60 {
                let of_hidden = hidden[feature % 3] * (1.0 + feature as f64 / 20.0);
                out.push((of_hidden + 0.3 * normal(&mut generator)) as f32);
            }
        }
        Matrix::new(count, 60, out).unwrap()
    }

    fn data(features: Features) -> Dataset {
        let count = features.rows();
        Dataset::new(features, Matrix::from_rows(&vec![[0.5, 0.5]; count])).unwrap()
    }

    fn unlike(found: &Familiarity, rows: Matrix<f32>, at_most: f64) -> f64 {
        let count = rows.rows() as f64;
        let familiarity = found.of(&Features::Dense(rows), &Threads::one());
        familiarity.iter().filter(|of_row| **of_row <= at_most).count() as f64 / count
    }

    #[test]
    fn rows_like_those_of_the_training_are_called_unlike_as_often_as_promised() {
        let found = Familiarity::fit(&data(Features::Dense(rows(2000, 1)))).unwrap();
        for level in [0.05, 0.2, 0.5] {
            let part = unlike(&found, rows(4000, 2), level);
            // Three binomial standard errors of the 1,000 rows that are looked at and of the 4,000 new ones.
            let error = 3.0 * (level * (1.0 - level) * (1.0 / 1000.0 + 1.0 / 4000.0)).sqrt();
            assert!((part - level).abs() < error, "{level}: {part}");
        }
    }

    #[test]
    fn shifted_wider_and_torn_rows_are_found() {
        let found = Familiarity::fit(&data(Features::Dense(rows(2000, 1)))).unwrap();
        let changed = |of: &dyn Fn(usize, f32) -> f32| {
            let mut new = rows(1000, 2);
            for row in 0..1000 {
                new.row_mut(row)
                    .iter_mut()
                    .enumerate()
                    .for_each(|(feature, value)| *value = of(feature, *value));
            }
            new
        };
        let shifted = changed(&|feature, value| if feature % 7 == 0 { value + 3.0 } else { value });
        let wider = changed(&|_, value| 3.0 * value);
        // Every feature on its own is as it was; they no longer belong together.
        let mut torn = rows(1000, 2);
        let others = rows(1000, 3);
        for row in 0..1000 {
            (0..60).step_by(2).for_each(|feature| torn.row_mut(row)[feature] = others.row(row)[feature]);
        }
        for (name, new, least) in [("shifted", shifted, 0.9), ("wider", wider, 0.5), ("torn", torn, 0.9)] {
            let part = unlike(&found, new, UNLIKE);
            assert!(part > least, "{name}: {part}");
        }
    }

    #[test]
    fn sparse_rows_are_as_familiar_as_the_same_rows_made_dense() {
        let mut some = rows(300, 1);
        for row in 0..300 {
            some.row_mut(row).iter_mut().enumerate().for_each(|(at, value)| {
                *value *= f32::from(u8::from((row + at) % 5 == 0));
            });
        }
        let sparse = Features::Sparse(Csr::from_dense(&some));
        let dense = Features::Dense(some);
        let (a, b) = (
            Familiarity::fit(&data(sparse.clone())).unwrap().of(&sparse, &Threads::one()),
            Familiarity::fit(&data(dense.clone())).unwrap().of(&dense, &Threads::new(2).unwrap()),
        );
        // Sums in another order may move a row by a place.
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 0.02), "{a:?} {b:?}");
    }

    #[test]
    fn it_survives_a_model_file_and_refuses_a_damaged_one() {
        let found = Familiarity::fit(&data(Features::Dense(rows(100, 1)))).unwrap();
        let mut parts = Parts::new();
        found.store(&mut parts);
        assert_eq!(Familiarity::load(&parts, 60).unwrap(), Some(found));
        assert_eq!(Familiarity::load(&Parts::new(), 60).unwrap(), None);
        assert!(Familiarity::load(&parts, 61).is_err());
        parts.put("familiarity.scale", Array::F32(vec![60], vec![0.0; 60]));
        assert!(Familiarity::load(&parts, 60).is_err());
    }

    #[test]
    fn few_rows_and_few_groups_say_nothing() {
        assert!(Familiarity::fit(&data(Features::Dense(rows(39, 1)))).is_none());
        let people = (0..200).map(|row| row % 30).collect();
        assert!(
            Familiarity::fit(&data(Features::Dense(rows(200, 1))).with_groups(people).unwrap()).is_none()
        );
    }

    #[test]
    fn a_feature_that_never_differed_and_now_does_is_noticed() {
        let mut some = rows(200, 1);
        (0..200).for_each(|row| some.row_mut(row)[5] = 4.0);
        let found = Familiarity::fit(&data(Features::Dense(some.clone()))).unwrap();
        (0..200).for_each(|row| some.row_mut(row)[5] = 400_000.0);
        assert!(unlike(&found, some, UNLIKE) > 0.9);
    }
}
