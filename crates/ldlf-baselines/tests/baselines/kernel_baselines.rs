//! What holds for every baseline that compares rows or moments: valid distributions, the same bytes on any number of threads,
//! models that are loaded unchanged, sparse rows that equal dense rows.

use ldlf_core::Threads;
use ldlf_math::numeric::on_simplex;

use crate::support::*;

const BASELINES: [&str; 5] = ["aa-knn", "kernel-ridge", "ldsvr", "pt-bayes", "pt-svm"];

#[test]
fn predictions_are_distributions() {
    let (data, test) = (smooth_rows(120, 1), smooth_rows(40, 2));
    for name in BASELINES {
        let predicted = predict(&fit(name, &[], &data, &Threads::one()).unwrap(), test.inputs());
        assert!(predicted.iter_rows().all(|row| on_simplex(row, 1e-5)), "{name}");
    }
}

#[test]
fn a_reloaded_model_predicts_the_same() {
    let (data, test) = (smooth_rows(120, 1), smooth_rows(40, 2));
    for name in BASELINES {
        let model = fit(name, &[], &data, &Threads::one()).unwrap();
        let again = predict(&reloaded(&model).unwrap(), test.inputs());
        assert_eq!(again, predict(&model, test.inputs()), "{name}");
    }
}

#[test]
fn nothing_depends_on_the_number_of_threads() {
    let data = smooth_rows(300, 1);
    let two = Threads::new(2).unwrap();
    for name in BASELINES {
        let model = fit(name, &[], &data, &Threads::one()).unwrap();
        assert!(bytes(&model) == bytes(&fit(name, &[], &data, &two).unwrap()), "{name}");
        let on_two = model.predict_with(data.inputs(), &two).unwrap().into_distributions().unwrap();
        assert_eq!(on_two, predict(&model, data.inputs()), "{name}");
    }
}

#[test]
fn sparse_rows_mean_what_dense_rows_mean() {
    let (data, test) = (smooth_rows(150, 1), smooth_rows(40, 2));
    let stored = data.clone().with_inputs(sparse(data.features().unwrap())).unwrap();
    for name in BASELINES {
        // Scaling moves the zeros of dense rows and keeps those of sparse ones.
        let scales = (entry(name).parameters)().iter().any(|parameter| parameter.name == "scaling");
        let settings: &[&str] = if scales { &["scaling=raw"] } else { &[] };
        let dense = fit(name, settings, &data, &Threads::one()).unwrap();
        let model = fit(name, settings, &stored, &Threads::one()).unwrap();
        let expected = predict(&dense, test.inputs());
        assert!(
            largest_difference(&predict(&model, &sparse(test.features().unwrap()).into()), &expected) < 1e-3,
            "{name}"
        );
        assert!(largest_difference(&predict(&model, test.inputs()), &expected) < 1e-3, "{name}");
    }
}

#[test]
fn every_baseline_is_better_than_the_mean() {
    let (data, test) = (smooth_rows(400, 1), smooth_rows(200, 2));
    let mean: Vec<f32> = data.mean_target().iter().map(|&p| p as f32).collect();
    let constant = ldlf_core::Matrix::new(test.rows(), 3, mean.repeat(test.rows())).unwrap();
    let of_mean = mean_kl(test.targets(), &constant);
    for name in BASELINES {
        let model = fit(name, &[], &data, &Threads::one()).unwrap();
        let reached = mean_kl(test.targets(), &predict(&model, test.inputs()));
        assert!(reached < 0.7 * of_mean, "{name}: {reached}, the mean gives {of_mean}");
    }
}

#[test]
fn a_damaged_model_file_is_refused() {
    let data = smooth_rows(40, 1);
    for name in BASELINES {
        let model = fit(name, &[], &data, &Threads::one()).unwrap();
        let whole = model.to_parts();
        for lost in whole.arrays().map(|(name, _)| name.to_string()) {
            let mut parts = ldlf_core::stored::Parts::new();
            parts.details = whole.details.clone();
            whole
                .arrays()
                .filter(|(name, _)| *name != lost)
                .for_each(|(name, array)| parts.put(name, array.clone()));
            let refused = ldlf_core::TrainedModel::from_parts(parts, &ldlf_baselines::entries());
            assert!(matches!(refused, Err(ldlf_core::Error::ModelFile(_))), "{name} without {lost}");
        }
    }
}
