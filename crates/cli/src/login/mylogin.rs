//! The login paths of `mysql_config_editor`: an option file that is obscured, not protected.
//!
//! ```text
//!   4 bytes   not used
//!   20 bytes  the key, folded to 16 by XOR
//!   then      length (4 bytes, the lowest first) and a line, AES-128-ECB with PKCS #7; repeated
//! ```
//!
//! The format is that of MySQL 5.6 and later. The key stands in the file: whoever can read it has
//! the passwords.

use aes::Aes128;
use aes::cipher::{BlockDecrypt as _, KeyInit as _};

const UNUSED: usize = 4;
const KEY: usize = 20;
const BLOCK: usize = 16;
/// The longest line that `mysql_config_editor` writes has 4,096 bytes.
const LONGEST: usize = 1 << 16;

/// The option file.
///
/// # Errors
/// A sentence with the number of the line.
pub(super) fn decrypt_option_file(bytes: &[u8]) -> Result<String, String> {
    let (Some(key), Some(mut rest)) = (bytes.get(UNUSED..UNUSED + KEY), bytes.get(UNUSED + KEY..))
    else {
        return Err("line 1: it ends within its key; make it anew with mysql_config_editor".into());
    };
    let mut folded = [0; BLOCK];
    key.iter().enumerate().for_each(|(at, byte)| folded[at % BLOCK] ^= byte);
    let cipher = Aes128::new(&folded.into());
    let mut text = Vec::with_capacity(rest.len());
    let mut number = 0;
    while !rest.is_empty() {
        number += 1;
        let line = line(&cipher, &mut rest).ok_or_else(|| {
            format!(
                "line {number}: it is not what mysql_config_editor writes; make the file anew with \
                 it"
            )
        })?;
        text.extend_from_slice(&line);
    }
    String::from_utf8(text).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line}: it is not UTF-8; make the file anew with mysql_config_editor")
    })
}

/// Takes one line off.
fn line(cipher: &Aes128, rest: &mut &[u8]) -> Option<Vec<u8>> {
    let (length, behind) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    if length == 0 || length > LONGEST || !length.is_multiple_of(BLOCK) || behind.len() < length {
        return None;
    }
    let (hidden, behind) = behind.split_at(length);
    *rest = behind;
    let mut line = hidden.to_vec();
    for block in line.chunks_exact_mut(BLOCK) {
        cipher.decrypt_block(block.into());
    }
    let padding = usize::from(*line.last()?);
    let is_padding = (1..=BLOCK).contains(&padding)
        && line[line.len() - padding..].iter().all(|&byte| usize::from(byte) == padding);
    line.truncate(line.len() - padding.min(line.len()));
    is_padding.then_some(line)
}

#[cfg(test)]
pub(super) mod tests {
    use aes::cipher::BlockEncrypt as _;
    use proptest::prelude::*;

    use super::*;

    /// A file as `mysql_config_editor` writes it.
    pub(crate) fn conceal(key: &[u8; KEY], text: &str) -> Vec<u8> {
        let mut folded = [0; BLOCK];
        key.iter().enumerate().for_each(|(at, byte)| folded[at % BLOCK] ^= byte);
        let cipher = Aes128::new(&folded.into());
        let mut bytes = vec![0; UNUSED];
        bytes.extend_from_slice(key);
        for line in text.split_inclusive('\n') {
            let mut hidden = line.as_bytes().to_vec();
            let padding = BLOCK - hidden.len() % BLOCK;
            hidden.resize(hidden.len() + padding, padding as u8);
            for block in hidden.chunks_exact_mut(BLOCK) {
                cipher.encrypt_block(block.into());
            }
            bytes.extend_from_slice(&(hidden.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&hidden);
        }
        bytes
    }

    proptest! {
        #[test]
        fn what_is_concealed_is_revealed(key: [u8; KEY], text in "(?s).{0,300}") {
            prop_assert_eq!(decrypt_option_file(&conceal(&key, &text)).unwrap(), text);
        }

        #[test]
        fn whatever_stands_there_is_read_or_refused_by_its_line(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            if let Err(error) = decrypt_option_file(&bytes) {
                prop_assert!(error.starts_with("line "), "{error}");
            }
        }

        #[test]
        fn a_damaged_file_is_read_or_refused_by_its_line(
            at in any::<prop::sample::Index>(),
            byte: u8,
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = conceal(&[7; KEY], "[client]\nuser = \"bob\"\npassword = \"x\"\n");
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes.truncate(cut.index(bytes.len()) + 1);
            if let Err(error) = decrypt_option_file(&bytes) {
                prop_assert!(error.starts_with("line "), "{error}");
            }
        }
    }
}
