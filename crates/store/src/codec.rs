//! How bulk becomes bytes.
//!
//! A series, version 1:
//!
//! ```text
//!   01            version
//!   n             number of slots            LEB128
//!   z(x0 - 0)     zigzag of the difference   LEB128
//!   z(x1 - x0)    to the slot before
//!   …             n of them, and nothing after the last
//! ```
//!
//! Differences wrap in 64 bits, so that every `u64` comes back exactly. LEB128 holds seven bits in
//! a byte, lowest first, the top bit set on all but the last; its shortest form is the only one
//! that is taken. A decoder, once released, is kept for ever.
//!
//! A histogram is HdrHistogram's own V2 format, deflated (it begins with `1c 84 93 14`).

use std::io::Read as _;

use dbdyno_model::LatencyHistogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

const SERIES_V1: u8 = 1;

/// How a deflated histogram begins; a length follows. Inflated it is a cookie, the length of the
/// counts, an offset, the digits, …, the counts (HdrHistogram, `V2Serializer`).
const DEFLATED: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];
const LENGTH: usize = 4;
const AT_LENGTH: usize = 4;
const AT_DIGITS: usize = 12;

/// More digits take more memory than there is in them; ours have three.
const DIGITS_MOST: usize = 3;

/// Ours have 30 000 counts, of at most nine bytes.
const PLAIN_MOST: u64 = 1 << 20;

/// Encodes the slots of a series in the newest version of the format.
pub(crate) fn encode_series(slots: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 + 2 * slots.len());
    bytes.push(SERIES_V1);
    push_leb128(&mut bytes, slots.len() as u64);
    let mut before = 0u64;
    for &slot in slots {
        push_leb128(&mut bytes, zigzag(slot.wrapping_sub(before) as i64));
        before = slot;
    }
    bytes
}

/// Decodes what any version of [`encode_series`] has made.
///
/// # Errors
/// What is wrong with the bytes.
pub(crate) fn decode_series(bytes: &[u8]) -> Result<Vec<u64>, String> {
    match bytes.split_first() {
        Some((&SERIES_V1, rest)) => decode_series_v1(rest),
        Some((version, _)) => Err(format!("series of the unknown format {version}")),
        None => Err("an empty series blob".to_owned()),
    }
}

