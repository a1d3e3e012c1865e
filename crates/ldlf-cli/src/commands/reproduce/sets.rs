//! The sets of the paper and where they come from. Their place within `--data` is `FOLDER/NAME.EXTENSION`.

use super::experiment::Set;

const LDL_PAGE: &str = "the LDL page of Xin Geng's lab (palm.seu.edu.cn/xgeng/LDL) has it as a .mat file";

const fn of_ldl_page(name: &'static str) -> Set {
    Set { name, folder: "ldl", single: None, get: LDL_PAGE }
}

/// Ratings of films.
pub const MOVIE: Set = of_ldl_page("Movie");
/// Genes and diseases.
pub const HUMAN_GENE: Set = of_ldl_page("Human_Gene");
/// Labels of scenes.
pub const NATURAL_SCENE: Set = of_ldl_page("Natural_Scene");

/// Ages of faces with shape and texture features; its distributions are Gaussians of deviation 3 around `age`.
pub const FG_NET: Set = Set {
    name: "FG-Net",
    folder: "ldl",
    single: Some(("age", None)),
    get: "features of the FG-NET ageing database as a .mat file with features, labels and age",
};

/// Ages of faces; a table of deep features with a column `age`.
pub const MORPH: Set = Set {
    name: "MORPH",
    folder: "morph",
    single: Some(("age", Some(2.0))),
    get: "images on request and against a fee from the University of North Carolina Wilmington; then a table (.parquet, .npz, .csv \
          or .mat) of a network's features of every image, with a column age",
};

/// The balanced part of MORPH with 20,160 images.
pub const MORPH_SUB: Set = Set {
    name: "MORPH_Sub",
    folder: "morph",
    single: Some(("age", Some(2.0))),
    get: "the part of MORPH that Guo and Mu 2010 chose, as a table of features with a column age; see MORPH",
};
