//! Sums over rows, added up over virtual shards in one fixed tree.

use ldlf_core::{Error, Result};

/// What a question is answered with: sums over the rows of neighbouring virtual shards.
///
/// Virtual shards are the leaves of a binary tree in which the node of `size` shards from `first` on has the two halves of that
/// range as children. Only whole nodes are added up, left to right, so that every sum is the same to the bit whoever adds it:
/// a worker that holds shards 4 to 7 sends one sum, and one that holds 5 to 7 sends those of 5 and of 6 to 7.
#[derive(Clone, Debug, PartialEq)]
pub struct Sums {
    /// The first virtual shard of the node.
    pub first: usize,
    /// The virtual shards of the node: a power of two.
    pub size: usize,
    /// Counts, losses, statistics.
    pub doubles: Vec<f64>,
    /// Gradients.
    pub singles: Vec<f32>,
}

impl Sums {
    /// The sums of one virtual shard.
    pub fn of_shard(number: usize, doubles: Vec<f64>, singles: Vec<f32>) -> Self {
        Sums { first: number, size: 1, doubles, singles }
    }

    fn add(&mut self, other: &Sums) {
        self.doubles.iter_mut().zip(&other.doubles).for_each(|(sum, x)| *sum += x);
        self.singles.iter_mut().zip(&other.singles).for_each(|(sum, x)| *sum += x);
        self.size *= 2;
    }

    fn is_like(&self, other: &Sums) -> bool {
        self.doubles.len() == other.doubles.len() && self.singles.len() == other.singles.len()
    }

    /// Appends the bytes: four lengths, then the numbers, all little-endian.
    fn write(&self, bytes: &mut Vec<u8>) {
        for length in [self.first, self.size, self.doubles.len(), self.singles.len()] {
            bytes.extend_from_slice(&(length as u64).to_le_bytes());
        }
        let start = bytes.len();
        bytes.resize(start + 8 * self.doubles.len() + 4 * self.singles.len(), 0);
        let (doubles, singles) = bytes[start..].split_at_mut(8 * self.doubles.len());
        let places = doubles.as_chunks_mut::<8>().0.iter_mut().zip(&self.doubles);
        places.for_each(|(place, number)| *place = number.to_le_bytes());
        let places = singles.as_chunks_mut::<4>().0.iter_mut().zip(&self.singles);
        places.for_each(|(place, number)| *place = number.to_le_bytes());
    }

    /// Reads one node from the front of some bytes and gives the rest.
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = bytes.split_at_checked(32)?;
        let [first, size, doubles, singles] = std::array::from_fn(|at| {
            u64::from_le_bytes(head[8 * at..8 * at + 8].try_into().expect("eight bytes of the 32"))
        });
        let lengths = [first, size, doubles, singles].map(usize::try_from);
        let [Ok(first), Ok(size), Ok(doubles), Ok(singles)] = lengths else { return None };
        let (doubles, rest) = rest.split_at_checked(doubles.checked_mul(8)?)?;
        let (singles, rest) = rest.split_at_checked(singles.checked_mul(4)?)?;
        let doubles = doubles.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        let singles = singles.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Some((Sums { first, size, doubles, singles }, rest))
    }
}

/// The nodes of some answers as bytes.
pub fn to_bytes(nodes: &[Sums]) -> Vec<u8> {
    let mut bytes = Vec::new();
    nodes.iter().for_each(|node| node.write(&mut bytes));
    bytes
}

/// The nodes that [`to_bytes`] wrote.
pub fn from_bytes(mut bytes: &[u8]) -> Result<Vec<Sums>> {
    let mut nodes = Vec::new();
    while !bytes.is_empty() {
        let (node, rest) = Sums::read(bytes)
            .ok_or_else(|| Error::training("an answer of a worker is cut off or not an answer"))?;
        nodes.push(node);
        bytes = rest;
    }
    Ok(nodes)
}

/// Adds nodes up as far as whole nodes of the tree go. `shards` is the number of all virtual shards: a right half beyond it is
/// empty, and the node is its left half.
///
/// ```
/// use ldlf_forest::shards::sums::{Sums, add_up};
/// let of = |number| Sums::of_shard(number, vec![1.0], vec![]);
/// let nodes = add_up((1..5).map(of).collect(), 5);
/// assert_eq!(nodes.iter().map(|node| (node.first, node.size)).collect::<Vec<_>>(), [(1, 1), (2, 2), (4, 4)]);
/// assert_eq!(nodes[1].doubles, [2.0]);
/// ```
pub fn add_up(mut nodes: Vec<Sums>, shards: usize) -> Vec<Sums> {
    nodes.sort_by_key(|node| node.first);
    let mut done: Vec<Sums> = Vec::new();
    let whole = shards.max(1).next_power_of_two();
    for mut node in nodes {
        loop {
            let is_left = node.first.is_multiple_of(2 * node.size);
            if is_left && node.size < whole && node.first + node.size >= shards {
                node.size *= 2;
            } else if let Some(left) = done.last()
                && !is_left
                && left.size == node.size
                && left.first + left.size == node.first
                && left.is_like(&node)
            {
                let mut left = done.pop().expect("it was there a line ago");
                left.add(&node);
                node = left;
            } else {
                break;
            }
        }
        done.push(node);
    }
    done
}

/// The sum over all virtual shards, or a sentence that some are missing or answered twice.
pub fn total(nodes: Vec<Sums>, shards: usize) -> Result<Sums> {
    let mut nodes = add_up(nodes, shards);
    match (nodes.pop(), nodes.is_empty()) {
        (Some(node), true) if node.first == 0 && node.size >= shards => Ok(node),
        _ => Err(Error::training("the workers' answers do not cover every virtual shard once")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers whose sum depends on the order in which they are added.
    fn nodes(shards: usize) -> Vec<Sums> {
        let number = |shard: usize| ((shard * 37 + 11) as f64).sin() * 10f64.powi(shard as i32 % 9);
        (0..shards).map(|s| Sums::of_shard(s, vec![number(s)], vec![number(s) as f32; 3])).collect()
    }

    #[test]
    fn the_sum_is_the_same_to_the_bit_however_shards_are_dealt_to_workers() {
        for shards in 1..20 {
            let at_once = total(nodes(shards), shards).unwrap();
            for workers in 1..=shards {
                let by_worker = |worker: usize, deal: fn(usize, usize, usize) -> usize| {
                    let own = nodes(shards)
                        .into_iter()
                        .filter(|n| deal(n.first, workers, shards) == worker)
                        .collect();
                    from_bytes(&to_bytes(&add_up(own, shards))).unwrap()
                };
                for deal in [|n, w, _| n % w, |n, w, s| n * w / s] {
                    let replies = (0..workers).rev().flat_map(|worker| by_worker(worker, deal)).collect();
                    assert_eq!(
                        total(replies, shards).unwrap(),
                        at_once,
                        "{shards} shards, {workers} workers"
                    );
                }
            }
        }
    }

    #[test]
    fn a_missing_or_doubled_shard_is_noticed() {
        let mut missing = nodes(6);
        missing.remove(3);
        assert!(total(missing, 6).is_err());
        let mut doubled = nodes(6);
        doubled.push(doubled[2].clone());
        assert!(total(doubled, 6).is_err());
        assert!(total(Vec::new(), 6).is_err());
    }

    #[test]
    fn bytes_that_are_cut_off_are_refused() {
        let bytes = to_bytes(&nodes(2));
        assert!(from_bytes(&bytes[..bytes.len() - 1]).is_err());
        assert!(from_bytes(&[255; 40]).is_err());
    }
}
