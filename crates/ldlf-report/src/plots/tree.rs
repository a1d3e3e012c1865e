//! One tree of a forest: the features of its splits, the fraction of rows in each branch, its leaves, and the path of one row.

use std::collections::BTreeMap;

use ldlf_core::forest_view::{ForestView, SplitFeature, TreeView};

use crate::figure::{Anchor, Figure, label, rect, shortened};
use crate::markup::{Element, coordinate};

/// Levels that are drawn; deeper ones are merged into the last of them.
const LEVELS: usize = 5;
/// Width of a column of the lowest level, and the heights of a level and of a leaf's chart.
const COLUMN: f64 = 60.0;
const LEVEL: f64 = 92.0;
const CHART: f64 = 52.0;

/// A small image of a row, as the bytes of a PNG file, with its name.
pub type Thumbnail = (String, Vec<u8>);

/// Small images below a leaf: how many, in a line, and their side.
const IMAGES: usize = 4;
const IMAGES_IN_LINE: usize = 2;
const IMAGE: f64 = 25.0;

/// What to draw.
pub struct TreeFigure<'a> {
    /// The forest over some rows.
    pub view: &'a ForestView,
    /// Which tree, from 0.
    pub tree: usize,
    /// The chosen row whose path is highlighted: an index into [`ForestView::chosen`].
    pub row: Option<usize>,
    /// The names of the labels.
    pub labels: &'a [String],
    /// Small images of rows, where rows are images.
    pub thumbnails: &'a BTreeMap<usize, Thumbnail>,
}

/// The rows that a figure of a tree shows images of, where rows are images.
pub fn rows_with_images(tree: &TreeView) -> Vec<usize> {
    let drawn = (tree.leaves.len().trailing_zeros() as usize + 1).min(LEVELS);
    terminals(tree, None, 1 << (drawn - 1)).into_iter().flat_map(|terminal| terminal.examples).collect()
}

/// A node on the lowest drawn level: a leaf, or the leaves of a subtree taken together.
struct Terminal {
    mass: f64,
    share: f64,
    distribution: Vec<f64>,
    leaves: usize,
    dead: bool,
    /// Rows that reach it, the likeliest first.
    examples: Vec<usize>,
}

/// Draws a tree; `name` gives the name of a feature.
pub fn tree(what: &TreeFigure<'_>, name: impl Fn(usize) -> String) -> Figure {
    let tree = &what.view.trees[what.tree];
    let depth = tree.leaves.len().trailing_zeros() as usize + 1;
    let drawn = depth.min(LEVELS);
    let count = 1 << (drawn - 1);
    let terminals = terminals(tree, what.row, count);
    // Wide enough for the note below the charts.
    let width = (count as f64 * COLUMN + 40.0).max(540.0);
    let top = 58.0;
    let bottom = top + LEVEL * (drawn as f64 - 1.0);
    let merged = depth > drawn;
    let lines = if what.thumbnails.is_empty() { 0 } else { IMAGES.div_ceil(IMAGES_IN_LINE) };
    let height = bottom + CHART + 62.0 + IMAGE * lines as f64;
    let mut figure = Figure::new(
        width,
        height,
        format!("Tree {} of {}", what.tree + 1, what.view.trees.len()),
        description(what, tree, &terminals, depth, &name),
    );
    let centre = |level: usize, node: usize| {
        let span = (width - 40.0) / (1 << level) as f64;
        20.0 + span * (node as f64 + 0.5)
    };
    let y = |level: usize| top + LEVEL * level as f64;
    let sums = |level: usize, node: usize, of: fn(&Terminal) -> f64| {
        let under = count >> level;
        terminals[node * under..(node + 1) * under].iter().map(of).sum::<f64>()
    };
    let path = likeliest_path(&terminals, drawn, what.row.is_some());

    for level in 1..drawn {
        for node in 0..1 << level {
            let (from, to) =
                ((centre(level - 1, node / 2), y(level - 1) + 16.0), (centre(level, node), y(level) - 18.0));
            let mass = sums(level, node, |terminal| terminal.mass);
            figure.add(branch(from, to, "edge", 1.0 + 9.0 * mass));
            if path.get(level) == Some(&node) {
                let share = sums(level, node, |terminal| terminal.share);
                figure.add(branch(from, to, "highlight", 1.5 + 4.0 * share));
            }
        }
    }
    for level in 0..drawn - 1 {
        for node in 0..1usize << level {
            let split = &tree.splits[(1 << level) - 1 + node];
            let room = ((width - 40.0) / (1 << level) as f64 - 10.0).min(168.0);
            let on_path = path.get(level) == Some(&node);
            draw_split(&mut figure, split, (centre(level, node), y(level)), room, on_path, &name);
        }
    }
    for (place, terminal) in terminals.iter().enumerate() {
        let on_path = path.get(drawn - 1) == Some(&place);
        draw_terminal(
            &mut figure,
            terminal,
            (centre(drawn - 1, place), bottom - 16.0),
            on_path,
            what.row.is_some(),
        );
        let shown = terminal.examples.iter().filter_map(|row| what.thumbnails.get(row));
        for (number, (name, png)) in shown.enumerate() {
            let (column, line) = (number % IMAGES_IN_LINE, number / IMAGES_IN_LINE);
            let left = centre(drawn - 1, place) - IMAGE * IMAGES_IN_LINE as f64 / 2.0;
            let at = (left + IMAGE * column as f64, bottom + CHART + 18.0 + IMAGE * line as f64);
            figure.add_image(at, IMAGE - 1.0, png, name);
        }
    }
    draw_notes(&mut figure, what, merged, terminals[0].leaves);
    figure
}

