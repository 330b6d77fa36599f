//! Debug information, looked at unit by unit before it is taken apart.
//!
//! ```text
//!   an address ─▶ the units that have it ─▶ each looked at once: how deep its entries lie in each
//!                                           other, and how many ranges its functions have
//!                                           ─▶ then the names, of functions within functions too
//! ```
//!
//! Functions may share one list of ranges, and each of them keeps all: a list of ten thousand for
//! ten thousand functions is a few hundred kilobytes of a file and gigabytes of memory. Functions
//! within functions are taken apart by a function that calls itself.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use addr2line::Context;
use dbdyno_symbols::{MANGLED_MOST, SourceLanguage, demangle_name, text_beginning};
use gimli::{
    DW_AT_ranges, DW_TAG_inlined_subroutine, DW_TAG_subprogram, DebugInfoOffset, DwLang, Dwarf,
    EndianArcSlice, RunTimeEndian, UnitRef,
};

use super::allowance::{Allowance, NoProgram};

/// Functions at one address: a compiler inlines some ten into another.
const INLINED_MOST: usize = 256;
/// Entries that lie in each other: blocks, and functions within functions.
const DEPTH_MOST: isize = 1_000;
/// What a range of a function takes, or one of a unit.
const RANGE_BYTES: u64 = 48;

pub(super) type Bytes = EndianArcSlice<RunTimeEndian>;

/// What is known of the functions of a program beyond its symbols.
pub(super) struct DebugInformation {
    context: Context<Bytes>,
    dwarf: Arc<Dwarf<Bytes>>,
    /// Where the code of units begins and ends, in the order of beginnings, with the furthest end
    /// so far.
    ranges: Vec<UnitRange>,
    /// Units that were looked at, and whether they can be read.
    readable: RefCell<HashMap<DebugInfoOffset, bool>>,
}

#[derive(Clone, Copy, Debug)]
struct UnitRange {
    begin: u64,
    end: u64,
    furthest: u64,
    unit: DebugInfoOffset,
}

impl DebugInformation {
    /// Nothing where it is damaged, or more than may be kept.
    ///
    /// `dwarf` has no table of addresses, so that a unit has the code that it says itself.
    pub(super) fn new(dwarf: Dwarf<Bytes>, allowance: &Allowance) -> Option<DebugInformation> {
        let ranges = unit_ranges(&dwarf, allowance)?;
        let dwarf = Arc::new(dwarf);
        let context = Context::from_arc_dwarf(dwarf.clone()).ok()?;
        Some(DebugInformation { context, dwarf, ranges, readable: RefCell::default() })
    }

    /// The functions at an address, the innermost first; none if one of them has no name there.
    ///
    /// # Errors
    /// A unit of that address would take more than may be kept.
    pub(super) fn functions(
        &self,
        address: u64,
        allowance: &Rc<Allowance>,
    ) -> Result<Vec<String>, NoProgram> {
        let after = self.ranges.partition_point(|range| range.begin <= address);
        for range in self.ranges[..after].iter().rev() {
            if range.furthest <= address {
                break;
            }
            if range.end > address && !self.is_readable(range.unit, allowance)? {
                return Ok(Vec::new());
            }
        }
        Ok(self.inlined(address))
    }

    fn is_readable(
        &self,
        unit: DebugInfoOffset,
        allowance: &Rc<Allowance>,
    ) -> Result<bool, NoProgram> {
        if let Some(is_readable) = self.readable.borrow().get(&unit) {
            return Ok(*is_readable);
        }
        let is_readable = self.looked_at(unit, allowance).is_some();
        if allowance.is_met() {
            return Err(NoProgram::TooLarge);
        }
        self.readable.borrow_mut().insert(unit, is_readable);
        Ok(is_readable)
    }

    /// Goes once through the entries of a unit.
    fn looked_at(&self, unit: DebugInfoOffset, allowance: &Allowance) -> Option<()> {
        let header = self.dwarf.debug_info.header_from_offset(unit).ok()?;
        let unit = self.dwarf.unit(header).ok()?;
        let unit = UnitRef::new(&self.dwarf, &unit);
        let mut entries = unit.entries_raw(None).ok()?;
        while !entries.is_empty() {
            if entries.next_depth() > DEPTH_MOST {
                return allowance.mark_exceeded();
            }
            let Some(abbreviation) = entries.read_abbreviation().ok()? else { continue };
            let is_function =
                [DW_TAG_subprogram, DW_TAG_inlined_subroutine].contains(&abbreviation.tag());
            if !is_function {
                entries.skip_attributes(abbreviation.attributes()).ok()?;
                continue;
            }
            for specification in abbreviation.attributes() {
                let attribute = entries.read_attribute(*specification).ok()?;
                if attribute.name() != DW_AT_ranges {
                    continue;
                }
                let Some(mut ranges) = unit.attr_ranges(attribute.value()).ok()? else { continue };
                while ranges.next().ok()?.is_some() {
                    allowance.take_bytes(RANGE_BYTES)?;
                }
            }
        }
        Some(())
    }

