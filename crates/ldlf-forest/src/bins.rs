//! Numeric columns among sparse ones, spread over quantile bins.

/// Piecewise-linear encoding of some columns: with edges `e_0 <= ... <= e_T`, bin `t` holds
/// `clamp((x - e_t) / (e_{t+1} - e_t), 0, 1)`, so that a linear map of the bins is any function that is linear between edges.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Bins {
    /// Which columns, in rising order.
    pub columns: Vec<u32>,
    /// `[columns, count + 1]`: quantiles of the training rows; equal neighbours make an empty bin.
    pub edges: Vec<f32>,
    /// Bins a column.
    pub count: usize,
}

impl Bins {
    /// No columns.
    pub fn none(count: usize) -> Self {
        Bins { count, ..Bins::default() }
    }

    /// Finds the quantiles of columns, from the values and weights of each; a column of two values or fewer gets no bins.
    pub fn fit(columns: Vec<u32>, values: Vec<Vec<(f32, f32)>>, count: usize) -> Self {
        let mut bins = Bins::none(count);
        for (column, mut values) in columns.into_iter().zip(values) {
            values.retain(|(_, weight)| *weight > 0.0);
            values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            let mut distinct = values.clone();
            distinct.dedup_by_key(|(value, _)| *value);
            if distinct.len() > 2 {
                bins.columns.push(column);
                bins.edges.extend(quantiles(&values, count));
            }
        }
        bins
    }

    /// The bins of one row that are not empty, numbered on from `first`.
    pub fn encode<'a>(
        &'a self,
        value_of: impl Fn(u32) -> f32 + 'a,
        first: usize,
    ) -> impl Iterator<Item = (u32, f32)> + 'a {
        self.columns.iter().zip(self.edges.chunks_exact(self.count + 1)).enumerate().flat_map(
            move |(index, (column, edges))| {
                let x = value_of(*column);
                let start = first + index * self.count;
                edges
                    .windows(2)
                    .enumerate()
                    .take_while(move |(_, edge)| x > edge[0])
                    .filter(|(_, edge)| edge[1] > edge[0])
                    .map(move |(bin, edge)| {
                        ((start + bin) as u32, ((x - edge[0]) / (edge[1] - edge[0])).min(1.0))
                    })
            },
        )
    }

    /// How many inputs the bins make.
    pub fn inputs(&self) -> usize {
        self.columns.len() * self.count
    }
}

/// `count + 1` quantiles of sorted values, from the smallest to the largest: a weight of `w` counts as `w` copies.
fn quantiles(sorted: &[(f32, f32)], count: usize) -> Vec<f32> {
    let total: f64 = sorted.iter().map(|(_, weight)| f64::from(*weight)).sum();
    let (mut place, mut above) = (0, f64::from(sorted[0].1));
    let quantile = |edge: usize| {
        // The number of copies below the quantile.
        let below = (edge as f64 * (total - 1.0).max(0.0) / count as f64).floor();
        while above <= below && place + 1 < sorted.len() {
            place += 1;
            above += f64::from(sorted[place].1);
        }
        sorted[place].0
    };
    let mut edges: Vec<f32> = (0..=count).map(quantile).collect();
    edges[count] = sorted[sorted.len() - 1].0;
    edges
}
