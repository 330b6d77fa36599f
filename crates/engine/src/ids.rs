//! Numbers that must not be taken for one another.

use std::fmt;

macro_rules! id {
    ($(#[$about:meta])* $name:ident($inner:ty)) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A transaction that writes. Grows in the order in which transactions first write.
    TrxId(u64)
}

id! {
    /// The number of a commit. Grows in the order in which commits become visible.
    Csn(u64)
}

id! {
    /// A place in the log: bytes since its beginning.
    Lsn(u64)
}

id! {
    /// A table, of all that there ever were.
    TableId(u32)
}

id! {
    /// An index, of all that there ever were. A table's primary key is one.
    IndexId(u32)
}

impl TrxId {
    /// The writer of rows that all views see, such as recovered ones; no transaction has this id.
    pub const NOBODY: TrxId = TrxId(0);
}
