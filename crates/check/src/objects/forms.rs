//! Values of an object that a file writes in one form each.
//!
//! ```text
//!   :transfer {:from 0 …}   :read {"0" 50 …}        one account or two
//!   :write 1                :read "1"               one value or two
//!   :write [1 7]            :read ["1" nil]         one key or two
//! ```
//!
//! Whoever wrote a number and a text of the same letters has two values; a client that turned one
//! into the other meant one. Values are compared with those in the same place: a key `"1"` beside
//! a value 1 is none of its forms. That a word is a text and a keyword is known before
//! ([`NameForms`] of the file); names in JSON are always texts, and say nothing.

use super::operation::{MapKeys, Operation, Value};
use crate::builder::{NameForm, NameForms};

/// Words for nothing, which are texts as well.
const NOTHING: [&str; 2] = ["nil", "null"];

/// Refuses accounts of a bank that stand in two forms.
///
/// # Errors
/// The first that stands in another form than before, with its place; so of all that follow.
pub(super) fn require_form_of_accounts(
    operations: &[Operation],
    map_keys: MapKeys,
) -> Result<(), String> {
    let mut forms = NameForms::default();
    for one in operations {
        for account in ends_of(&one.value).into_iter().filter(|_| one.function == "transfer") {
            note(&mut forms, one, one.lines.0, account)?;
        }
        let Value::Map(pairs) = &one.result else { continue };
        let is_told = one.function == "read" && map_keys == MapKeys::AsWritten;
        for (account, _) in pairs.iter().filter(|_| is_told) {
            note(&mut forms, one, one.lines.1, account)?;
        }
    }
    Ok(())
}

/// Refuses elements of a set that stand in two forms.
pub(super) fn require_form_of_elements(operations: &[Operation]) -> Result<(), String> {
    let mut forms = NameForms::default();
    for one in operations {
        if one.function != "read" {
            note(&mut forms, one, one.lines.0, &one.value)?;
            continue;
        }
        for element in one.result.as_items().unwrap_or_default() {
            note(&mut forms, one, one.lines.1, element)?;
        }
    }
    Ok(())
}

/// Refuses values of a register that stand in two forms.
pub(super) fn require_form_of_values(operations: &[Operation]) -> Result<(), String> {
    let mut forms = NameForms::default();
    for one in operations {
        match one.function.as_str() {
            "read" if one.is_ok("read") => note(&mut forms, one, one.lines.1, &one.result)?,
            "read" => {}
            "cas" => {
                for value in one.value.as_items().unwrap_or_default() {
                    note(&mut forms, one, one.lines.0, value)?;
                }
            }
            _ => note(&mut forms, one, one.lines.0, &one.value)?,
        }
    }
    Ok(())
}

/// Refuses keys of objects that stand in two forms; each is the first of a pair.
pub(super) fn require_form_of_keys(operations: &[Operation]) -> Result<(), String> {
    let mut forms = NameForms::default();
    for one in operations {
        for (pair, line) in [(&one.value, one.lines.0), (&one.result, one.lines.1)] {
            if let Some([key, _]) = pair.as_items() {
                note(&mut forms, one, line, key)?;
            }
        }
    }
    Ok(())
}

/// Notes the form of a value of an operation, in this line of the file.
fn note(forms: &mut NameForms, one: &Operation, line: usize, value: &Value) -> Result<(), String> {
    let (name, form) = match value {
        Value::Number(number) => (number.to_string(), NameForm::Bare),
        Value::Word(word) => (word.clone(), NameForm::Text),
        Value::Nil => {
            for word in NOTHING {
                require(forms, one, line, word, NameForm::Bare)?;
            }
            return Ok(());
        }
        Value::Items(_) | Value::Set(_) | Value::Map(_) => return Ok(()),
    };
    require(forms, one, line, &name, form)
}

fn require(
    forms: &mut NameForms,
    one: &Operation,
    line: usize,
    name: &str,
    form: NameForm,
) -> Result<(), String> {
    forms.require_form(name, form).map_err(|what| format!("{} {line}: {what}", one.unit))
}

/// From where a transfer goes, and to where.
fn ends_of(transfer: &Value) -> Vec<&Value> {
    let Value::Map(pairs) = transfer else { return Vec::new() };
    let ends = pairs.iter().filter(|(name, _)| ["from", "to"].contains(&&*name.display_text()));
    ends.map(|(_, account)| account).collect()
}
