//! What a dataset refuses, and what it keeps when its parts are replaced.

use ldlf_core::{Dataset, Error, Features, Images, Inputs, Matrix, Result, Schema};

fn features(rows: usize, columns: usize) -> Features {
    Features::Dense(Matrix::zeros(rows, columns))
}

fn targets() -> Matrix<f32> {
    Matrix::from_rows(&[[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
}

/// Three rows of two features and two labels, called `votes`.
fn votes() -> Dataset {
    Dataset::new(features(3, 2), targets()).unwrap().named("votes")
}

fn images() -> Images {
    Images::named(["a.png", "b.png", "c.png"].map(String::from).to_vec())
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

fn refusal(result: Result<Dataset>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn inputs_and_targets_that_do_not_fit_are_refused_by_name() {
    let short = || features(2, 2);
    assert_eq!(refusal(Dataset::new(short(), targets())), "data: 2 rows of features but 3 rows of labels");
    assert_eq!(
        refusal(Dataset::new_named("movies", short(), targets())),
        "movies: 2 rows of features but 3 rows of labels"
    );
    assert_eq!(
        refusal(Dataset::new(images().select(&[0]), targets())),
        "data: 1 images but 3 rows of labels"
    );
    assert_eq!(refusal(votes().with_inputs(short())), "votes: 2 rows of features but 3 rows of labels");
    let odd = Features::Dense(Matrix::from_rows(&[[0.0], [1.0], [f32::NAN]]));
    assert_eq!(refusal(votes().with_inputs(odd)), "votes row 3: a feature is not a finite number");
    assert_eq!(
        refusal(votes().with_targets(Matrix::from_rows(&[[0.5, 0.5], [0.5, 0.75], [1.0, 0.0]]))),
        "votes row 2: the labels are not a distribution (non-negative, summing to 1; the sum is 1.25)"
    );
    assert_eq!(refusal(Dataset::new(features(3, 2), Matrix::zeros(3, 0))), "data: no label columns");
}

#[test]
fn what_belongs_to_rows_must_be_there_for_every_row() {
    assert_eq!(refusal(votes().with_weights(vec![1.0; 2])), "votes: 2 sample weights for 3 rows");
    assert_eq!(refusal(votes().with_weights(vec![0.0; 3])), "votes: every sample weight is 0");
    assert!(votes().with_weights_of_a_part(vec![0.0; 3]).is_ok());
    assert_eq!(
        refusal(votes().with_weights(vec![1.0, -1.0, 1.0])),
        "votes row 2: the sample weight -1 is not a finite number of at least 0"
    );
    assert_eq!(refusal(votes().with_groups(vec![1; 4])), "votes: 4 groups for 3 rows");
    assert_eq!(refusal(votes().with_split(texts(&["train"]))), "votes: 1 values of the split for 3 rows");
    assert_eq!(
        refusal(votes().with_split(texts(&["train", "Val", "tset"]))),
        "votes row 3: \"tset\" is no part of a split; write train, valid or test"
    );
    assert_eq!(refusal(votes().with_truth(vec![1.0])), "votes: 1 single labels for 3 rows");
    assert_eq!(
        refusal(votes().with_truth(vec![1.0, f64::INFINITY, 1.0])),
        "votes row 2: the single label inf is not a finite number"
    );
}

#[test]
fn names_and_values_of_columns_must_fit_the_columns() {
    assert_eq!(refusal(votes().with_label_names(texts(&["a"]))), "votes: 1 label names for 2 labels");
    assert_eq!(
        refusal(votes().with_label_names(texts(&["a", "a"]))),
        "votes: the label name \"a\" stands twice"
    );
    assert_eq!(
        refusal(votes().with_label_values(vec![2.0, 1.0])),
        "label values must rise strictly, got 2 before 1"
    );
    assert_eq!(refusal(votes().with_label_values(vec![1.0])), "votes: 1 label values for 2 labels");
    let named = |names: &[&str]| {
        let schema = Schema { feature_names: Some(texts(names)), ..votes().schema().clone() };
        votes().with_schema(schema)
    };
    assert_eq!(refusal(named(&["x"])), "votes: 1 feature names for 2 features");
    let data = named(&["x", "y"]).unwrap();
    assert_eq!(
        data.clone().with_inputs(features(3, 2)).unwrap().schema().feature_names,
        Some(texts(&["x", "y"]))
    );
    assert_eq!(data.with_inputs(features(3, 1)).unwrap().schema().feature_names, None);
}

#[test]
fn other_labels_come_without_the_names_and_values_of_the_old_ones() {
    let data = votes().with_label_values(vec![1.0, 2.0]).unwrap();
    let same = data.clone().with_targets(targets()).unwrap();
    assert_eq!(same.schema().label_values, Some(vec![1.0, 2.0]));
    let more = data.with_targets(Matrix::from_rows(&[[0.5, 0.25, 0.25]; 3])).unwrap();
    assert_eq!((more.labels(), &more.schema().label_values), (3, &None));
    assert_eq!(more.schema().label_names, ["label_0", "label_1", "label_2"]);
}

#[test]
fn rows_that_are_images_have_no_features() {
    let data = Dataset::new(images(), targets()).unwrap();
    assert_eq!(data.schema().image_column.as_deref(), Some("file"));
    assert_eq!((data.inputs().rows(), data.inputs().cols()), (3, 0));
    let refused = data.features().unwrap_err();
    assert!(matches!(&refused, Error::Usage(_)) && refused.to_string().starts_with("the rows are images"));
    let named = Schema { image_column: Some("photo".into()), ..data.schema().clone() };
    let photos = data.clone().with_schema(named.clone()).unwrap();
    assert_eq!(photos.schema().image_column.as_deref(), Some("photo"));
    assert_eq!(photos.with_inputs(features(3, 2)).unwrap().schema().image_column, None);
    assert_eq!(refusal(votes().with_schema(named)), "votes: a column of images for a table of features");
}

#[test]
fn whatever_reads_the_other_kind_of_inputs_is_told_in_a_sentence() {
    let (table, images) = (Inputs::from(features(3, 2)), Inputs::from(images()));
    assert!(table.table().is_ok() && images.images().is_ok());
    assert_eq!(
        table.images().unwrap_err().to_string(),
        "the rows are a table of features where images are needed; give a folder or a zip file of images"
    );
    assert_eq!(
        table.kind().check(images.kind()).unwrap_err().to_string(),
        images.table().unwrap_err().to_string()
    );
    assert_eq!(
        images.kind().check(table.kind()).unwrap_err().to_string(),
        table.images().unwrap_err().to_string()
    );
}

#[test]
fn chosen_rows_keep_all_that_belongs_to_them() {
    let data = Dataset::new(images(), targets())
        .unwrap()
        .with_weights(vec![1.0, 2.0, 3.0])
        .and_then(|data| data.with_groups(vec![7, 8, 9]))
        .and_then(|data| data.with_truth(vec![0.5, 1.5, 2.5]))
        .and_then(|data| data.with_split(texts(&["train", "valid", "test"])))
        .unwrap();
    let chosen = data.select(&[2, 0]);
    assert_eq!(chosen.inputs().images().unwrap().names().collect::<Vec<_>>(), ["c.png", "a.png"]);
    assert_eq!((chosen.weights(), chosen.groups()), (Some(&[3.0, 1.0][..]), Some(&[9, 7][..])));
    assert_eq!(
        (chosen.truth(), chosen.split()),
        (Some(&[2.5, 0.5][..]), Some(&texts(&["test", "train"])[..]))
    );
}
