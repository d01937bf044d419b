//! Keeps a command's output within a bound.

use std::collections::VecDeque;

/// The beginning and the end of a command's output; the part between is only counted.
#[derive(Debug)]
pub(super) struct Output {
    max: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: usize,
}

impl Output {
    pub(super) fn new(max: usize) -> Output {
        Output { max, head: Vec::new(), tail: VecDeque::new(), dropped: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let half = self.max / 2;
        let room = half.saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.max - half);
        self.tail.drain(..over);
        self.dropped += over;
    }

    pub(super) fn take(&mut self) -> String {
        let taken = std::mem::replace(self, Output::new(self.max));
        let tail: Vec<u8> = taken.tail.into();
        if taken.dropped == 0 {
            return String::from_utf8_lossy(&[taken.head, tail].concat()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&taken.head), String::from_utf8_lossy(&tail));
        format!("{head}\n… {} more bytes …\n{tail}", taken.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_long_output_is_counted() {
        let mut output = Output::new(8);
        for piece in ["ab", "cdef", "ghijkl", "mn"] {
            output.push(piece.as_bytes());
        }
        assert_eq!(output.take(), "abcd\n… 6 more bytes …\nklmn");
        output.push(b"new");
        assert_eq!(output.take(), "new");
        assert_eq!(output.take(), "");
    }
}
