//! What a client is answered: the bytes of a statement's rows, and a sum over all of them.

/// The answers of one client. Buffers are used again and again.
#[derive(Default)]
pub struct Answers {
    rows: Vec<u8>,
    order: Vec<u32>,
    sorted: Vec<u8>,
    sum: u64,
}

impl Answers {
    /// A statement is going to be answered.
    #[inline]
    pub fn begin_statement(&mut self) {
        self.rows.clear();
    }

    /// One of its rows, or a column of it.
    #[inline]
    pub(crate) fn add_text(&mut self, bytes: &[u8]) {
        self.rows.extend_from_slice(bytes);
    }

    /// One of its rows, or a column of it.
    #[inline]
    pub(crate) fn add_number(&mut self, number: i64) {
        self.rows.extend_from_slice(&number.to_le_bytes());
    }

    /// All rows, of `width` bytes each, are there and are to be sorted; of equal ones, one.
    pub(crate) fn sort_distinct(&mut self, width: usize) {
        self.sort(width);
        self.order.dedup_by(|a, b| row(&self.rows, width, *a) == row(&self.rows, width, *b));
        self.put_in_order(width);
    }

    /// All rows, of `width` bytes each, are there and are to be sorted.
    pub(crate) fn sort_all(&mut self, width: usize) {
        self.sort(width);
        self.put_in_order(width);
    }

    /// The statement is answered.
    #[inline]
    pub fn end_statement(&mut self) {
        let mut sum = self.rows.len() as u64;
        let mut words = self.rows.chunks_exact(8);
        for word in &mut words {
            sum = sum.wrapping_add(u64::from_le_bytes(word.try_into().expect("eight bytes")));
        }
        for &byte in words.remainder() {
            sum = sum.wrapping_add(u64::from(byte));
        }
        self.sum = self.sum.rotate_left(1).wrapping_add(sum);
    }

    /// What was answered since the last call, added up in order.
    pub fn take_sum(&mut self) -> u64 {
        std::mem::take(&mut self.sum)
    }

    fn sort(&mut self, width: usize) {
        self.order.clear();
        self.order.extend(0..(self.rows.len() / width) as u32);
        let rows = &self.rows;
        self.order.sort_unstable_by(|a, b| row(rows, width, *a).cmp(row(rows, width, *b)));
    }

    fn put_in_order(&mut self, width: usize) {
        self.sorted.clear();
        for &place in &self.order {
            self.sorted.extend_from_slice(row(&self.rows, width, place));
        }
        std::mem::swap(&mut self.rows, &mut self.sorted);
    }
}

fn row(rows: &[u8], width: usize, place: u32) -> &[u8] {
    &rows[place as usize * width..][..width]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &[u8], end: impl FnOnce(&mut Answers)) -> (Vec<u8>, u64) {
        let mut answers = Answers::default();
        answers.begin_statement();
        answers.add_text(text);
        end(&mut answers);
        answers.end_statement();
        (answers.rows.clone(), answers.take_sum())
    }

    #[test]
    fn rows_are_sorted_and_of_equal_ones_one_stays() {
        assert_eq!(rows(b"ccaabbaa", |it| it.sort_all(2)).0, b"aaaabbcc");
        assert_eq!(rows(b"ccaabbaa", |it| it.sort_distinct(2)).0, b"aabbcc");
        assert_eq!(rows(b"", |it| it.sort_distinct(2)).0, b"");
    }

    #[test]
    fn other_answers_have_another_sum() {
        let sum = |text: &[u8]| rows(text, |_| ()).1;
        assert_ne!(sum(b"12345678x"), sum(b"12345678y"));
        assert_ne!(sum(b"12345678"), sum(b"12345679"));
        assert_ne!(sum(b""), sum(b"\0"));
        let twice = |first: &[u8], second: &[u8]| {
            let mut answers = Answers::default();
            for text in [first, second] {
                answers.begin_statement();
                answers.add_text(text);
                answers.end_statement();
            }
            answers.take_sum()
        };
        assert_ne!(twice(b"a", b"b"), twice(b"b", b"a"));
    }
}
