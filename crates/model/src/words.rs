//! Enums whose values are words: each word is written once, beside its variant.
//!
//! ```text
//!   words! { Idle { Halt = "halt", Poll = "poll", } }
//!      ├── Idle::Poll.name()      "poll", in flags, JSON, stores and reports
//!      ├── Idle::named("poll")    what has this name
//!      ├── "poll".parse()         the same for a user: else "write halt or poll"
//!      └── Idle::ALL              all of them, in the order in which they are written
//! ```

/// An enum, its words, and what reads them.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$what])* $variant,)+ }

        impl $name {
            /// The words, in the order in which they are written.
            pub const WORDS: [&'static str; [$($word),+].len()] = [$($word),+];

            /// All of them, in the same order.
            pub const ALL: [$name; $name::WORDS.len()] = [$($name::$variant),+];

            /// The word for it: in flags, files, JSON, stores and reports.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// What has this name.
            pub fn named(name: &str) -> Option<$name> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                $name::named(text).ok_or_else(|| $crate::words::write_one_of(&$name::WORDS))
            }
        }
    };
}
pub(crate) use words;

/// `write auto, always or never`.
pub(crate) fn write_one_of(words: &[&str]) -> String {
    match words {
        [others @ .., last] if !others.is_empty() => {
            format!("write {} or {last}", others.join(", "))
        }
        only => format!("write {}", only.concat()),
    }
}

#[cfg(test)]
mod tests {
    use crate::idle::Idle;
    use crate::keep_memory::KeepMemory;

    #[test]
    fn words_are_read_back_and_others_are_told_which_there_are() {
        for keep in KeepMemory::ALL {
            assert_eq!(keep.to_string().parse(), Ok(keep));
        }
        let told = |text: &str| text.parse::<KeepMemory>().unwrap_err();
        assert_eq!(told("perhaps"), "write auto, always or never");
        assert_eq!("sleep".parse::<Idle>().unwrap_err(), "write halt or poll");
        assert_eq!(Idle::named("Halt"), None);
    }
}
