//! The runner's protocol: JSON-RPC 2.0, one message a line, over standard input and output.

mod failure;
mod lines;
mod message;
mod methods;
mod serve;

pub use serve::serve;

#[cfg(test)]
mod passes;
#[cfg(test)]
mod tests;
