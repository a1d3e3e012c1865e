//! Linear models of label distributions: the loss of a softmax ([`softmax_loss`]) on a linear map of the features ([`objective`]), and columns
//! that are centred without being changed ([`centring`]).

pub mod centring;
pub mod objective;
pub mod softmax_loss;
