//! The theorems of the paper's Section 3 as tests of the head, at double precision.

use ldlf_core::{Seed, Threads};
use ldlf_forest::head::{Block, Examples, Given, Head, LeafUpdate};
use ldlf_forest::kernel::ROWS;
use ldlf_forest::leaves::LeafPrior;
use ldlf_forest::loss::LossForm;
use ldlf_forest::tree_shape::ForestShape;
use ldlf_math::product::View;
use ldlf_math::random::{Generator, normal};
use proptest::prelude::*;
use rand::RngExt;

/// A random forest head with random leaves, activations and targets (some entries exactly zero).
struct Case {
    head: Head<f64>,
    activations: Vec<f64>,
    targets: Vec<f64>,
    rows: usize,
}

fn distribution(labels: usize, zeros: f64, generator: &mut Generator) -> Vec<f64> {
    loop {
        let draw: Vec<f64> = (0..labels)
            .map(|_| {
                if generator.random::<f64>() < zeros { 0.0 } else { -(1.0 - generator.random::<f64>()).ln() }
            })
            .collect();
        let sum: f64 = draw.iter().sum();
        if sum > 0.0 {
            return draw.iter().map(|v| v / sum).collect();
        }
    }
}

fn case(shape: ForestShape, rows: usize, steep: f64, zeros: f64, seed: u64) -> Case {
    let mut generator = Seed::new(seed).named("case").generator();
    let mut head = Head::new(shape, Seed::new(seed)).unwrap();
    for leaf in head.leaves_mut().chunks_exact_mut(shape.labels) {
        leaf.copy_from_slice(&distribution(shape.labels, zeros / 2.0, &mut generator));
    }
    let activations = (0..rows * shape.units).map(|_| steep * normal(&mut generator)).collect();
    let targets = (0..rows).flat_map(|_| distribution(shape.labels, zeros, &mut generator)).collect();
    Case { head, activations, targets, rows }
}

impl Case {
    fn view(&self) -> View<'_, f64> {
        View::row_major(&self.activations, self.rows, self.head.shape().units)
    }

    fn examples<'a>(&'a self, weights: Option<&'a [f64]>) -> Examples<'a, f64> {
        Examples {
            targets: &self.targets,
            labels: self.head.shape().labels,
            weights,
            rows: None,
            leave_out: None,
        }
    }

    fn loss(&self, weights: Option<&[f64]>) -> f64 {
        let mut unused = vec![0.0; self.activations.len()];
        self.head.loss_and_grad(self.view(), &self.examples(weights), &mut unused)
    }

    /// This case with the leaves moved.
    fn updated(&self, weights: Option<&[f64]>, update: &LeafUpdate) -> Head<f64> {
        let mut head = self.head.clone();
        head.update_leaves(&Given(self.view()), &self.examples(weights), update, &Threads::one());
        head
    }
}

/// Eqn. 1, 2, 3 and the average over trees, written out without any of the library's kernels.
fn loss_by_the_book(case: &Case) -> f64 {
    let shape = *case.head.shape();
    let (leaves, splits, labels) = (shape.leaves(), shape.splits(), shape.labels);
    let mut total = 0.0;
    for row in 0..case.rows {
        for tree in 0..shape.trees {
            let mut output = vec![0.0; labels];
            for leaf in 0..leaves {
                let mut share = 1.0;
                let mut node = leaf + splits;
                while node > 0 {
                    let parent = (node - 1) / 2;
                    let unit = case.head.units()[tree * splits + parent] as usize;
                    let s = 1.0 / (1.0 + (-case.activations[row * shape.units + unit]).exp());
                    share *= if node == 2 * parent + 1 { s } else { 1.0 - s };
                    node = parent;
                }
                for (label, g) in output.iter_mut().enumerate() {
                    *g += share * case.head.leaves()[(tree * leaves + leaf) * labels + label];
                }
            }
            for (label, g) in output.iter().enumerate() {
                let d = case.targets[row * labels + label];
                if d > 0.0 {
                    total -= d * g.max(1e-290).ln();
                }
            }
        }
    }
    total / (case.rows * shape.trees) as f64
}

