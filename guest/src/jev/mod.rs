//! Jev, the classifier: questions and answers as data, the client that asks, and the built-in judge.

pub mod question;
