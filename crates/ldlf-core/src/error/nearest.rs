//! The name that was probably meant.

/// Letters that may be wrong in a name that is still taken for another.
const MOST_WRONG: usize = 3;

/// The known name nearest to one that is not known, if any is near: one that it is a part of, or else one with few other letters,
/// fewer than half of them.
///
/// ```
/// use ldlf_core::error::nearest;
/// assert_eq!(nearest("tres", &["depth", "trees"]), Some("trees"));
/// assert_eq!(nearest("knn", &["cpnn", "aa-knn"]), Some("aa-knn"));
/// assert_eq!(nearest("colour", &["depth", "trees"]), None);
/// assert_eq!(nearest("all", &["aas"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let part =
        known.iter().filter(|known| name.len() >= 3 && known.contains(name)).min_by_key(|known| known.len());
    if let Some(part) = part {
        return Some(part);
    }
    let (distance, near) = known.iter().map(|known| (edit_distance(name, known), *known)).min()?;
    (distance <= MOST_WRONG && 2 * distance <= name.chars().count()).then_some(near)
}

/// The number of letters to change, add or remove (Levenshtein).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
