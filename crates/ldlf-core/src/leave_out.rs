//! Groups of rows, of which every tree leaves one out: what makes out-of-fold predictions in a single fit.

use ldlf_math::random::permutation;
use rand::RngExt;

use crate::{Dataset, Seed};

/// The group of every row. Tree `k` learns nothing from the rows of group `k mod count`, so that it predicts them honestly.
#[derive(Clone, Debug, PartialEq)]
pub struct RowGroups {
    of_row: Vec<u32>,
    count: u32,
}

impl RowGroups {
    /// Draws groups of equal sizes; rows that belong together (a person's) share one.
    pub fn draw(data: &Dataset, count: usize, seed: Seed) -> Self {
        let mut generator = seed.named("leave out").generator();
        let mut of_row = vec![0; data.rows()];
        match data.groups() {
            None => permutation(data.rows(), &mut generator)
                .into_iter()
                .enumerate()
                .for_each(|(place, row)| of_row[row] = (place % count) as u32),
            Some(together) => {
                let mut names = together.to_vec();
                names.sort_unstable();
                names.dedup();
                let mut rows_of = vec![0usize; names.len()];
                let place_of = |name: &u32| names.binary_search(name).expect("every name is listed");
                together.iter().for_each(|name| rows_of[place_of(name)] += 1);
                // In random order, each to the group with the fewest rows so far.
                let (mut sizes, mut group_of) = (vec![0usize; count], vec![0u32; names.len()]);
                for place in permutation(names.len(), &mut generator) {
                    let smallest = (0..count).min_by_key(|&group| sizes[group]).unwrap_or(0);
                    sizes[smallest] += rows_of[place];
                    group_of[place] = smallest as u32;
                }
                of_row.iter_mut().zip(together).for_each(|(group, name)| *group = group_of[place_of(name)]);
            }
        }
        RowGroups { of_row, count: count as u32 }
    }

    /// Draws the group of every row by its number among all rows, or by what it belongs to: for rows in several places, of which no one
    /// has a count.
    pub fn draw_by_number(data: &Dataset, first_row: u64, count: usize, seed: Seed) -> Self {
        let seed = seed.named("leave out");
        let number =
            |row: usize| data.groups().map_or(first_row + row as u64, |groups| u64::from(groups[row]));
        let draw = |row: usize| {
            let mut generator = seed.numbered(number(row)).generator();
            generator.random_range(0..count.max(1) as u64) as u32
        };
        RowGroups { of_row: (0..data.rows()).map(draw).collect(), count: count as u32 }
    }

    /// The group of every row, in the order of the rows.
    pub fn of_rows(&self) -> &[u32] {
        &self.of_row
    }

    /// How many groups there are.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The group of a row.
    pub fn of(&self, row: usize) -> usize {
        self.of_row[row] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Matrix};

    fn data(rows: usize) -> Dataset {
        let features = Features::Dense(Matrix::new(rows, 1, vec![0.0; rows]).unwrap());
        Dataset::new(features, Matrix::new(rows, 1, vec![1.0; rows]).unwrap()).unwrap()
    }

    #[test]
    fn groups_differ_in_size_by_at_most_one() {
        let groups = RowGroups::draw(&data(23), 5, Seed::new(1));
        let sizes: Vec<usize> =
            (0..5).map(|group| (0..23).filter(|&row| groups.of(row) == group).count()).collect();
        assert!(sizes.iter().all(|size| (4..=5).contains(size)), "{sizes:?}");
    }

    #[test]
    fn rows_of_a_person_share_a_group() {
        let people: Vec<u32> = (0..40).map(|row| row % 13).collect();
        let groups = RowGroups::draw(&data(40).with_groups(people.clone()).unwrap(), 4, Seed::new(1));
        for (row, person) in people.iter().enumerate() {
            assert_eq!(groups.of(row), groups.of(*person as usize), "row {row}");
        }
        let used = (0..40).map(|row| groups.of(row)).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(used.len(), 4, "every group has rows");
    }
}