    fn inlined(&self, address: u64) -> Vec<String> {
        let mut names = Vec::new();
        let Ok(mut frames) = self.context.find_frames(address).skip_all_loads() else {
            return names;
        };
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.as_ref();
            let raw = function.and_then(|of| Some((of.raw_name().ok()?, of.language)));
            let Some((name, language)) = raw.filter(|_| names.len() < INLINED_MOST) else {
                return Vec::new();
            };
            let name = demangle_name(&name, source_language(language));
            names.push(text_beginning(&name, MANGLED_MOST).to_owned());
        }
        names
    }
}

/// The language of a unit, as far as it tells how names are mangled.
fn source_language(of: Option<DwLang>) -> SourceLanguage {
    match of {
        None => SourceLanguage::Unknown,
        Some(gimli::DW_LANG_Rust) => SourceLanguage::Rust,
        Some(
            gimli::DW_LANG_C_plus_plus
            | gimli::DW_LANG_C_plus_plus_03
            | gimli::DW_LANG_C_plus_plus_11
            | gimli::DW_LANG_C_plus_plus_14
            | gimli::DW_LANG_C_plus_plus_17
            | gimli::DW_LANG_C_plus_plus_20,
        ) => SourceLanguage::Cpp,
        Some(_) => SourceLanguage::Other,
    }
}

/// Where the code of each unit is, in the order of beginnings.
fn unit_ranges(dwarf: &Dwarf<Bytes>, allowance: &Allowance) -> Option<Vec<UnitRange>> {
    let mut ranges = Vec::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next().ok()? {
        let Some(offset) = header.debug_info_offset() else { continue };
        let Ok(unit) = dwarf.unit(header) else { continue };
        let Ok(mut own) = dwarf.unit_ranges(&unit) else { continue };
        while let Ok(Some(range)) = own.next() {
            allowance.take_bytes(RANGE_BYTES)?;
            ranges.push(UnitRange {
                begin: range.begin,
                end: range.end,
                furthest: 0,
                unit: offset,
            });
        }
    }
    ranges.sort_unstable_by_key(|range| range.begin);
    let mut furthest = 0;
    for range in &mut ranges {
        furthest = range.end.max(furthest);
        range.furthest = furthest;
    }
    Some(ranges)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use gimli::SectionId;

    use super::*;

    /// A unit and a function of 4 096 bytes at 4 096, and in that function what `inner` says.
    fn dwarf(inner: &[u8], ranges: usize) -> Dwarf<Bytes> {
        const ABBREVIATIONS: [&[u8]; 5] = [
            // A unit: where it begins, and its length.
            &[1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0, 0],
            // A function: its name, where it begins, and its length.
            &[2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0],
            // One within it: its name, and where its ranges stand.
            &[3, 0x1d, 0, 0x03, 0x08, 0x55, 0x17, 0, 0],
            // One that has others in it.
            &[4, 0x1d, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0],
            &[0],
        ];
        let place = [4_096_u64.to_le_bytes(), 4_096_u64.to_le_bytes()].concat();
        let entries = [&[1][..], &place, &[2, b'f', 0], &place, inner, &[0, 0]].concat();
        // Version 4, abbreviations at 0, addresses of 8 bytes.
        let header = [4, 0, 0, 0, 0, 0, 8];
        let length = (header.len() + entries.len()) as u32;
        let info = [&length.to_le_bytes()[..], &header, &entries].concat();
        let range = [16_u64.to_le_bytes(), 32_u64.to_le_bytes()].concat();
        let ranges = [range.repeat(ranges), vec![0; 16]].concat();
        Dwarf::load(|id| {
            let bytes: Vec<u8> = match id {
                SectionId::DebugAbbrev => ABBREVIATIONS.concat(),
                SectionId::DebugInfo => info.clone(),
                SectionId::DebugRanges => ranges.clone(),
                _ => Vec::new(),
            };
            Ok::<_, ()>(EndianArcSlice::new(bytes.into(), RunTimeEndian::Little))
        })
        .unwrap()
    }

    fn functions(inner: &[u8], ranges: usize) -> Result<Vec<String>, NoProgram> {
        let allowance = Allowance::new(&Rc::new(Cell::new(1 << 20)));
        let debug = DebugInformation::new(dwarf(inner, ranges), &allowance).unwrap();
        debug.functions(4_100, &allowance)
    }

    #[test]
    fn functions_that_share_their_ranges_are_counted_before_they_are_kept() {
        let inner = |count: usize| [3, b'g', 0, 0, 0, 0, 0].repeat(count);
        let names = |names: [&str; 1]| Ok(names.map(str::to_owned).to_vec());
        assert_eq!(functions(&[], 0), names(["f"]));
        assert_eq!(functions(&inner(100), 100), names(["f"]));
        assert_eq!(functions(&inner(1_000), 1_000), Err(NoProgram::TooLarge));
    }

    #[test]
    fn functions_within_functions_have_an_end() {
        let place = [4_096_u64.to_le_bytes(), 4_096_u64.to_le_bytes()].concat();
        let nested = |depth: usize| {
            let one = [&[4, b'g', 0][..], &place].concat();
            [one.repeat(depth), vec![0; depth]].concat()
        };
        assert_eq!(functions(&nested(2), 0).unwrap(), ["g", "g", "f"]);
        assert_eq!(functions(&nested(990), 0).unwrap(), [""; 0], "more than are looked at");
        assert_eq!(functions(&nested(100_000), 0), Err(NoProgram::TooLarge));
    }
}
