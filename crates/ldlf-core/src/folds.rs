//! Which rows are for training and which for testing.

use ldlf_math::memory;
use ldlf_math::random::permutation;
use rand::RngExt;

use crate::split::SplitPart;
use crate::{Dataset, Error, Result, Seed};

/// Training rows and test rows, as row numbers from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The training rows.
    pub training: Vec<usize>,
    /// The test rows.
    pub test: Vec<usize>,
}

impl Fold {
    /// The fold whose test rows are the marked ones; the others are its training rows.
    fn testing(tested: &[bool]) -> Self {
        let (test, training) = (0..tested.len()).partition(|&row| tested[row]);
        Fold { training, test }
    }
}

/// Disjoint folds of nearly equal size by a seeded permutation; every row is tested once.
///
/// Rows of a group stay in one fold: the groups, in random order and then the largest first, each go to the fold that
/// has the fewest rows so far.
///
/// ```
/// use ldlf_core::{folds, generate};
/// let data = generate::artificial(25, 0)?;
/// let folds = folds::seeded(&data, 10, 0)?;
/// assert!(folds.iter().all(|fold| fold.test.len() == 2 || fold.test.len() == 3));
/// # Ok::<(), ldlf_core::Error>(())
/// ```
pub fn seeded(data: &Dataset, folds: usize, seed: u64) -> Result<Vec<Fold>> {
    cut(data, folds, Seed::new(seed).named("folds"))
}

/// The folds of [`seeded`] and then those of further permutations, `repeats` cross-validations in all.
pub fn repeated(data: &Dataset, folds: usize, repeats: usize, seed: u64) -> Result<Vec<Fold>> {
    let mut all = seeded(data, folds, seed)?;
    for repeat in 1..repeats {
        all.extend(cut(data, folds, Seed::new(seed).named("folds").numbered(repeat as u64))?);
    }
    Ok(all)
}

/// Divides the rows into disjoint folds.
fn cut(data: &Dataset, folds: usize, seed: Seed) -> Result<Vec<Fold>> {
    if folds < 2 {
        return Err(Error::parameter("folds", "at least 2", folds));
    }
    let blocks = shuffled_blocks(data, seed);
    if blocks.len() < folds {
        let unit = if data.groups().is_some() { "groups" } else { "rows" };
        return Err(Error::usage(format!("{} {unit} cannot make {folds} folds", blocks.len()))
            .with_remedy("ask for fewer")
            .in_data(data.name()));
    }
    let mut fold_of = vec![0; data.rows()];
    if data.groups().is_none() {
        for (place, block) in blocks.iter().enumerate() {
            fold_of[block[0]] = place * folds / blocks.len();
        }
    } else {
        let mut blocks = blocks;
        blocks.sort_by_key(|block| std::cmp::Reverse(block.len()));
        let mut sizes = vec![0; folds];
        for block in blocks {
            let smallest = (0..folds).min_by_key(|&fold| sizes[fold]).expect("there are at least two folds");
            sizes[smallest] += block.len();
            block.into_iter().for_each(|row| fold_of[row] = smallest);
        }
    }
    from_numbers(&fold_of)
}

/// The folds of a fold file: row `i` is tested in fold `numbers[i]`. Every number from 0 to the largest must occur.
pub fn from_numbers(numbers: &[usize]) -> Result<Vec<Fold>> {
    let folds = numbers.iter().max().map_or(0, |largest| largest.saturating_add(1));
    if folds < 2 {
        return Err(Error::data("the fold numbers name fewer than two folds")
            .with_remedy("give 0, 1, ... one per row"));
    }
    // A number beyond the rows leaves some fold without rows; this also keeps a huge number from exhausting the memory.
    let mut sizes = vec![0usize; folds.min(numbers.len() + 1)];
    for &number in numbers {
        if let Some(size) = sizes.get_mut(number) {
            *size += 1;
        }
    }
    if let Some(empty) = sizes.iter().position(|&size| size == 0) {
        return Err(Error::data(format!("the fold numbers go up to {} but no row has {empty}", folds - 1))
            .with_remedy("number the folds from 0 without gaps"));
    }
    // Every fold lists every row once.
    memory::check("the folds", &[("folds", folds), ("rows", numbers.len())], size_of::<usize>())?;
    let fold = |fold| Fold::testing(&numbers.iter().map(|&number| number == fold).collect::<Vec<_>>());
    Ok((0..folds).map(fold).collect())
}

/// Whether a part of a split is tested or learnt from; `None` when its name is that of no part.
pub fn is_tested(part: &str) -> Option<bool> {
    SplitPart::named(part).map(|part| part == SplitPart::Test)
}

/// The source's own split as one fold: trains on the rows marked `train` or `valid`, tests on those marked `test`.
pub fn by_split(data: &Dataset) -> Result<Vec<Fold>> {
    let fold = split_parts(data)?;
    if fold.test.is_empty() {
        return Err(Error::data("the split marks no row \"test\"").in_data(data.name()));
    }
    Ok(vec![fold])
}

