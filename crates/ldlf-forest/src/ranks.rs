//! Columns by ranks: every value becomes the normal score of its rank among the training rows.

use ldlf_core::graph::{Flow, Graph};
use ldlf_core::stored::Parts;
use ldlf_core::{Error, Result};
use ldlf_math::numeric::normal_quantile;
use ldlf_trees::regression_tree::{Sketch, Tree};
use ldlf_trees::tree_graph::add_sum;

/// Knots per column at most.
pub const KNOTS: usize = 129;

/// Of every column, values of training rows with their scores; between two of them scores are interpolated, beyond the ends they
/// stay those of the ends. A monotone map of a column changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranks {
    /// Where the knots of every column begin, and where the last end: `[columns + 1]`.
    pub starts: Vec<u32>,
    /// The values, which rise within a column.
    pub knots: Vec<f32>,
    /// The score of every knot.
    pub scores: Vec<f32>,
}

impl Ranks {
    /// No columns.
    pub fn none() -> Self {
        Ranks::default()
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Adds a column by its values in the training rows and their weights. Scores have mean 0 and deviation 1 over these rows; those
    /// of a constant column are 0.
    pub fn push(&mut self, values: &mut [(f32, f32)]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = values.iter().map(|(_, weight)| f64::from(*weight)).sum();
        // Distinct values with the weight below and at each.
        let mut distinct: Vec<(f32, f64, f64)> = Vec::new();
        let mut below = 0.0;
        for chunk in values.chunk_by(|a, b| a.0 == b.0) {
            let weight: f64 = chunk.iter().map(|(_, weight)| f64::from(*weight)).sum();
            if weight > 0.0 {
                distinct.push((chunk[0].0, below, weight));
            }
            below += weight;
        }
        let first = self.knots.len();
        if distinct.len() > 1 {
            let last = distinct.len() - 1;
            let knots = distinct.len().min(KNOTS);
            // Half of the lightest row at both ends keeps the extremes finite.
            let weights = values.iter().map(|(_, weight)| f64::from(*weight));
            let row = weights.filter(|weight| *weight > 0.0).fold(f64::INFINITY, f64::min);
            let mut scores: Vec<f64> = distinct
                .iter()
                .map(|(_, below, at)| normal_quantile((below + 0.5 * (at + row)) / (total + row)))
                .collect();
            let mean = distinct.iter().zip(&scores).map(|((_, _, w), s)| w * s).sum::<f64>() / total;
            let square =
                distinct.iter().zip(&scores).map(|((_, _, w), s)| w * (s - mean).powi(2)).sum::<f64>()
                    / total;
            let scale = 1.0 / square.sqrt().max(f64::MIN_POSITIVE);
            scores.iter_mut().for_each(|score| *score = (*score - mean) * scale);
            for knot in 0..knots {
                let place = knot * last / (knots - 1);
                self.knots.push(distinct[place].0);
                self.scores.push(scores[place] as f32);
            }
        }
        debug_assert!(self.knots.len() - first <= KNOTS);
        self.starts.push(self.knots.len() as u32);
    }

    /// Reads the ranks of so many columns from a model file.
    pub fn load(parts: &Parts, columns: usize) -> Result<Self> {
        let starts = parts.u32s("encoder.rank_starts", &[columns + 1])?;
        let &[count] = parts.shape("encoder.rank_knots")? else {
            return Err(Error::model_file("the model file's \"encoder.rank_knots\" must have one dimension"));
        };
        let ranks = Ranks {
            knots: parts.f32s("encoder.rank_knots", &[count])?,
            scores: parts.f32s("encoder.rank_scores", &[count])?,
            starts,
        };
        let cut = ranks.starts.first() == Some(&0)
            && ranks.starts.last() == Some(&(count as u32))
            && ranks.starts.windows(2).all(|pair| pair[0] <= pair[1]);
        if !cut {
            return Err(Error::model_file("the model file's \"encoder.rank_starts\" do not cut its knots"));
        }
        let rising = ranks.starts.windows(2).all(|pair| {
            ranks.knots[pair[0] as usize..pair[1] as usize].windows(2).all(|knots| knots[0] < knots[1])
        });
        if !rising {
            return Err(Error::model_file("the model file's \"encoder.rank_knots\" do not rise"));
        }
        Ok(ranks)
    }

    /// The score of a value in a column.
    #[inline]
    pub fn score(&self, column: usize, value: f32) -> f32 {
        let range = self.starts[column] as usize..self.starts[column + 1] as usize;
        let (knots, scores) = (&self.knots[range.clone()], &self.scores[range]);
        if knots.is_empty() {
            return 0.0;
        }
        let above = knots.partition_point(|&knot| knot <= value);
        if above == 0 {
            return scores[0];
        }
        if above == knots.len() {
            return scores[above - 1];
        }
        let (low, high) = (knots[above - 1], knots[above]);
        let share = (value - low) / (high - low);
        scores[above - 1] + share * (scores[above] - scores[above - 1])
    }

    /// Adds the scores of all columns to a graph: of each the knot below a value, its score and the slope from there, which grown
    /// trees look up.
    pub fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Flow {
        let (mut below, mut scores, mut slopes) = (Vec::new(), Vec::new(), Vec::new());
        for column in 0..self.columns() {
            let range = self.starts[column] as usize..self.starts[column + 1] as usize;
            let (knots, of_knots) = (&self.knots[range.clone()], &self.scores[range]);
            let last = knots.len().saturating_sub(1);
            // Pieces between the knots, one below the first and one above the last.
            let at = |piece: usize| piece.saturating_sub(1).min(last);
            let slope = |piece: usize| match piece {
                0 => 0.0,
                piece if piece > last => 0.0,
                piece => (of_knots[piece] - of_knots[piece - 1]) / (knots[piece] - knots[piece - 1]),
            };
            let pieces = if knots.is_empty() { 0..0 } else { 0..knots.len() + 1 };
            let tree = |value: &dyn Fn(usize) -> f32| lookup(column as u32, knots, pieces.clone().map(value));
            below.push(tree(&|piece| knots[at(piece)]));
            scores.push(tree(&|piece| of_knots[at(piece)]));
            slopes.push(tree(&slope));
        }
        let zeros = vec![0.0; self.columns()];
        let below = graph.within("knots", |graph| add_sum(graph, features, &below, &zeros));
        let scores = graph.within("scores", |graph| add_sum(graph, features, &scores, &zeros));
        let slopes = graph.within("slopes", |graph| add_sum(graph, features, &slopes, &zeros));
        let beyond = graph.node("Sub", "beyond", &[features, &below]);
        let rises = graph.node("Mul", "rises", &[&beyond, &slopes]);
        graph.node("Add", "ranks", &[&scores, &rises])
    }
}

/// A tree that finds the piece between two of the rising `knots` in which a column's value lies; one leaf of 0 where there is none.
fn lookup(column: u32, knots: &[f32], values: impl Iterator<Item = f32>) -> Tree {
    fn grow(sketch: &mut Sketch, node: usize, column: u32, knots: &[f32], values: &[f32]) {
        if let [value] = values {
            sketch.leaf(node)[0] = *value;
            return;
        }
        let half = values.len() / 2;
        let left = sketch.split(node, column, knots[half - 1]);
        grow(sketch, left, column, &knots[..half - 1], &values[..half]);
        grow(sketch, left + 1, column, &knots[half..], &values[half..]);
    }
    let mut values: Vec<f32> = values.collect();
    if values.is_empty() {
        values.push(0.0);
    }
    let mut sketch = Sketch::new(1);
    grow(&mut sketch, 0, column, knots, &values);
    sketch.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(values: &[f32]) -> Ranks {
        let mut ranks = Ranks::none();
        ranks.push(&mut values.iter().map(|&value| (value, 1.0)).collect::<Vec<_>>());
        ranks
    }

    #[test]
    fn a_rising_map_of_a_column_changes_no_score() {
        let values: Vec<f32> = (0..400).map(|i| ((i * 7919) % 1009) as f32 / 100.0 - 5.0).collect();
        let warped: Vec<f32> = values.iter().map(|v| v.exp()).collect();
        let (plain, mapped) = (ranks(&values), ranks(&warped));
        for knot in plain.knots.iter() {
            assert!((plain.score(0, *knot) - mapped.score(0, knot.exp())).abs() < 1e-6, "{knot}");
        }
    }

    #[test]
    fn scores_have_mean_0_and_deviation_1() {
        let values: Vec<f32> = (0..100).map(|i| (i as f32).powi(3)).collect();
        let ranks = ranks(&values);
        let scores: Vec<f64> = values.iter().map(|&v| f64::from(ranks.score(0, v))).collect();
        let mean = scores.iter().sum::<f64>() / 100.0;
        let square = scores.iter().map(|s| s * s).sum::<f64>() / 100.0;
        assert!(mean.abs() < 1e-6 && (square - 1.0).abs() < 1e-5, "{mean} {square}");
    }

    #[test]
    fn values_beyond_the_training_rows_get_the_scores_of_the_ends() {
        let ranks = ranks(&[1.0, 2.0, 4.0]);
        assert_eq!(ranks.score(0, -1e30), ranks.score(0, 1.0));
        assert_eq!(ranks.score(0, 1e30), ranks.score(0, 4.0));
    }

    #[test]
    fn a_weight_of_two_counts_as_two_copies() {
        let (mut weighted, mut copied) = (Ranks::none(), Ranks::none());
        weighted.push(&mut [(3.0, 1.0), (1.0, 2.0), (2.0, 1.0)]);
        copied.push(&mut [(1.0, 1.0), (3.0, 1.0), (1.0, 1.0), (2.0, 1.0)]);
        assert_eq!(weighted, copied);
    }

    #[test]
    fn a_constant_column_scores_0() {
        assert_eq!(ranks(&[7.0, 7.0]).score(0, 7.0), 0.0);
    }

    #[test]
    fn lookup_trees_find_the_piece_of_a_value() {
        let knots = [1.0, 2.0, 4.0];
        let tree = lookup(0, &knots, [10.0, 11.0, 12.0, 13.0].into_iter());
        let found: Vec<f32> = [0.5, 1.5, 3.0, 9.0].iter().map(|&x| tree.predict_dense(&[x])[0]).collect();
        assert_eq!(found, [10.0, 11.0, 12.0, 13.0]);
    }
}
