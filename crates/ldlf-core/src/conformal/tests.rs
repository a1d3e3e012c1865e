use ldlf_math::Seed;
use rand::RngExt;

use super::*;
use crate::Features;

/// Rows that are all predicted alike while their truth is drawn: `votes` from a known distribution over four labels.
fn drawn(rows: usize, seed: u64) -> (Dataset, Prediction) {
    let mut generator = Seed::new(seed).generator();
    let mut targets = Vec::new();
    let mut predicted = Vec::new();
    for _ in 0..rows {
        let lean: f32 = generator.random_range(0.0..1.0);
        predicted.extend([0.4 * lean, 0.4 * (1.0 - lean), 0.5, 0.1]);
        let noise: f32 = generator.random_range(0.0..0.3);
        let row = [0.4 * lean, 0.4 * (1.0 - lean), 0.5 - noise, 0.1 + noise];
        targets.extend(row);
    }
    let matrix = |numbers| Matrix::new(rows, 4, numbers).unwrap();
    let data = Dataset::new(Features::Dense(Matrix::zeros(rows, 1)), matrix(targets)).unwrap();
    let data = data.with_label_values(vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    (data, Prediction::Distributions(matrix(predicted)))
}

fn distributions(prediction: &Prediction) -> &Matrix<f32> {
    match prediction {
        Prediction::Distributions(p) => p,
        Prediction::Values(_) => panic!("distributions"),
    }
}

#[test]
fn values_votes_and_labels_of_new_rows_are_covered_on_average() {
    let values = [1.0, 2.0, 3.0, 4.0];
    for level in [0.5, 0.8, 0.9] {
        let (mut of_values, mut of_votes, mut of_sets) = (0.0, 0.0, 0.0);
        let trials = 200;
        for trial in 0..trials {
            let (known, predicted) = drawn(39, 2 * trial);
            let (new, p) = drawn(20, 2 * trial + 1);
            let conformal = Conformal::fit(&predicted, &known, Calibration::HeldOut).unwrap();
            let intervals = conformal.intervals(&p, &values, level).unwrap();
            let p = distributions(&p);
            let votes = conformal.vote_intervals(p, &values, level).unwrap();
            let sets = conformal.sets(p, level);
            for row in 0..new.rows() {
                let truth = new.targets().row(row);
                let y = mean(truth, &values);
                of_values += f64::from(u8::from((intervals[row].0..=intervals[row].1).contains(&y)));
                for (label, &share) in truth.iter().enumerate() {
                    let inside = (votes[row].0..=votes[row].1).contains(&values[label]);
                    of_votes += f64::from(share) * f64::from(u8::from(inside));
                    of_sets += f64::from(share) * f64::from(u8::from(sets[row][label]));
                }
            }
        }
        let rows = 20.0 * trials as f64;
        // 39 rows cover 0.5 by 20 of 40: exact but for the 4000 draws, whose standard error is below 0.015 (by trials).
        assert!((of_values / rows - level).abs() < 0.045, "{level}: {}", of_values / rows);
        assert!(of_votes / rows > level - 0.03, "{level}: {}", of_votes / rows);
        assert!(of_sets / rows > level - 0.03, "{level}: {}", of_sets / rows);
    }
}

#[test]
fn too_few_rows_give_everything() {
    let (data, p) = drawn(8, 1);
    let conformal = Conformal::fit(&p, &data, Calibration::HeldOut).unwrap();
    let values = [1.0, 2.0, 3.0, 4.0];
    assert!(conformal.intervals(&p, &values, 0.9).unwrap().iter().all(|ends| *ends == (1.0, 4.0)));
    assert!(
        conformal
            .vote_intervals(distributions(&p), &values, 0.9)
            .unwrap()
            .iter()
            .all(|ends| *ends == (1.0, 4.0))
    );
    assert!(conformal.sets(distributions(&p), 0.9).iter().flatten().all(|inside| *inside));
}

#[test]
fn a_group_counts_as_one_row_however_many_it_has() {
    let (data, p) = drawn(30, 1);
    let lone = Conformal::fit(&p, &data, Calibration::HeldOut).unwrap();
    // The same thirty rows, the first of them ten times.
    let copied: Vec<usize> = (0..30).chain([0; 9]).collect();
    let groups = copied.iter().map(|&row| row as u32).collect();
    let many = data.select(&copied).with_groups(groups).unwrap();
    let p = Prediction::Distributions(distributions(&p).select(&copied));
    let grouped = Conformal::fit(&p, &many, Calibration::HeldOut).unwrap();
    assert_eq!((lone.units, grouped.units), (30, 30));
    for level in [0.3, 0.5, 0.8, 0.95] {
        let ladder = |conformal: &Conformal| conformal.value.as_ref().unwrap().threshold(level);
        assert_eq!(ladder(&lone), ladder(&grouped), "{level}");
    }
}

#[test]
fn plain_values_have_intervals_of_one_width() {
    let (data, _) = drawn(19, 1);
    let means: Vec<f64> =
        data.targets().iter_rows().map(|row| mean(row, &[1.0, 2.0, 3.0, 4.0]) + 0.25).collect();
    let conformal = Conformal::fit(&Prediction::Values(means), &data, Calibration::HeldOut).unwrap();
    let found = conformal.intervals(&Prediction::Values(vec![2.5, 3.9]), &[1.0, 2.0, 3.0, 4.0], 0.9).unwrap();
    let close = |a: f64, b: f64| (a - b).abs() < 1e-6;
    assert!(
        close(found[0].0, 2.25) && close(found[0].1, 2.75) && close(found[1].0, 3.65) && found[1].1 == 4.0
    );
}

#[test]
fn rows_without_weight_tell_nothing() {
    let (data, p) = drawn(10, 1);
    let weights = (0..10).map(|row| f32::from(u8::from(row < 5))).collect();
    let half = data.select(&[0, 1, 2, 3, 4]);
    let first = Prediction::Distributions(distributions(&p).select(&[0, 1, 2, 3, 4]));
    let weighed = data.with_weights(weights).unwrap();
    let fit = |p: &Prediction, data: &Dataset| Conformal::fit(p, data, Calibration::HeldOut);
    assert_eq!(fit(&p, &weighed), fit(&first, &half));
}

#[test]
fn it_survives_a_model_file() {
    let (data, p) = drawn(30, 1);
    let conformal = Conformal::fit(&p, &data, Calibration::OutOfFold).unwrap();
    let mut parts = Parts::new();
    let stored = conformal.store(&mut parts);
    let parts = Parts::from_bytes(&parts.to_bytes().unwrap()).unwrap();
    assert_eq!(Conformal::load(&parts, stored).unwrap(), conformal);
}

#[test]
fn a_damaged_ladder_is_refused() {
    let mut parts = Parts::new();
    parts.put("conformal.set", crate::stored::Array::F64(vec![2, 2], vec![1.0, 0.5, 0.2, 0.3]));
    let stored = StoredConformal { calibration: Calibration::HeldOut, units: 2 };
    let error = Conformal::load(&parts, stored).unwrap_err().to_string();
    assert_eq!(error, "the model file's \"conformal.set\" does not rise from step to step");
}

#[test]
fn levels_are_between_0_and_1() {
    assert!(check_level(0.9).is_ok());
    assert_eq!(check_level(1.0).unwrap_err().to_string(), "level must be above 0 and below 1, got 1");
}