fn decode_series_v1(mut rest: &[u8]) -> Result<Vec<u64>, String> {
    let count = take_leb128(&mut rest)?;
    // Each slot takes at least a byte: a false count cannot ask for more memory than the blob has.
    if count > rest.len() as u64 {
        return Err(format!("series of {count} slots in only {} bytes", rest.len()));
    }
    let mut slots = Vec::with_capacity(count as usize);
    let mut before = 0u64;
    for _ in 0..count {
        before = before.wrapping_add(unzigzag(take_leb128(&mut rest)?) as u64);
        slots.push(before);
    }
    if rest.is_empty() {
        Ok(slots)
    } else {
        Err(format!("{} bytes after the end of a series", rest.len()))
    }
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

fn unzigzag(coded: u64) -> i64 {
    (coded >> 1) as i64 ^ -((coded & 1) as i64)
}

fn push_leb128(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_leb128(rest: &mut &[u8]) -> Result<u64, String> {
    let mut number = 0u64;
    for place in 0..10 {
        let Some((&byte, tail)) = rest.split_first() else {
            return Err("series cut off".to_owned());
        };
        *rest = tail;
        if (place == 9 && byte > 1) || (place > 0 && byte == 0) {
            break;
        }
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err("a number in a series is not in its shortest form".to_owned())
}

/// Encodes a histogram as HdrHistogram V2, deflated.
///
/// # Errors
/// A count of 2^63 or more, which the format cannot hold.
pub(crate) fn encode_histogram(histogram: &LatencyHistogram) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&histogram.to_hdr(), &mut bytes)
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Decodes a histogram that [`encode_histogram`] or another HDR tool has made, of at most the
/// digits of ours. The library believes the lengths that it reads, and takes as much memory: what
/// is deflated is inflated here, to a limit, and its head is looked at first.
///
/// # Errors
/// What is wrong with the bytes.
pub(crate) fn decode_histogram(bytes: &[u8]) -> Result<LatencyHistogram, String> {
    let deflated = bytes.strip_prefix(&DEFLATED).and_then(|rest| rest.get(LENGTH..));
    let deflated = deflated.ok_or("it is no deflated histogram")?;
    let mut plain = Vec::new();
    let inflated = flate2::read::ZlibDecoder::new(deflated);
    inflated.take(PLAIN_MOST + 1).read_to_end(&mut plain).map_err(|error| error.to_string())?;
    if plain.len() as u64 > PLAIN_MOST {
        return Err(format!("a histogram of more than {PLAIN_MOST} bytes"));
    }
    let field = |at: usize| {
        let bytes = plain.get(at..at + LENGTH)?.first_chunk::<LENGTH>()?;
        Some(u32::from_be_bytes(*bytes) as usize)
    };
    let (counts, digits) = (field(AT_LENGTH), field(AT_DIGITS));
    let (Some(counts), Some(digits)) = (counts, digits) else {
        return Err("a histogram without a head".to_owned());
    };
    if counts > plain.len() || digits > DIGITS_MOST {
        return Err(format!("a histogram of {digits} digits and {counts} bytes is none of ours"));
    }
    let decoded = Deserializer::new()
        .deserialize::<u64, _>(&mut &plain[..])
        .map_err(|error| error.to_string())?;
    Ok(LatencyHistogram::from_hdr(&decoded))
}

/// FNV-1a, 64 bits. Each step is a bijection, so that a changed byte always changes the result.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Written by hand from the description above, not by the encoder.
    const GOLDEN_V1: [u8; 19] = [
        0x01, 0x05, // version, five slots
        0x00, // 0
        0x80, 0x02, // +128, zigzag 256
        0x01, // −1: 127
        0x81, 0x02, // −129: wraps to 2^64 − 2
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, // −2^63
        0x00,
    ];

    #[test]
    fn version_1_of_a_series_stays_what_it_is() {
        let slots = [0, 128, 127, u64::MAX - 1, (u64::MAX >> 1) - 1];
        assert_eq!(encode_series(&slots), GOLDEN_V1[..18]);
        assert_eq!(decode_series(&GOLDEN_V1[..18]).unwrap(), slots);
        assert_eq!(encode_series(&[]), [1, 0]);
    }

    #[test]
    fn a_blob_that_is_not_exactly_a_series_is_refused() {
        for length in 0..18 {
            assert!(decode_series(&GOLDEN_V1[..length]).is_err(), "{length}");
        }
        assert!(decode_series(&GOLDEN_V1).is_err(), "a byte too many");
        for wrong in [
            &[2, 0][..],
            &[1, 1, 0x80, 0x00],
            &[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
        ] {
            assert!(decode_series(wrong).is_err(), "{wrong:x?}");
        }
    }

    #[test]
    fn a_histogram_blob_is_what_other_tools_expect() {
        let mut histogram = LatencyHistogram::new();
        for value in [0, 1, 999, 1_000_000, u64::MAX] {
            histogram.record_latency(value);
        }
        let bytes = encode_histogram(&histogram).unwrap();
        assert_eq!(bytes[..4], [0x1c, 0x84, 0x93, 0x14]);
        let length = u32::from_be_bytes(bytes[4..8].try_into().unwrap());
        assert_eq!(length as usize, bytes.len() - 8);
        assert_eq!(decode_histogram(&bytes).unwrap(), histogram);
    }

    /// The head of a histogram, with these for the length of its counts and its digits, deflated
    /// with a mebibyte of zeros behind it for each `mebibytes`.
    fn hostile(counts: u32, digits: u32, mebibytes: usize, payload: &[u8]) -> Vec<u8> {
        use std::io::Write as _;
        let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), Default::default());
        let mut head = vec![0x1c, 0x84, 0x93, 0x13];
        for field in [counts, 0, digits] {
            head.extend(field.to_be_bytes());
        }
        head.extend(1u64.to_be_bytes());
        head.extend((1u64 << 62).to_be_bytes());
        head.extend(1f64.to_be_bytes());
        head.extend(payload);
        deflate.write_all(&head).unwrap();
        (0..mebibytes).for_each(|_| deflate.write_all(&[0; 1 << 20]).unwrap());
        let deflated = deflate.finish().unwrap();
        let length = (deflated.len() as u32).to_be_bytes();
        [&DEFLATED[..], &length, &deflated].concat()
    }

    /// Each of these made the library take four gigabytes, or fifty megabytes for a row.
    #[test]
    fn a_histogram_takes_no_more_memory_than_ours() {
        for (bytes, why) in [
            (hostile(u32::MAX, 3, 0, &[]), "is none of ours"),
            (hostile(0, 5, 0, &[]), "is none of ours"),
            (hostile(64 << 20, 3, 64, &[]), "more than 1048576 bytes"),
            (DEFLATED.to_vec(), "no deflated histogram"),
            (hostile(0, 3, 0, &[])[..20].to_vec(), ""),
        ] {
            let error = decode_histogram(&bytes).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_counts_are_decoded_or_refused(
            payload in proptest::collection::vec(any::<u8>(), 0..64),
            digits in 0..4u32,
        ) {
            let _ = decode_histogram(&hostile(payload.len() as u32, digits, 0, &payload));
        }

        #[test]
        fn series_come_back(slots in proptest::collection::vec(any::<u64>(), 0..200)) {
            prop_assert_eq!(decode_series(&encode_series(&slots)).unwrap(), slots);
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..64),
        ) {
            // What is taken is the one encoding of what it says.
            if let Ok(slots) = decode_series(&bytes) {
                prop_assert_eq!(encode_series(&slots), bytes);
            }
        }

        #[test]
        fn histograms_come_back(
            values in proptest::collection::vec((any::<u64>(), 0..64u32), 0..100),
            doublings in 0..50u32,
        ) {
            let mut histogram = LatencyHistogram::new();
            for (value, shift) in values {
                histogram.record_latency(value >> shift);
            }
            for _ in 0..doublings {
                let copy = histogram.clone();
                histogram.merge(&copy);
            }
            let bytes = encode_histogram(&histogram).unwrap();
            prop_assert_eq!(decode_histogram(&bytes).unwrap(), histogram);
        }
    }
}
