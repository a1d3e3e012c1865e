//! Folders that are cut by columns, as Spark, Hive, Dask and pyarrow write them.

use ldlf_core::Dataset;
use ldlf_core::mean::Mean;
use ldlf_io::for_model::stream_for_model;
use ldlf_io::read::{ReadOptions, is_folder_of_tables, read};
use tempfile::TempDir;

fn write(folder: &TempDir, name: &str, content: &str) {
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn votes() -> ReadOptions {
    ReadOptions { labels: vec!["no".into(), "yes".into()], ..ReadOptions::default() }
}

/// Four rows, by country and year; the columns of the last file have another order.
fn by_country_and_year() -> TempDir {
    let folder = TempDir::new().unwrap();
    write(&folder, "country=FR/year=2020/part-0.csv", "x,no,yes\n1,1,3\n2,3,1\n");
    write(&folder, "country=FR/year=2021/part-0.csv", "x,no,yes\n3,2,2\n");
    write(&folder, "country=__HIVE_DEFAULT_PARTITION__/year=2020/part-0.csv", "yes,x,no\n0,4,1\n");
    write(&folder, "_SUCCESS", "");
    folder
}

fn names(data: &Dataset) -> Vec<String> {
    data.schema().feature_names.clone().unwrap().to_vec()
}

fn rows(data: &Dataset) -> Vec<Vec<f32>> {
    let features = data.features().unwrap();
    let row = |row| {
        let mut all = vec![0.0; features.cols()];
        features.copy_row_into(row, &mut all);
        all
    };
    (0..features.rows()).map(row).collect()
}

#[test]
fn the_names_of_the_folders_are_columns() {
    let folder = by_country_and_year();
    assert!(is_folder_of_tables(folder.path()));
    let found = read(folder.path(), &votes()).unwrap().dataset;
    let flat = TempDir::new().unwrap();
    write(
        &flat,
        "flat.csv",
        "x,no,yes,country,year\n1,1,3,FR,2020\n2,3,1,FR,2020\n3,2,2,FR,2021\n4,1,0,,2020\n",
    );
    let expected = read(&flat.path().join("flat.csv"), &votes()).unwrap().dataset;
    assert_eq!(names(&found), names(&expected));
    assert_eq!(rows(&found), rows(&expected));
}

#[test]
fn a_model_of_a_table_scores_a_partitioned_folder_and_passes_its_columns_through() {
    let folder = by_country_and_year();
    let model = Mean::params().fit(&read(folder.path(), &votes()).unwrap().dataset).unwrap();
    let keep = ["country".to_string(), "year".to_string()];
    let mut stream = stream_for_model(folder.path(), &model, &ReadOptions::default(), &keep, false).unwrap();
    let block = stream.next_rows(10).unwrap().unwrap();
    assert_eq!(block.kept[0], ["FR", "FR", "FR", ""]);
    assert_eq!(block.kept[1], ["2020", "2020", "2021", "2020"]);
}

#[test]
fn a_column_in_the_file_and_in_the_name_of_its_folder_is_refused() {
    let folder = TempDir::new().unwrap();
    write(&folder, "x=5/part-0.csv", "x,no,yes\n1,1,3\n");
    let error = read(folder.path(), &votes()).unwrap_err().to_string();
    assert!(error.contains("the column \"x\" is in the file and in the name of its folder"), "{error}");
}

#[test]
fn files_beside_the_folders_and_folders_of_other_names_are_as_before() {
    let folder = by_country_and_year();
    write(&folder, "all.csv", "x,no,yes\n9,1,1\n");
    write(&folder, "photos/part-0.csv", "x,no,yes\n8,1,1\n");
    let found = read(folder.path(), &votes()).unwrap().dataset;
    assert_eq!((names(&found), found.rows()), (vec!["x".to_string()], 1));
    let images = TempDir::new().unwrap();
    write(&images, "photos/part-0.csv", "x,no,yes\n8,1,1\n");
    assert!(!is_folder_of_tables(images.path()));
}
