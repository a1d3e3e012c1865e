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

    /// Finds the quantiles of columns, from the values of each; a column of two values or fewer gets no bins.
    pub fn fit(columns: Vec<u32>, values: Vec<Vec<f32>>, count: usize) -> Self {
        let mut bins = Bins::none(count);
        for (column, mut values) in columns.into_iter().zip(values) {
            values.sort_unstable_by(f32::total_cmp);
            let mut distinct = values.clone();
            distinct.dedup();
            if distinct.len() > 2 {
                bins.columns.push(column);
                bins.edges.extend((0..=count).map(|edge| values[edge * (values.len() - 1) / count]));
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
