//! Label columns in the order of the numbers they stand for: names such as `v_1`, `v_10`, `v_2` are not in it.

use ldlf_core::error::{Message, Subject};
use ldlf_core::{Error, Result, message};

use super::roles::listed;

/// Puts label columns into the order of their values where the numbers in their names say another; refuses names that contradict.
pub(super) fn in_order_of_values(
    file: &str,
    header: &[String],
    labels: &mut [usize],
    values: &[f64],
) -> Result<Option<Message>> {
    let Some(numbers) = labels.iter().map(|&column| number_in(&header[column])).collect::<Option<Vec<f64>>>()
    else {
        return Ok(None);
    };
    if numbers.is_sorted_by(|a, b| a < b) {
        return Ok(None);
    }
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let sorted: Vec<f64> = order.iter().map(|&at| numbers[at]).collect();
    if sorted != values {
        let names = listed(&labels.iter().map(|&column| header[column].clone()).collect::<Vec<_>>());
        return Err(Error::usage(message![
            "the numbers in the names of the labels ({names}) are neither in order nor those of ",
            Subject::LabelValues
        ])
        .with_remedy(message!["name the columns in the order of their values with ", Subject::Labels])
        .in_file(file));
    }
    let before = labels.to_vec();
    labels.iter_mut().zip(order).for_each(|(label, at)| *label = before[at]);
    Ok(Some(message!["{file}: the labels were put in the order of the numbers in their names"]))
}

/// The last number in a name.
fn number_in(name: &str) -> Option<f64> {
    let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = name[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + name[at..].chars().next().map_or(1, char::len_utf8));
    name.get(start..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_follow_the_numbers_in_their_names() {
        let header = ["v_1", "v_10", "v_2", "x"].map(String::from);
        let mut labels = [0, 1, 2];
        let said = in_order_of_values("f", &header, &mut labels, &[1.0, 2.0, 10.0]).unwrap();
        assert!(said.is_some());
        assert_eq!(labels, [0, 2, 1]);
        assert!(in_order_of_values("f", &header, &mut [0, 1, 2], &[1.0, 2.0, 3.0]).is_err());
        assert!(in_order_of_values("f", &header, &mut [0, 2, 1], &[1.0, 2.0, 3.0]).unwrap().is_none());
        assert!(in_order_of_values("f", &header, &mut [3, 1, 0], &[1.0, 2.0, 3.0]).unwrap().is_none());
    }
}