/// The loss in any form and its gradient, block by block as a training computes it.
fn loss_in_blocks(
    case: &Case,
    form: LossForm,
    trees: std::ops::Range<usize>,
    scale: f64,
    gradient: &mut [f64],
) -> f64 {
    let units = case.head.shape().units;
    let mut block = Block::new(case.head.shape());
    let mut loss = 0.0;
    for (index, gradient) in gradient.chunks_mut(ROWS * units).enumerate() {
        let (first, count) = (index * ROWS, gradient.len() / units);
        block.load_activations(case.view().transposed(), first, count);
        block.load_examples(&case.examples(None), first, count);
        loss += case.head.learn_block(&mut block, form, trees.clone(), scale);
        block.store_gradient(gradient);
    }
    loss
}

fn shapes() -> impl Strategy<Value = ForestShape> {
    (1usize..4, 1usize..6, 0usize..5, 1usize..8).prop_map(|(trees, depth, extra, labels)| ForestShape {
        trees,
        depth,
        units: ((1usize << (depth - 1)) - 1 + extra).max(1),
        labels,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_loss_is_that_of_the_paper(shape in shapes(), rows in 1usize..140, seed in 0u64..1000) {
        let case = case(shape, rows, 2.0, 0.3, seed);
        let (found, expected) = (case.loss(None), loss_by_the_book(&case));
        prop_assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{found} {expected}");
    }

    #[test]
    fn the_gradient_meets_a_fourth_order_finite_difference(shape in shapes(), seed in 0u64..1000) {
        // Leaves without zeros: at the floor of the logarithm the loss has a kink.
        let mut case = case(shape, 3, 1.5, 0.0, seed);
        let mut gradient = vec![0.0; case.activations.len()];
        case.head.loss_and_grad(case.view(), &case.examples(None), &mut gradient);
        let step = 1e-3;
        for (place, &found) in gradient.iter().enumerate() {
            let centre = case.activations[place];
            let mut at = |offset: f64| {
                case.activations[place] = centre + offset * step;
                let loss = case.loss(None);
                case.activations[place] = centre;
                loss
            };
            let difference = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
            prop_assert!((found - difference).abs() < 5e-6 * difference.abs() + 1e-10, "{found} {difference}");
        }
    }

    #[test]
    fn the_loss_of_the_trees_mean_follows_from_the_predictions(shape in shapes(), rows in 1usize..70, seed in 0u64..1000) {
        let case = case(shape, rows, 1.5, 0.0, seed);
        let mut predicted = vec![0.0; case.targets.len()];
        case.head.predict(case.view(), &mut predicted);
        let expected: f64 = -case.targets.iter().zip(&predicted).map(|(d, p)| d * p.ln()).sum::<f64>() / rows as f64;
        // L = -1/N sum d ln p, so that its slope in p is -d / (N p).
        let above: Vec<f64> = case.targets.iter().zip(&predicted).map(|(d, p)| -d / (p * rows as f64)).collect();
        let mut slopes = vec![0.0; case.activations.len()];
        case.head.predict_grad(case.view(), &above, &mut slopes);
        let mut gradient = vec![0.0; case.activations.len()];
        let (trees, scale) = (0..shape.trees, 1.0 / rows as f64);
        let loss = loss_in_blocks(&case, LossForm::Forest, trees, scale, &mut gradient);
        prop_assert!((loss - expected).abs() < 1e-12 * expected.abs().max(1.0), "{loss} {expected}");
        for (found, slope) in gradient.iter().zip(&slopes) {
            prop_assert!((found - slope).abs() < 1e-12, "{found} {slope}");
        }
    }

    #[test]
    fn the_gradient_of_predictions_meets_a_fourth_order_finite_difference(shape in shapes(), seed in 0u64..1000) {
        let mut case = case(shape, 3, 1.5, 0.3, seed);
        let above = std::mem::take(&mut case.targets);
        let mut gradient = vec![0.0; case.activations.len()];
        case.head.predict_grad(case.view(), &above, &mut gradient);
        let step = 1e-3;
        for (place, &found) in gradient.iter().enumerate() {
            let centre = case.activations[place];
            let mut at = |offset: f64| {
                case.activations[place] = centre + offset * step;
                let mut predicted = vec![0.0; above.len()];
                case.head.predict(case.view(), &mut predicted);
                case.activations[place] = centre;
                predicted.iter().zip(&above).map(|(p, v)| p * v).sum::<f64>()
            };
            let difference = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
            prop_assert!((found - difference).abs() < 5e-6 * difference.abs() + 1e-10, "{found} {difference}");
        }
    }

    #[test]
    fn the_leaf_update_never_raises_the_loss(
        shape in shapes(),
        rows in 1usize..200,
        seed in 0u64..1000,
        steep in 0.5f64..30.0,
        strength in prop_oneof![Just(0.0), 0.01f64..3.0],
    ) {
        let mut case = case(shape, rows, steep, 0.4, seed);
        let labels = shape.labels;
        let mut base = vec![0.0; labels];
        for target in case.targets.chunks(labels) {
            base.iter_mut().zip(target).for_each(|(b, d)| *b += d / rows as f64);
        }
        let update = LeafUpdate { iterations: 1, prior: LeafPrior { strength, base: base.clone() } };
        let penalised = |case: &Case| {
            let leaves = case.head.leaves().chunks(labels);
            let penalty: f64 = leaves
                .flat_map(|leaf| leaf.iter().zip(&base))
                .filter(|(_, b)| **b > 0.0)
                .map(|(q, b)| -strength * b * q.max(1e-300).ln())
                .sum();
            // Every tree's own loss is minimised: N K R_F = sum of N R_T.
            case.loss(None) * (rows * shape.trees) as f64 + penalty
        };
        let mut before = penalised(&case);
        for _ in 0..4 {
            case.head = case.updated(None, &update);
            let after = penalised(&case);
            prop_assert!(after <= before + 1e-9 * before.abs().max(1.0), "{before} -> {after}");
            for leaf in case.head.leaves().chunks(labels) {
                prop_assert!((leaf.iter().sum::<f64>() - 1.0).abs() < 1e-9 && leaf.iter().all(|q| *q >= 0.0));
            }
            before = after;
        }
    }

    #[test]
    fn predictions_are_distributions_and_the_mean_of_the_routed_leaves(
        shape in shapes(), rows in 1usize..100, seed in 0u64..1000,
    ) {
        let case = case(shape, rows, 3.0, 0.3, seed);
        let (labels, leaves) = (shape.labels, shape.trees * shape.leaves());
        let mut predicted = vec![0.0; rows * labels];
        case.head.predict(case.view(), &mut predicted);
        let shares = case.head.route(case.view());
        for row in 0..rows {
            let own = &predicted[row * labels..(row + 1) * labels];
            prop_assert!((own.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for (label, &p) in own.iter().enumerate() {
                let mixed: f64 = (0..leaves)
                    .map(|leaf| shares[row * leaves + leaf] * case.head.leaves()[leaf * labels + label])
                    .sum();
                prop_assert!((p - mixed / shape.trees as f64).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_weight_of_w_equals_w_copies(shape in shapes(), seed in 0u64..1000) {
        let single = case(shape, 3, 1.0, 0.2, seed);
        let weights = [2.0, 1.0, 3.0];
        let copies = [0usize, 0, 1, 2, 2, 2];
        let repeat = |values: &[f64], width: usize| -> Vec<f64> {
            copies.iter().flat_map(|&row| values[row * width..(row + 1) * width].to_vec()).collect()
        };
        let copied = Case {
            head: single.head.clone(),
            activations: repeat(&single.activations, shape.units),
            targets: repeat(&single.targets, shape.labels),
            rows: copies.len(),
        };
        let (a, b) = (single.loss(Some(&weights)), copied.loss(None));
        prop_assert!((a - b).abs() < 1e-12 * a.abs().max(1.0), "{a} {b}");
        let base = vec![1.0 / shape.labels as f64; shape.labels];
        let update = LeafUpdate { iterations: 3, prior: LeafPrior { strength: 0.5, base } };
        let (weighted, repeated) = (single.updated(Some(&weights), &update), copied.updated(None, &update));
        for (x, y) in weighted.leaves().iter().zip(repeated.leaves()) {
            prop_assert!((x - y).abs() < 1e-12, "{x} {y}");
        }
    }

    #[test]
    fn relabelling_commutes_with_the_leaf_update(shape in shapes(), seed in 0u64..1000) {
        let plain = case(shape, 40, 2.0, 0.2, seed);
        let labels = shape.labels;
        let turn = |values: &[f64]| -> Vec<f64> {
            values.chunks(labels).flat_map(|row| row.iter().rev().copied().collect::<Vec<_>>()).collect()
        };
        let mut turned = Case {
            head: plain.head.clone(),
            activations: plain.activations.clone(),
            targets: turn(&plain.targets),
            rows: plain.rows,
        };
        turned.head.leaves_mut().copy_from_slice(&turn(plain.head.leaves()));
        let update = LeafUpdate { iterations: 5, prior: LeafPrior { strength: 0.0, base: vec![0.0; labels] } };
        let (a, b) = (plain.updated(None, &update), turned.updated(None, &update));
        for (x, y) in turn(a.leaves()).iter().zip(b.leaves()) {
            prop_assert!((x - y).abs() < 1e-12, "{x} {y}");
        }
    }
}

#[test]
fn the_leaf_update_gives_the_same_bits_on_any_number_of_threads() {
    let shape = ForestShape { trees: 3, depth: 4, units: 9, labels: 5 };
    let case = case(shape, 5000, 2.0, 0.3, 7);
    let update = LeafUpdate { iterations: 5, prior: LeafPrior { strength: 1.0, base: vec![0.2; 5] } };
    let leaves = |threads| {
        let mut head = case.head.clone();
        let threads = Threads::new(threads).unwrap();
        head.update_leaves(&Given(case.view()), &case.examples(None), &update, &threads);
        head.leaves().to_vec()
    };
    assert_eq!(leaves(1), leaves(2));
    assert_eq!(leaves(1), leaves(5));
}

#[test]
fn one_leaf_update_by_hand() {
    // One tree of two leaves, one unit with activation 0: every row goes half left, half right.
    let shape = ForestShape { trees: 1, depth: 2, units: 1, labels: 2 };
    let mut head = Head::<f64>::new(shape, Seed::new(0)).unwrap();
    head.leaves_mut().copy_from_slice(&[0.8, 0.2, 0.4, 0.6]);
    let case = Case { head, activations: vec![0.0], targets: vec![1.0, 0.0], rows: 1 };
    let prior = LeafPrior { strength: 1.0, base: vec![0.5, 0.5] };
    let moved = case.updated(None, &LeafUpdate { iterations: 1, prior });
    // xi_left = 0.5 * 0.8 / 0.6 = 2/3, xi_right = 1/3; half a count more for each label.
    let (left, right) = (2.0 / 3.0 + 1.0, 1.0 / 3.0 + 1.0);
    let expected = [(2.0 / 3.0 + 0.5) / left, 0.5 / left, (1.0 / 3.0 + 0.5) / right, 0.5 / right];
    for (found, expected) in moved.leaves().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

#[test]
fn a_dead_leaf_keeps_its_distribution_without_a_prior() {
    let shape = ForestShape { trees: 1, depth: 2, units: 1, labels: 2 };
    let head = Head::<f64>::new(shape, Seed::new(0)).unwrap();
    // An activation of 1000 sends everything to the left.
    let case = Case { head, activations: vec![1e3], targets: vec![0.9, 0.1], rows: 1 };
    let prior = LeafPrior { strength: 0.0, base: vec![0.5, 0.5] };
    let moved = case.updated(None, &LeafUpdate { iterations: 3, prior });
    assert_eq!(moved.leaves()[2..], [0.5, 0.5]);
    assert!((moved.leaves()[0] - 0.9).abs() < 1e-12);
}
