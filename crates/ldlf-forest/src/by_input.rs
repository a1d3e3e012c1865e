//! Sparse rows by input: the order in which a gradient with respect to the weights reads them.

use ldlf_core::Csr;

/// Sparse rows ordered by input, with the row of each entry: what the product with the transposed rows needs.
#[derive(Clone, Default)]
pub struct ByInput {
    starts: Vec<u32>,
    entries: Vec<(u32, f32)>,
    rows: usize,
}

impl ByInput {
    /// How many rows there are.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Orders the entries by input (a counting sort; rows keep their order).
    pub fn fill(&mut self, x: &Csr) {
        self.rows = x.rows();
        self.starts.clear();
        self.starts.resize(x.cols() + 2, 0);
        // Counted two places on, so that filling below leaves each start in its own place.
        x.parts().1.iter().for_each(|&column| self.starts[column as usize + 2] += 1);
        for input in 2..self.starts.len() {
            self.starts[input] += self.starts[input - 1];
        }
        self.entries.resize(x.stored(), (0, 0.0));
        for (row, (columns, values)) in x.iter_rows().enumerate() {
            for (&column, &value) in columns.iter().zip(values) {
                let place = &mut self.starts[column as usize + 1];
                self.entries[*place as usize] = (row as u32, value);
                *place += 1;
            }
        }
    }

    /// Whether some row holds this input.
    #[inline(always)]
    pub fn holds(&self, input: usize) -> bool {
        self.starts[input] != self.starts[input + 1]
    }

    /// The entries of one input: rows and values.
    #[inline(always)]
    pub fn of(&self, input: usize) -> &[(u32, f32)] {
        &self.entries[self.starts[input] as usize..self.starts[input + 1] as usize]
    }
}