fn terminals(tree: &TreeView, row: Option<usize>, count: usize) -> Vec<Terminal> {
    let under = tree.leaves.len() / count;
    let terminal = |place: usize| {
        let own = place * under..(place + 1) * under;
        let mass: f64 = tree.mass[own.clone()].iter().sum();
        let mut distribution = vec![0.0; tree.leaves[0].len()];
        for leaf in own.clone() {
            // Leaves of a subtree count by the rows that reach them; where none does, all count alike.
            let weight = if mass > 0.0 { tree.mass[leaf] / mass } else { 1.0 / under as f64 };
            distribution
                .iter_mut()
                .zip(&tree.leaves[leaf])
                .for_each(|(sum, &q)| *sum += weight * f64::from(q));
        }
        let share =
            row.and_then(|row| tree.routes.get(row)).map_or(0.0, |route| route[own.clone()].iter().sum());
        let dead = mass * (count as f64) < ForestView::DEAD_BELOW;
        let examples = if dead { Vec::new() } else { examples(tree, own) };
        Terminal { mass, share, distribution, leaves: under, dead, examples }
    };
    (0..count).map(terminal).collect()
}

/// The rows to show for some leaves: the likeliest row of each, those of the leaves that most rows reach first, then the next ones.
fn examples(tree: &TreeView, leaves: std::ops::Range<usize>) -> Vec<usize> {
    let mut by_mass: Vec<usize> = leaves.filter(|&leaf| leaf < tree.examples.len()).collect();
    by_mass.sort_by(|&a, &b| tree.mass[b].total_cmp(&tree.mass[a]).then(a.cmp(&b)));
    let most = tree.examples.iter().map(Vec::len).max().unwrap_or(0);
    let mut shown = Vec::new();
    for place in 0..most {
        for row in by_mass.iter().filter_map(|&leaf| tree.examples[leaf].get(place)) {
            if shown.len() < IMAGES && !shown.contains(row) {
                shown.push(*row);
            }
        }
    }
    shown
}

/// The node of every level on the likeliest path of the row; empty without a row.
fn likeliest_path(terminals: &[Terminal], levels: usize, chosen: bool) -> Vec<usize> {
    if !chosen {
        return Vec::new();
    }
    let mut nodes = vec![0];
    for level in 1..levels {
        let under = terminals.len() >> level;
        let share =
            |node: usize| terminals[node * under..(node + 1) * under].iter().map(|t| t.share).sum::<f64>();
        let left = 2 * nodes[level - 1];
        nodes.push(if share(left) >= share(left + 1) { left } else { left + 1 });
    }
    nodes
}