/// The two sides of the source's own split, of which only the training side must have rows.
pub fn split_parts(data: &Dataset) -> Result<Fold> {
    let Some(parts) = data.split() else {
        return Err(Error::usage("there is no split").with_remedy("name its column").in_data(data.name()));
    };
    let tested = |part: &String| is_tested(part) == Some(true);
    let fold = Fold::testing(&parts.iter().map(tested).collect::<Vec<_>>());
    if fold.training.is_empty() {
        return Err(Error::data("the split marks no row \"train\"").in_data(data.name()));
    }
    Ok(fold)
}

/// The ten folds of the released experiment: `rows` row numbers drawn **with replacement**, cut to a multiple of ten;
/// consecutive tenths are the folds.
///
/// A row may be drawn several times, so that most rows of a test fold are also in the training folds: these folds
/// reproduce a published number and do not say how good a model is.
pub fn released(rows: usize, seed: u64) -> Result<Vec<Fold>> {
    if rows < 10 {
        return Err(Error::usage(format!("the released protocol needs at least 10 rows, got {rows}")));
    }
    let mut generator = Seed::new(seed).named("released folds").generator();
    let drawn: Vec<usize> = (0..rows).map(|_| generator.random_range(0..rows as u64) as usize).collect();
    let tenth = rows / 10;
    let fold = |fold: usize| {
        let (start, end) = (fold * tenth, (fold + 1) * tenth);
        Fold {
            training: [&drawn[..start], &drawn[end..10 * tenth]].concat(),
            test: drawn[start..end].to_vec(),
        }
    };
    Ok((0..10).map(fold).collect())
}

/// `repeats` independent random splits that train on the fraction `share` of the rows and test on the rest (the paper's
/// Table 3). Rows of a group stay on one side: whole groups are drawn until the fraction is reached.
pub fn random_splits(data: &Dataset, share: f64, repeats: usize, seed: u64) -> Result<Vec<Fold>> {
    if !(share > 0.0 && share < 1.0) {
        return Err(Error::usage(format!("the training share must be above 0 and below 1, got {share}")));
    }
    if repeats == 0 {
        return Err(Error::parameter("repeats", "at least 1", 0));
    }
    let wanted = ((data.rows() as f64 * share).round() as usize).max(1);
    let split = |repeat: usize| {
        let blocks = shuffled_blocks(data, Seed::new(seed).named("split").numbered(repeat as u64));
        if blocks.len() < 2 {
            let unit = if data.groups().is_some() { "group" } else { "row" };
            return Err(Error::usage(format!("one {unit} cannot be split")).in_data(data.name()));
        }
        let mut tested = vec![true; data.rows()];
        let mut count = 0;
        // The last block is tested whatever the fraction, so that there are test rows.
        for block in &blocks[..blocks.len() - 1] {
            if count >= wanted {
                break;
            }
            count += block.len();
            block.iter().for_each(|&row| tested[row] = false);
        }
        Ok(Fold::testing(&tested))
    };
    (0..repeats).map(split).collect()
}

