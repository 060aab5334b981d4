//! Shells that complete words.

#[cfg(feature = "completions")]
use clap::Command;
use clap::ValueEnum;
#[cfg(feature = "completions")]
use clap_complete::{Generator, generate};

/// A shell.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, clippy::enum_variant_names)] // each is its name
pub enum Shell {
    Bash,
    Elvish,
    Fish,
    Nushell,
    #[value(name = "powershell")]
    PowerShell,
    Zsh,
}

#[cfg(feature = "completions")]
impl Shell {
    /// Writes the script for it.
    pub fn write(self, command: &mut Command, script: &mut Vec<u8>) {
        fn with(generator: impl Generator, command: &mut Command, script: &mut Vec<u8>) {
            generate(generator, command, "tilework", script);
        }
        match self {
            Shell::Bash => with(clap_complete::Shell::Bash, command, script),
            Shell::Elvish => with(clap_complete::Shell::Elvish, command, script),
            Shell::Fish => with(clap_complete::Shell::Fish, command, script),
            Shell::Nushell => with(clap_complete_nushell::Nushell, command, script),
            Shell::PowerShell => with(clap_complete::Shell::PowerShell, command, script),
            Shell::Zsh => with(clap_complete::Shell::Zsh, command, script),
        }
    }
}
