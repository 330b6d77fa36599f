//! Keys and rows, or entries, that were copied.

/// A batch of them; its buffers are used again.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    /// Begin, end of the first part, end of the second.
    pub(super) parts: Vec<(usize, usize, usize)>,
    /// Of entries: whether they are the row, and not only the way to it.
    pub(super) covered: Vec<bool>,
    pub(super) looked_at: usize,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.parts.clear();
        self.covered.clear();
        self.looked_at = 0;
    }

    pub(super) fn push(&mut self, first: &[u8], second: &[u8]) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(first);
        let middle = self.bytes.len();
        self.bytes.extend_from_slice(second);
        self.parts.push((begin, middle, self.bytes.len()));
    }

    pub(super) fn key_and_row(&self, place: usize) -> (&[u8], &[u8]) {
        let (begin, middle, end) = self.parts[place];
        (&self.bytes[begin..middle], &self.bytes[middle..end])
    }
}
