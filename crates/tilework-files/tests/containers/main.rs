//! Files of named arrays: what is in them, and what those that lie are refused for.

mod common;
mod gguf;
mod npz;
mod safetensors;
mod write;
