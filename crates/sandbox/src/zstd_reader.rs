//! All frames of a file of Zstandard, with their sums.
//!
//! ```text
//!   frame: header │ blocks │ sum        its sum and its size are looked at where its bytes end
//!   frame: something that is skipped    its length is
//!   frame: …                            pzstd writes one for each block of the file
//! ```
//!
//! Source: RFC 8878, 3.1.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Reads what a file of Zstandard packs.
pub(crate) struct ZstdReader<R> {
    packed: R,
    decoder: FrameDecoder,
    /// Of the frame that is read, so far; absent between frames.
    frame_bytes: Option<u64>,
}

impl<R: BufRead> ZstdReader<R> {
    pub(crate) fn new(packed: R) -> ZstdReader<R> {
        ZstdReader { packed, decoder: FrameDecoder::new(), frame_bytes: None }
    }

    /// Begins the next frame, past those that are to be skipped; whether there is one.
    fn begin_frame(&mut self) -> io::Result<bool> {
        while !self.packed.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.packed) {
                Ok(()) => {
                    self.frame_bytes = Some(0);
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.packed).take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(wrong_frame("it ends within a frame"));
                    }
                }
                Err(error) => return Err(decoding_error(&error)),
            }
        }
        Ok(false)
    }

    /// Looks whether the frame that was read is what its header and its sum say.
    fn end_frame(&mut self) -> io::Result<()> {
        let bytes = self.frame_bytes.take().unwrap_or_default();
        let told = self.decoder.content_size();
        if told > 0 && told != bytes {
            return Err(wrong_frame("a frame has another size than its header says"));
        }
        let told = self.decoder.get_checksum_from_data();
        if told.is_some() && told != self.decoder.get_calculated_checksum() {
            return Err(wrong_frame("the sum of a frame is wrong"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            if self.frame_bytes.is_none() && !self.begin_frame()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let block = BlockDecodingStrategy::UptoBlocks(1);
                let decoded = self.decoder.decode_blocks(&mut self.packed, block);
                decoded.map_err(|error| decoding_error(&error))?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                self.frame_bytes = self.frame_bytes.map(|bytes| bytes + read as u64);
                return Ok(read);
            }
            self.end_frame()?;
        }
        Ok(0)
    }
}

fn decoding_error(error: &FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

fn wrong_frame(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf 'dbdyno\n' > text; zstd -c text`: of seven bytes, with a sum.
    const FRAME: &[u8] = b"\x28\xb5\x2f\xfd\x24\x07\x39\0\0dbdyno\n\xf8\x48\x57\xfe";
    /// One that is skipped, of three bytes.
    const SKIPPED: &[u8] = b"\x50\x2a\x4d\x18\x03\0\0\0xyz";

    fn unpacked(packed: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        ZstdReader::new(packed).read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn all_frames_are_read_and_held_against_their_sums() {
        for (packed, text) in [
            (FRAME.to_vec(), "dbdyno\n"),
            ([FRAME, FRAME].concat(), "dbdyno\ndbdyno\n"),
            ([SKIPPED, FRAME, SKIPPED].concat(), "dbdyno\n"),
            (Vec::new(), ""),
        ] {
            assert_eq!(unpacked(&packed).unwrap(), text, "{packed:x?}");
        }
        for at in 0..FRAME.len() {
            let mut changed = FRAME.to_vec();
            changed[at] ^= 1;
            assert!(unpacked(&changed).is_err(), "byte {at}");
            assert!(at == 0 || unpacked(&FRAME[..at]).is_err(), "cut before byte {at}");
        }
        assert!(unpacked(&SKIPPED[..9]).is_err(), "the end of what is skipped is missing");
        assert!(unpacked(&[FRAME, b"more"].concat()).is_err());
    }
}
