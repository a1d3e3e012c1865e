//! The artificial set of X. Geng, "Label Distribution Learning", IEEE TKDE 28(7), 2016, Sec. 4.1: three features that
//! determine three labels through a smooth function without noise.

use rand::RngExt;

use crate::{Dataset, Features, Matrix, Result, Schema, Seed};

/// Rows drawn uniformly from `[-1, 1]^3` with their distributions.
///
/// With `t_i = x_i + 0.5 x_i^2 + 0.2 x_i^3 + 1` and `w_1 = (4, 2, 1)`, `w_2 = (1, 2, 4)`, `w_3 = (1, 4, 2)`, the labels have
/// `psi_1 = (w_1 t)^2`, `psi_2 = (w_2 t + 0.01 psi_1)^2`, `psi_3 = (w_3 t + 0.01 psi_2)^2`, divided by their sum.
///
/// # Shapes
/// features `[rows, 3]`, targets `[rows, 3]`.
pub fn artificial(rows: usize, seed: u64) -> Result<Dataset> {
    super::at_least_one_row(rows)?;
    let seed = Seed::new(seed).named("artificial");
    let point = |row: usize| {
        let mut generator = seed.numbered(row as u64).generator();
        [(); 3].map(|()| (2.0 * generator.random::<f64>() - 1.0) as f32)
    };
    dataset((0..rows).map(point))
}

/// The 1681 test points of the same paper: `x_1` and `x_2` on a grid from -1 to 1 in steps of 0.05, and
/// `x_3 = sin(pi (x_1 + x_2))`.
pub fn artificial_grid() -> Result<Dataset> {
    let steps = || (0..=40).map(|step| f64::from(step - 20) / 20.0);
    let point = |(x1, x2): (f64, f64)| [x1, x2, ((x1 + x2) * std::f64::consts::PI).sin()].map(|x| x as f32);
    dataset(steps().flat_map(|x1| steps().map(move |x2| (x1, x2))).map(point))
}

fn dataset(points: impl Iterator<Item = [f32; 3]>) -> Result<Dataset> {
    let points: Vec<[f32; 3]> = points.collect();
    let targets: Vec<[f32; 3]> = points.iter().map(distribution).collect();
    let features = Features::Dense(Matrix::from_rows(&points));
    let names = |letter: char| (1..=3).map(|i| format!("{letter}{i}")).collect();
    Dataset::new(features, Matrix::from_rows(&targets))?.named("artificial").with_schema(Schema {
        feature_names: Some(names('x')),
        label_names: names('y'),
        ..Schema::default()
    })
}

fn distribution(x: &[f32; 3]) -> [f32; 3] {
    let t = x.map(|x| {
        let x = f64::from(x);
        x + 0.5 * x.powi(2) + 0.2 * x.powi(3) + 1.0
    });
    let dot = |w: [f64; 3]| w[0] * t[0] + w[1] * t[1] + w[2] * t[2];
    let first = dot([4.0, 2.0, 1.0]).powi(2);
    let second = (dot([1.0, 2.0, 4.0]) + 0.01 * first).powi(2);
    let third = (dot([1.0, 4.0, 2.0]) + 0.01 * second).powi(2);
    let sum = first + second + third;
    [first, second, third].map(|psi| (psi / sum) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_at_the_origin_is_that_of_a_hand_computation() {
        // t = (1, 1, 1), every product is 7: psi = 49, 7.49^2 = 56.1001, 7.561001^2 = 57.168736...
        let expected = [49.0, 56.1001, 57.168_736_122_001];
        let sum: f64 = expected.iter().sum();
        for (found, psi) in distribution(&[0.0; 3]).iter().zip(expected) {
            assert!((f64::from(*found) - psi / sum).abs() < 1e-7);
        }
    }

    #[test]
    fn the_test_grid_spans_the_square() {
        let grid = artificial_grid().unwrap();
        assert_eq!((grid.rows(), grid.features().unwrap().cols(), grid.labels()), (1681, 3, 3));
        let mut corner = [0.0; 3];
        grid.features().unwrap().copy_row_into(0, &mut corner);
        assert_eq!(corner[..2], [-1.0, -1.0]);
    }
}