fn branch(from: (f64, f64), to: (f64, f64), class: &str, width: f64) -> Element {
    let middle = (from.1 + to.1) / 2.0;
    let [x1, y1, x2, y2, m] = [from.0, from.1, to.0, to.1, middle].map(coordinate);
    Element::new("path")
        .attr("d", format!("M{x1} {y1}C{x1} {m} {x2} {m} {x2} {y2}"))
        .at("stroke-width", width)
        .class(class)
}

/// The name with an arrow to the side of larger values.
fn pointed(split: &SplitFeature, room: usize, name: &impl Fn(usize) -> String) -> String {
    let name = shortened(&name(split.feature), room);
    if split.strength > 0.0 { format!("← {name}") } else { format!("{name} →") }
}

fn draw_split(
    figure: &mut Figure,
    split: &[SplitFeature],
    (x, y): (f64, f64),
    room: f64,
    on_path: bool,
    name: &impl Fn(usize) -> String,
) {
    let letters = ((room - 26.0) / 7.0).max(3.0) as usize;
    figure.add(
        rect(x - room / 2.0, y - 18.0, room, 36.0, if on_path { "highlightbox" } else { "box" })
            .attr("rx", "5"),
    );
    if let Some(first) = split.first() {
        figure.add(label(x, y - 3.0, Anchor::Middle, "small strong", &pointed(first, letters, name)));
    }
    if let Some(second) = split.get(1) {
        figure.add(label(x, y + 11.0, Anchor::Middle, "small muted", &pointed(second, letters, name)));
    }
}

fn draw_terminal(
    figure: &mut Figure,
    terminal: &Terminal,
    (x, top): (f64, f64),
    on_path: bool,
    with_row: bool,
) {
    let width = COLUMN - 10.0;
    let left = x - width / 2.0;
    let dead = terminal.dead;
    let class = match (on_path, dead) {
        (true, _) => "highlightbox",
        (_, true) => "dead",
        _ => "box",
    };
    figure.add(rect(left, top, width, CHART, class).attr("rx", "3"));
    let highest = terminal.distribution.iter().copied().fold(1e-9, f64::max);
    let step = (width - 6.0) / terminal.distribution.len() as f64;
    for (place, share) in terminal.distribution.iter().enumerate() {
        let tall = (CHART - 8.0) * share / highest;
        let gap = if step > 3.0 { 1.0 } else { 0.0 };
        let series = if on_path { "m1" } else { "m0" };
        let bar = rect(
            left + 3.0 + step * place as f64,
            top + CHART - 3.0 - tall,
            (step - gap).max(0.4),
            tall,
            series,
        );
        figure.add(bar.attr("stroke", "none").attr("style", "stroke:none"));
    }
    let mass = if dead { "dead".to_string() } else { percent(terminal.mass) };
    figure.add(label(x, top + CHART + 14.0, Anchor::Middle, "small muted", &mass));
    if with_row && (on_path || terminal.share >= 0.05) {
        let class = if on_path { "small strong" } else { "small" };
        figure.add(label(x, top + CHART + 28.0, Anchor::Middle, class, &percent(terminal.share)));
    }
}

fn percent(share: f64) -> String {
    if share >= 0.0995 { format!("{:.0} %", share * 100.0) } else { format!("{:.1} %", share * 100.0) }
}

fn draw_notes(figure: &mut Figure, what: &TreeFigure<'_>, merged: bool, under: usize) {
    let heading = format!("Tree {} of {}", what.tree + 1, what.view.trees.len());
    figure.add(label(14.0, 20.0, Anchor::Start, "strong", &heading));
    let mut note = match what.thumbnails.is_empty() {
        true => "arrows: where larger values go; below the charts: fraction of all rows".to_string(),
        false => {
            "below the charts: fraction of all images, and those that reach the leaf most surely".to_string()
        }
    };
    if let Some(row) = what.row.and_then(|row| what.view.chosen.get(row)) {
        note += &format!(", then of row {row} (highlighted)");
    }
    if merged {
        note += &format!("; each chart: {under} leaves");
    }
    let y = figure.height - 8.0;
    figure.add(label(14.0, y, Anchor::Start, "small muted", &note));
}

