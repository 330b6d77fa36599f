//! Servers that are scripted: by what they call themselves, and by what they answer.

mod speakers;