/// Rows that must stay together, in random order: single rows, or whole groups.
fn shuffled_blocks(data: &Dataset, seed: Seed) -> Vec<Vec<usize>> {
    let mut generator = seed.generator();
    let Some(groups) = data.groups() else {
        return permutation(data.rows(), &mut generator).into_iter().map(|row| vec![row]).collect();
    };
    let mut members = std::collections::BTreeMap::<u32, Vec<usize>>::new();
    for (row, &group) in groups.iter().enumerate() {
        members.entry(group).or_default().push(row);
    }
    let mut blocks: Vec<Vec<usize>> = members.into_values().collect();
    permutation(blocks.len(), &mut generator)
        .into_iter()
        .map(|place| std::mem::take(&mut blocks[place]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Matrix};

    fn rows(n: usize) -> Dataset {
        let targets = Matrix::new(n, 1, vec![1.0; n]).unwrap();
        Dataset::new(Features::Dense(Matrix::zeros(n, 1)), targets).unwrap().named("rows")
    }

    /// People with 1, 2, ..., 12 rows each, their rows scattered.
    fn people() -> Dataset {
        let mut groups: Vec<u32> = (1..=12).flat_map(|person| vec![person; person as usize]).collect();
        let order = permutation(groups.len(), &mut Seed::new(5).generator());
        groups = order.iter().map(|&row| groups[row]).collect();
        rows(groups.len()).with_groups(groups).unwrap()
    }

    fn no_group_on_both_sides(data: &Dataset, folds: &[Fold]) -> bool {
        let groups = data.groups().unwrap();
        folds.iter().all(|fold| {
            fold.test.iter().all(|&test| fold.training.iter().all(|&other| groups[test] != groups[other]))
        })
    }

    fn tested_once(data: &Dataset, folds: &[Fold]) -> bool {
        let mut tested: Vec<usize> = folds.iter().flat_map(|fold| fold.test.clone()).collect();
        tested.sort_unstable();
        let whole = |fold: &Fold| fold.test.len() + fold.training.len() == data.rows();
        tested == (0..data.rows()).collect::<Vec<_>>() && folds.iter().all(whole)
    }

    #[test]
    fn seeded_folds_test_every_row_once() {
        let data = rows(103);
        let folds = seeded(&data, 10, 3).unwrap();
        assert!(tested_once(&data, &folds));
        assert!(folds.iter().all(|fold| (10..=11).contains(&fold.test.len())));
        assert_eq!(folds, seeded(&data, 10, 3).unwrap());
        assert_ne!(folds, seeded(&data, 10, 4).unwrap());
    }

    #[test]
    fn repeated_folds_start_with_the_seeded_ones() {
        let data = rows(40);
        let folds = repeated(&data, 4, 3, 5).unwrap();
        assert_eq!(folds[..4], seeded(&data, 4, 5).unwrap());
        assert!(folds.chunks(4).all(|repeat| tested_once(&data, repeat)));
        assert!(folds[..4] != folds[4..8] && folds[4..8] != folds[8..]);
    }

    #[test]
    fn groups_are_never_in_both_parts() {
        let data = people();
        let folds = seeded(&data, 4, 0).unwrap();
        assert!(tested_once(&data, &folds) && no_group_on_both_sides(&data, &folds));
        assert!(no_group_on_both_sides(&data, &random_splits(&data, 0.5, 5, 0).unwrap()));
    }

    #[test]
    fn folds_of_groups_are_balanced() {
        // 78 rows in four folds: 19 or 20 each would be even.
        let folds = seeded(&people(), 4, 0).unwrap();
        assert!(folds.iter().all(|fold| (17..=22).contains(&fold.test.len())));
    }

    #[test]
    fn fold_numbers_say_where_a_row_is_tested() {
        let folds = from_numbers(&[1, 0, 1]).unwrap();
        assert_eq!(folds[0], Fold { training: vec![0, 2], test: vec![1] });
        assert_eq!(folds[1], Fold { training: vec![1], test: vec![0, 2] });
        let gap = from_numbers(&[0, 2, 0]).unwrap_err().to_string();
        assert_eq!(gap, "the fold numbers go up to 2 but no row has 1; number the folds from 0 without gaps");
        assert!(from_numbers(&[0, usize::MAX - 1]).is_err() && from_numbers(&[0, 0]).is_err());
        assert!(from_numbers(&[0, usize::MAX]).is_err() && from_numbers(&[]).is_err());
    }

    #[test]
    fn the_sources_own_split_is_one_fold() {
        let data = rows(4);
        assert!(by_split(&data).is_err());
        let split = |parts: [&str; 4]| data.clone().with_split(parts.map(String::from).to_vec());
        let marked = split(["train", "test", "valid", "Test"]).unwrap();
        assert_eq!(by_split(&marked).unwrap(), [Fold { training: vec![0, 2], test: vec![1, 3] }]);
        assert_eq!(
            split(["train", "tset", "valid", "test"]).unwrap_err().to_string(),
            "rows row 2: \"tset\" is no part of a split; write train, valid or test"
        );
    }

    #[test]
    fn released_folds_are_drawn_with_replacement() {
        let folds = released(2008, 0).unwrap();
        assert_eq!(folds.len(), 10);
        assert!(folds.iter().all(|fold| fold.test.len() == 200 && fold.training.len() == 1800));
        let repeated = |fold: &Fold| fold.test.iter().filter(|&row| fold.training.contains(row)).count();
        let share = folds.iter().map(repeated).sum::<usize>() as f64 / 2000.0;
        // A row is also among the other nine tenths with probability 1 - exp(-0.9) = 0.593.
        assert!((share - 0.593).abs() < 0.03, "{share}");
        assert!(released(9, 0).is_err());
    }

    #[test]
    fn random_splits_train_on_the_fraction() {
        let splits = random_splits(&rows(50), 0.1, 3, 0).unwrap();
        assert!(splits.iter().all(|split| split.training.len() == 5 && split.test.len() == 45));
        assert!(splits[0] != splits[1] && splits[1] != splits[2]);
        assert!(random_splits(&rows(50), 1.0, 3, 0).is_err() && random_splits(&rows(1), 0.5, 1, 0).is_err());
    }

    #[test]
    fn bad_counts_are_one_sentence() {
        assert_eq!(seeded(&rows(5), 1, 0).unwrap_err().to_string(), "folds must be at least 2, got 1");
        assert_eq!(
            seeded(&rows(5), 6, 0).unwrap_err().to_string(),
            "rows: 5 rows cannot make 6 folds; ask for fewer"
        );
    }
}