fn description(
    what: &TreeFigure<'_>,
    tree: &TreeView,
    terminals: &[Terminal],
    depth: usize,
    name: &impl Fn(usize) -> String,
) -> String {
    let mut said = format!("A tree of depth {depth} with {} leaves.", tree.leaves.len());
    if let Some(first) = tree.splits.first().and_then(|split| split.first()) {
        let side = if first.strength > 0.0 { "left" } else { "right" };
        said += &format!(
            " At the root {} has the largest weight; its larger values go {side}.",
            name(first.feature)
        );
    }
    let named = |terminal: &Terminal| {
        let best = (0..terminal.distribution.len())
            .max_by(|&a, &b| terminal.distribution[a].total_cmp(&terminal.distribution[b]));
        best.and_then(|label| what.labels.get(label)).cloned().unwrap_or_default()
    };
    let heaviest = (0..terminals.len()).max_by(|&a, &b| terminals[a].mass.total_cmp(&terminals[b].mass));
    if let Some(place) = heaviest {
        said += &format!(
            " Most rows reach the chart number {} from the left, {}, whose likeliest label is {}.",
            place + 1,
            percent(terminals[place].mass),
            named(&terminals[place])
        );
    }
    let most = what.row.and_then(|_| {
        (0..terminals.len()).max_by(|&a, &b| terminals[a].share.total_cmp(&terminals[b].share))
    });
    if let (Some(row), Some(place)) = (what.row.and_then(|row| what.view.chosen.get(row)), most) {
        said += &format!(
            " Row {row} goes mostly to chart number {}, {}, whose likeliest label is {}.",
            place + 1,
            percent(terminals[place].share),
            named(&terminals[place])
        );
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of depth 2 whose leaves name rows, the left one reached by most.
    fn view(mass: [f64; 2]) -> ForestView {
        let tree = TreeView {
            splits: vec![Vec::new()],
            leaves: vec![vec![0.8, 0.2], vec![0.1, 0.9]],
            mass: mass.to_vec(),
            routes: Vec::new(),
            examples: vec![vec![4, 2, 0, 1, 3], vec![3, 1, 0, 2, 4]],
        };
        ForestView { trees: vec![tree], rows: 5, chosen: Vec::new() }
    }

    fn svg(view: &ForestView) -> String {
        let shown = rows_with_images(&view.trees[0]);
        let thumbnails =
            shown.into_iter().map(|row| (row, (format!("face-{row}.png"), vec![row as u8]))).collect();
        let labels = ["young".to_string(), "old".to_string()];
        let what = TreeFigure { view, tree: 0, row: None, labels: &labels, thumbnails: &thumbnails };
        tree(&what, |feature| format!("x_{feature}")).alone()
    }

    #[test]
    fn every_leaf_shows_the_images_that_reach_it_most_surely() {
        let drawn = svg(&view([0.7, 0.3]));
        let names: Vec<&str> =
            drawn.split("<title>").skip(1).map(|part| part.split("</title>").next().unwrap()).collect();
        let of = |rows: [usize; 4]| rows.map(|row| format!("face-{row}.png")).to_vec();
        assert_eq!(names, [of([4, 2, 0, 1]), of([3, 1, 0, 2])].concat());
        assert!(drawn.contains("those that reach the leaf most surely"));
    }

    #[test]
    fn a_dead_leaf_shows_no_images() {
        let drawn = svg(&view([0.999, 0.001]));
        assert_eq!(drawn.matches("<image").count(), 4);
    }

    #[test]
    fn merged_leaves_show_the_likeliest_row_of_each_first() {
        let tree = TreeView {
            splits: vec![Vec::new(); 3],
            leaves: vec![vec![1.0]; 4],
            mass: vec![0.1, 0.6, 0.2, 0.1],
            routes: Vec::new(),
            examples: vec![vec![0, 1], vec![2, 0], vec![3, 0], vec![5, 6]],
        };
        assert_eq!(examples(&tree, 0..4), [2, 3, 0, 5]);
        assert_eq!(examples(&tree, 2..4), [3, 5, 0, 6]);
    }
}
