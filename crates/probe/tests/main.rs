//! What is read of processes and of the host, held against what they say of themselves.

mod accounting;
mod machines;
mod node;
mod postgres;
mod proc_texts;
mod trees;
