//! Secrets in text that a person typed, taken out before any of it is parsed.
//!
//! ```text
//!   mysql://root:hun?ter2@db/shop                 may be a password  ─▶ kept as a Secret
//!                └──────┘
//!   mysql://root:\u{1}@db/shop                    this is parsed: an error cannot repeat what its
//!                                                 parser has never seen
//!   mysql://root:…@db/shop                        this is shown
//! ```
//!
//! What may be a secret is decided by where it stands, and generously: between the account and the
//! last `@`, behind a name that ends with `password`, behind a word that names no server. A text
//! that means something else there is refused with advice, and not repeated either.

use std::fmt;
use std::ops::Range;

use crate::secret::Secret;
use crate::target_words::{KINDS, SourceKind, is_embedded_kind, is_url_option, is_version};

/// Options whose values may have an `@`: accounts of some clouds, and paths.
const WITH_AT: [&str; 3] = ["user", "host", "socket"];
/// Stands for the first secret; the second has the next character. A target has no control
/// characters of its own.
const FIRST_MARK: u32 = 1;
/// Stands for control characters that the text had, of which a target has none.
const UNREADABLE: char = '\u{fffd}';
/// What is shown for a secret.
const SHOWN: &str = "…";
/// Names of options and keywords end so where the value is a secret.
const SECRET_ENDINGS: [&str; 9] =
    ["password", "passwd", "pass", "pwd", "passphrase", "secret", "token", "sst_auth", "conninfo"];

/// What encrypted forms of SQLite call their keys.
const KEYS: [&str; 5] = ["hexkey", "textkey", "rekey", "hexrekey", "textrekey"];

/// The text of a target without its secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct MaskedTarget {
    text: String,
    secrets: Vec<Secret>,
    boundary: Boundary,
}

/// Whether it is certain where the secret ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// There is one reading only.
    Certain,
    /// A character that ends the address stands before the last `@`.
    Doubtful,
}

impl MaskedTarget {
    /// Takes the secrets out of a target as it was typed.
    pub fn from_text(text: &str) -> MaskedTarget {
        let (spans, boundary) = match text.split_once("://") {
            Some((scheme, _)) if is_scheme(scheme) => {
                spans_of_url(text, scheme.len() + "://".len())
            }
            _ => (spans_of_words(text), Boundary::Certain),
        };
        let (mut masked, mut secrets, mut end) = (String::with_capacity(text.len()), vec![], 0);
        for span in united(spans) {
            masked.push_str(&readable(&text[end..span.start]));
            masked.extend(char::from_u32(FIRST_MARK + secrets.len() as u32));
            secrets.push(Secret::new(&text[span.clone()]));
            end = span.end;
        }
        masked.push_str(&readable(&text[end..]));
        MaskedTarget { text: masked, secrets, boundary }
    }

    /// The text with a mark in the place of each secret: what is parsed.
    pub(crate) fn masked_text(&self) -> &str {
        &self.text
    }

    /// Whether it is certain where the secrets end.
    pub(crate) fn secret_boundary(&self) -> Boundary {
        self.boundary
    }

    /// How many secrets there are.
    pub(crate) fn secret_count(&self) -> usize {
        self.secrets.len()
    }

    /// The secret for which this piece of [`MaskedTarget::masked_text`] stands.
    pub(crate) fn secret(&self, piece: &str) -> Option<&Secret> {
        let mut letters = piece.chars();
        let mark = u32::from(letters.next()?);
        let secret = self.secrets.get(mark.checked_sub(FIRST_MARK)? as usize)?;
        letters.next().is_none().then_some(secret)
    }

    /// What a parser wrote of [`MaskedTarget::masked_text`], with dots for the marks.
    pub(crate) fn replace_marks(written: &str) -> String {
        let mut shown = String::with_capacity(written.len());
        for letter in written.chars() {
            match letter.is_control() {
                true => shown.push_str(SHOWN),
                false => shown.push(letter),
            }
        }
        shown
    }
}

/// The target as it was typed, with dots for its secrets.
impl fmt::Display for MaskedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&MaskedTarget::replace_marks(&self.text))
    }
}

impl fmt::Debug for MaskedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

/// A line of a file that a message quotes, up to where a secret may begin: in the first of its
/// strings that may be a target with one, or behind a word such as `password`. Control characters
/// become spaces.
pub fn mask_line(line: &str) -> String {
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.as_str();
    let mut cut = secret_value(line).map(|span| span.start);
    let mut start = 0;
    for piece in line.split_inclusive(['"', '\'']) {
        let target = MaskedTarget::from_text(piece);
        if target.secret_count() > 0 && (piece.contains("://") || piece.contains('@')) {
            let mark =
                target.masked_text().find(|letter: char| letter.is_control()).unwrap_or_default();
            cut = Some(cut.map_or(start + mark, |cut| cut.min(start + mark)));
            break;
        }
        start += piece.len();
    }
    match cut {
        Some(cut) => format!("{}{SHOWN}", &line[..cut]),
        None => line.to_owned(),
    }
}

/// A message as it may be shown: what stands in it where passwords stand is taken out, in accounts
/// of URLs and behind words such as `password`, whoever has written them there. Places that a
/// message of ours names, such as `USER:PASSWORD@HOST`, stay.
pub fn mask_message(message: &str) -> String {
    let mut spans = Vec::new();
    // SQLite takes one of the slashes away where it opens a URL as a file.
    for (at, _) in message.match_indices(":/") {
        let from = at + 2 + usize::from(message[at + 2..].starts_with('/'));
        let piece = message[from..].split(ends_a_secret).next().unwrap_or_default();
        let account = last_of(piece, &AT).map(|at| &piece[..at]);
        if let Some((account, colon)) = account.and_then(|all| Some((all, first_of(all, &COLON)?)))
        {
            spans.push(from + colon.end..from + account.len());
        }
        let scheme = message[..at].rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
        let is_of_servers = !scheme.is_some_and(|name| ["http", "https", "file"].contains(&name));
        if is_of_servers {
            spans.extend(behind_another_mark(message, from, piece));
            if account.is_none() {
                spans
                    .extend(in_place_of_port(piece).map(|span| from + span.start..from + span.end));
            }
        }
    }
    spans.extend(accounts_of_options(message, ends_a_secret));
    for kind in KINDS {
        let marked = format!("{kind}:");
        for (at, _) in message.match_indices(&marked) {
            let from = at + marked.len();
            let piece = message[from..].split(ends_a_secret).next().unwrap_or_default();
            if !piece.is_empty() && !piece.starts_with('/') && !looks_like_version(piece) {
                spans.extend(behind_another_mark(message, from, piece));
            }
        }
    }
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let mut rest = 0;
    while let Some(begin) = message[rest..].find(is_letter).map(|at| rest + at) {
        let word = message[begin..].split(|c| !is_letter(c)).next().unwrap_or_default();
        rest = begin + word.len();
        let behind = &message[rest..];
        let sign = ["=", "%3D", "%3d", ":"].into_iter().find(|sign| behind.starts_with(*sign));
        let Some(sign) = sign.filter(|_| is_secret_name(word)) else { continue };
        let value = rest + sign.len();
        let length = message[value..]
            .find(|c: char| ends_a_secret(c) || matches!(c, '&' | ';' | '#'))
            .unwrap_or(message.len() - value);
        spans.push(value..value + length);
        rest = value + length;
    }
    spans.retain(|span| !["PASSWORD", SHOWN, "FILE"].contains(&&message[span.clone()]));
    let (mut shown, mut from) = (String::with_capacity(message.len()), 0);
    for span in united(spans) {
        shown.push_str(&message[from..span.start]);
        shown.push_str(SHOWN);
        from = span.end;
    }
    shown + &message[from..]
}

fn ends_a_secret(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | ',')
}

/// Options of URLs whose values have no colon.
const PLAIN_OPTIONS: [&str; 5] = ["user", "dbname", "port", "login-path", "service"];

/// Passwords of accounts that stand where one word does: `user=ann:hunter2`.
fn accounts_of_options(text: &str, ends: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for name in PLAIN_OPTIONS {
        for (at, sign) in text.match_indices(&format!("{name}=")) {
            let from = at + sign.len();
            let value = text[from..].split(|c| c == '&' || ends(c)).next().unwrap_or_default();
            let colon = first_of(value, &COLON);
            spans.extend(colon.map(|colon| from + colon.end..from + value.len()));
        }
    }
    spans
}

/// What may be a password in a URL without an account, where its port would be, and all behind it.
fn in_place_of_port(piece: &str) -> Option<Range<usize>> {
    let authority = piece.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.starts_with('[').then(|| authority.find(']')).flatten().unwrap_or(0);
    let begin = host + first_of(&authority[host..], &COLON)?.end;
    // A message may go on behind it.
    let port = authority[begin..].trim_end_matches([':', '.', ';', ']', '}', '>']);
    let is_port = port.parse::<u16>().is_ok() || ["", "PORT", SHOWN].contains(&port);
    (!is_port).then(|| begin..begin + piece[begin..].trim_end_matches([':', '.', ';']).len())
}

/// What may be a password in a target that begins at `from`, of which `piece` has no blank: behind
/// another mark than a colon, or with a blank in it or before it.
fn behind_another_mark(message: &str, from: usize, piece: &str) -> Option<Range<usize>> {
    if let Some(at) = last_of(piece, &AT) {
        let account = &piece[..at];
        let mark = other_mark(account).filter(|_| first_of(account, &COLON).is_none())?;
        return Some(from + mark.end..from + at);
    }
    let words = message[from..].split(['"', '\'', '`', '\n']).next()?;
    let at = words.find('@').filter(|at| *at > piece.len())?;
    let is_account = !piece.contains(['/', '?']) && !piece.ends_with(':');
    let is_told = [": ", "://"].iter().any(|end| words[..at].contains(end))
        || words[..at].split_whitespace().count() > 4;
    if !is_account || is_told {
        return None;
    }
    let colon = first_of(piece, &COLON).filter(|colon| piece[colon.end..].parse::<u16>().is_err());
    Some(from + colon.map_or(piece.len() + 1, |colon| colon.end)..from + at)
}

/// Whether a password stands in a text where its place says that it is one.
pub(crate) fn names_secret(text: &str) -> bool {
    secret_value(text).is_some() || mask_message(text) != text
}

/// A colon and an at sign, as URLs write them where they part nothing, and as other keyboards do.
const COLON: [&str; 4] = [":", "%3A", "%3a", "\u{ff1a}"];
const AT: [&str; 3] = ["@", "%40", "\u{ff20}"];

fn first_of(text: &str, signs: &[&str]) -> Option<Range<usize>> {
    let found = signs.iter().filter_map(|sign| text.find(sign).map(|at| at..at + sign.len()));
    found.min_by_key(|span| span.start)
}

fn last_of(text: &str, signs: &[&str]) -> Option<usize> {
    signs.iter().filter_map(|sign| text.rfind(sign)).max()
}

/// `mysql`, `jdbc:mysql`.
fn is_scheme(text: &str) -> bool {
    let name = text.strip_prefix("jdbc:").unwrap_or(text);
    name.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
}

fn readable(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { UNREADABLE } else { letter }).collect()
}

/// Secrets of a URL whose account begins at `from`.
fn spans_of_url(text: &str, from: usize) -> (Vec<Range<usize>>, Boundary) {
    let query = text[from..].find('?').map_or(text.len(), |at| from + at);
    let options = Options::read(text, query);
    let mut spans = options.secrets;
    // An `@` of an option that may have one belongs to its value; any other may end a password.
    let end = if options.are_known { query } else { options.first_secret.unwrap_or(text.len()) };
    let head = &text[from..end.max(from)];
    let authority = head.find(['/', '?']).unwrap_or(head.len());
    let last_at = head.rfind('@');
    let colon = last_at.and_then(|at| head[..at].find(':'));
    // Who wrote another mark than the colon has the password behind that one.
    let mark = last_at.and_then(|at| other_mark(&head[..at]));
    let mark = mark.filter(|mark| colon.is_none_or(|colon| mark.start < colon));
    let boundary = match (last_at, mark, colon) {
        (Some(at), Some(mark), _) => {
            spans.push(from + mark.end..from + at);
            Boundary::Doubtful
        }
        (Some(at), None, Some(colon)) => {
            spans.push(from + colon + 1..from + at);
            if at > authority { Boundary::Doubtful } else { Boundary::Certain }
        }
        _ => Boundary::Certain,
    };
    // Whoever forgot the host has the password where the port would be.
    let address = last_at.map_or(0, |at| at + 1);
    if boundary == Boundary::Certain
        && let Some(port) = port_of(&head[address..authority.max(address)])
    {
        let port_text = &head[address + port..authority];
        let is_number = port_text.bytes().all(|byte| byte.is_ascii_digit());
        let is_port = port_text.parse::<u16>().is_ok_and(|port| port > 0);
        if !(is_port || is_number && last_at.is_some()) {
            spans.push(from + address + port..text.len());
        }
    }
    (spans, boundary)
}

/// The first mark in an account by which another one than the colon may have been meant.
fn other_mark(account: &str) -> Option<Range<usize>> {
    let at = account.find(|letter: char| "/?;#".contains(letter) || letter.is_whitespace())?;
    Some(at..at + account[at..].chars().next().map_or(0, char::len_utf8))
}

/// Where the port of an address begins.
fn port_of(address: &str) -> Option<usize> {
    // The colons of an IPv6 address are none of these.
    let v6 = address.strip_prefix('[').and_then(|inner| inner.split_once(']'));
    let host = v6.map_or(0, |(inner, _)| inner.len() + 1);
    Some(host + address[host..].find(':')? + 1)
}

/// What follows the question mark of a URL.
struct Options {
    /// Values of those that may be secrets.
    secrets: Vec<Range<usize>>,
    /// Where the value begins of the first whose name says so.
    first_secret: Option<usize>,
    /// Whether each has a name that targets know.
    are_known: bool,
}

impl Options {
    /// Those of `text` behind its question mark at `query`. What follows a secret and is no option
    /// of its own is taken for the secret's end, which has an `&` in it.
    fn read(text: &str, query: usize) -> Options {
        let mut secrets: Vec<Range<usize>> = Vec::new();
        let (mut first_secret, mut are_known) = (None, true);
        let mut is_secret = false;
        let mut at = query + 1;
        while at < text.len() {
            let end = text[at..].find('&').map_or(text.len(), |length| at + length);
            let name = text[at..end].split('=').next().unwrap_or_default();
            let is_option = name.len() < end - at;
            let is_known = is_option && (is_secret_name(name) || is_url_option(name));
            // A name that no URL has may be one of these, mistyped.
            let names_secret = is_option && (is_secret_name(name) || !is_url_option(name));
            let begin = if is_option && !names_secret {
                behind_account(name, &text[at..end]).map(|behind| at + behind)
            } else {
                names_secret.then_some(at + name.len() + 1)
            };
            match (secrets.last_mut(), begin) {
                (Some(secret), _) if is_secret && !is_known => secret.end = end,
                (_, Some(begin)) => secrets.push(begin..end),
                _ => {}
            }
            if is_known && first_secret.is_none() {
                first_secret = begin;
            }
            // A share, a mode and a file have no `@`: there it ends a password with a `?` in it.
            let value = text[at..end].get(name.len() + 1..).unwrap_or_default();
            let may_have_at = WITH_AT.contains(&name) || value.starts_with('/');
            let has_at = value.contains('@') && !may_have_at;
            are_known &= (is_known && (names_secret || !has_at)) || is_secret;
            is_secret = begin.is_some() || (is_secret && !is_known);
            at = end + 1;
        }
        Options { secrets, first_secret, are_known }
    }
}

/// Where a password begins in an option whose value is one word: `user=ann:hunter2`.
fn behind_account(name: &str, option: &str) -> Option<usize> {
    let value = PLAIN_OPTIONS.contains(&name).then(|| &option[name.len() + 1..])?;
    Some(name.len() + 1 + first_of(value, &COLON)?.end)
}

/// Secrets of what is no URL: a release, words of a connection (`host=… password=…`), an account
/// and a host as other clients write them.
fn spans_of_words(text: &str) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = secret_value(text).into_iter().collect();
    let end = spans.first().map_or(text.len(), |span| span.start);
    let last_at = text[..end].rfind('@');
    let Some(colon) = text[..end].find(':') else {
        // ACCOUNT/PASSWORD@HOST, and no words such as `user=ann@home`.
        let mark = last_at.and_then(|at| other_mark(&text[..at]));
        let mark = mark.filter(|mark| !text.starts_with("--") && !text[..mark.end].contains('='));
        spans.extend(mark.map(|mark| mark.end..end));
        return spans;
    };
    let body_end = text[..end].find('?').unwrap_or(end);
    if let Some(at) = last_at.filter(|at| *at > body_end && !text[body_end..*at].contains('=')) {
        spans.push(body_end + 1..at);
    }
    let body = text.get(colon + 1..body_end).unwrap_or_default();
    match &text[..colon] {
        kind if is_embedded_kind(kind) && !body.contains([':', '@']) => {
            // The key of an encrypted file, as SQLite's relatives take it.
            let key = ["?key=", "&key="].iter().filter_map(|name| text[..end].find(name)).min();
            spans.extend(key.map(|at| at + "?key=".len()..end));
        }
        kind if KINDS.contains(&kind) && is_version(body) => {
            // An account and a host; a release comes from somewhere that is known.
            if let Some((version, from)) = body.split_once('@')
                && SourceKind::named(from).is_none()
                && !looks_like_version(version)
            {
                spans.push(colon + 1..colon + 1 + version.len());
            }
        }
        kind if KINDS.contains(&kind) => {
            spans.push(colon + 1..last_at.unwrap_or_default().max(body_end));
        }
        _ if looks_like_version(body) => {}
        kind => {
            let mark = other_mark(kind).filter(|mark| !kind[..mark.start].contains('='));
            spans.push(mark.map_or(colon + 1, |mark| mark.end)..end);
        }
    }
    spans
}

/// `8.0`, `10.11@debian`; a number of more digits may be a password.
fn looks_like_version(text: &str) -> bool {
    let first = text.split('.').next().unwrap_or_default();
    let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
    (1..=2).contains(&first.len()) && is_number && is_version(text)
}

/// What stands behind the first word that names a secret, up to the end.
fn secret_value(text: &str) -> Option<Range<usize>> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_letter(bytes[at]) {
            at += 1;
            continue;
        }
        let end =
            bytes[at..].iter().position(|byte| !is_letter(*byte)).map_or(bytes.len(), |n| at + n);
        let behind = text[end..].trim_start();
        let sign = text.len() - behind.len();
        if is_secret_name(&text[at..end]) && behind.starts_with(['=', ':', '\'', '"']) {
            return Some(sign + 1..text.len());
        }
        at = end;
    }
    None
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending)) || KEYS.contains(&name.as_str())
}

/// The same places as spans that do not meet, in order.
fn united(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_by_key(|span| span.start);
    let mut all: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans.into_iter().filter(|span| !span.is_empty()) {
        match all.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => all.push(span),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_message_shows_no_password_wherever_it_stands() {
        for text in [
            "could not read mysql://u:hunter2@127.0.0.1:1/d: no such file",
            "unable to open database file: /home/ann/mysql:/u:hunter2@h/db",
            "no \"postgres://u:hunter2@h/d\" (try mysql://USER@HOST)",
            "BASE jdbc:mysql://address=(host=h)(user=u)(password=hunter2)/d: unknown",
            "jdbc:mysql://[(host=h,password=hunter2),(host=i)]/d",
            "jdbc:sqlserver://h;user=u;password=hunter2; is no server",
            "mysql://u@h/d?tls=off;password=hunter2",
            "mysql://u@h/d?password:hunter2 x",
            "mysql://u@h/d?password%3Dhunter2&x=1",
            "mysql://u%3Ahunter2@127.0.0.1:1/d",
            "mysql://u@h/d?user=x:hunter2@y",
            "mysql://u@h/d&PASSWORD=hunter2",
            "\"mysql://u%3Ahunter2%40h\": the host",
            "mysql://u@h/d?user=x%3Ahunter2",
            "127.0.0.1:1/d?user=x:hunter2 is no number",
            "could not open mysql://u:hunter2%4Ah/d",
            "could not open mysql://u:hunter2: No such file",
            "could not open mysql://u:hunter2%h/d",
            "could not open mysql://u%3Ahunter2/d?x=1",
            "could not open postgres://[::1]:hunter2/d",
            "mysql://u@h/d?socket=/x:hunter2@y",
            "mysql://u\u{ff1a}hunter2@h/d",
            "sqlite:?hexkey=hunter2",
            "mysql://me?hunter2@h/db: No such file",
            "mysql://me;hunter2@h/db: No such file",
            "could not read postgres://me#hunter2@h/db: no",
            "could not read mysql://me hunter2@h/db: no",
            "could not read mysql://me:x hunter2@h/db: no",
            "could not read mysql:me/hunter2@h: no",
            "could not read mysql:me hunter2@h: no",
        ] {
            let shown = super::mask_message(text);
            assert!(!shown.contains("hunter2") && shown.contains(super::SHOWN), "{shown}");
        }
        for text in [
            "a password stands before the host: USER:PASSWORD@HOST",
            "write mysql://USER:PASSWORD@HOST/DATABASE",
            "known are socket=PATH, user=, password=, slow=SHARE%",
            "give it with --password-file=FILE",
            "connecting to mysql://u@h:3306/d failed: 3 of 4 @ 5",
            "could not get https://registry.npmjs.org/@scope/name: 404",
            "no connection to mysql://h:3306: the account is a@b",
            "no connection to mysql://h:3306. It went (postgres://h:5432); mysql://HOST:PORT/DB",
            "mysql:8.0@maven and mariadb:10.11@debian are releases",
            "a server is mysql:VERSION, mariadb:VERSION, mysql://USER@HOST/DB or sqlite:",
        ] {
            assert_eq!(super::mask_message(text), text);
        }
    }

    use proptest::prelude::*;

    use super::*;
    use crate::target::{ArmSpec, Target};

    /// The ways in which people hand over a password, `%` for it; the last ones are mistakes.
    const FORMS: [&str; 39] = [
        "mysql://root:%@db1.example/shop",
        "mysql://root:%@db1.example:3307/shop?tls=required&slow=5%25",
        "mysql://app@server:%@db1.example/shop",
        "postgres://ann:%@[::1]:5433/d?sslmode=require",
        "postgresql://ann:%@/d?host=/run/pg",
        "mysql://root@db1.example/shop?password=%",
        "mysql://root@db1.example/shop?password=%&tls=required",
        "mysql://db1.example:3307/shop?user=root&password=%",
        "postgresql://db1.example/d?user=ann&sslpassword=%",
        "postgres://ann@db1.example:1/d?user=ann:%",
        "mysql://db1.example/shop?tls=required&user=root:%&slow=5%25",
        "jdbc:mysql://db1.example:3306/shop?user=root&password=%",
        "mysql://root@db1.example/shop?passwrd=%&tls=required",
        "jdbc:postgresql://db1.example/d?user=ann&password=%&ssl=true",
        "jdbc:mysql://root:%@db1.example/shop",
        "jdbc:oracle:thin:ann/%@db1.example:1521:d",
        "host=db1.example user=ann password=% dbname=d",
        "host=::1 user=ann password='%' dbname=d",
        "Server=db1.example;Uid=root;Pwd=%;Database=shop",
        "root:%@tcp(db1.example:3306)/shop",
        "ann/%@db1.example",
        "mysqlx://root:%@db1.example:33060/shop",
        "mysql:root:%@db1.example/shop",
        "postgres:ann:%@db1.example",
        "mysq:root:%@db1.example",
        "mysql://root:%",
        "mysql://root:%/shop",
        "engine:root:%@db1.example",
        "mysql:8.0?report_password=%",
        "mysql://root:%@db1.example:99999/shop",
        "mysql://root?%@db1.example/shop",
        "mysql://root;%@db1.example/shop",
        "postgres://ann#%@db1.example/shop",
        "mysql://root %@db1.example/shop",
        "mysql://ann/%@db1.example/shop",
        "mysql:root/%@db1.example",
        "mysql:root?%@db1.example",
        "ann?%@db1.example",
        "ann %@db1.example",
    ];

    /// A password of pieces that stand in no message, and what is between them.
    fn password() -> impl Strategy<Value = (String, Vec<String>)> {
        let piece = "[A-Z]{3}[0-9][A-Z]{3}";
        let sign = prop::sample::select(
            [
                ":",
                "/",
                "?",
                "#",
                "[",
                "]",
                "@",
                "!",
                "$",
                "&",
                "'",
                "(",
                "*",
                "+",
                ",",
                ";",
                "=",
                "%",
                "%4",
                " ",
                "\\",
                "\"",
                "://",
                "|",
                "é",
                "\u{1}",
                "\n",
                "a=",
                "?x=",
                "&y=",
                "@:",
                "?slow=",
                "?record=",
                "?tls=",
                "?sslmode=",
                "?ssl-ca=",
            ]
            .to_vec(),
        );
        let rest = prop::collection::vec((sign, piece), 0..4);
        (piece, rest).prop_map(|(first, rest)| {
            let text = rest.iter().fold(first.clone(), |text, (sign, piece)| text + sign + piece);
            let pieces = std::iter::once(first).chain(rest.into_iter().map(|(_, piece)| piece));
            (text, pieces.collect())
        })
    }

    /// Whether what stands behind a question mark is an option with a name, as releases have any.
    fn is_option(form: &str, password: &str) -> bool {
        form.contains("?%@") && !form.contains("://") && password.contains('=')
    }

    /// All that is ever written of a target.
    fn written(text: &str) -> Vec<String> {
        let masked = MaskedTarget::from_text(text);
        let parsed = text.parse::<ArmSpec>();
        let shown = match &parsed {
            Ok(spec) => spec.to_string(),
            Err(error) => error.to_string(),
        };
        vec![masked.to_string(), format!("{masked:?}"), shown, format!("{parsed:?}")]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn no_password_appears_in_what_is_written_of_a_target(
            form in prop::sample::select(FORMS.to_vec()),
            (password, pieces) in password(),
        ) {
            // `root:a@b` is an account with its password, and a host.
            let lacks_host = form.starts_with("mysql://root") && !form.contains('@');
            prop_assume!(!lacks_host || !password.contains('@'));
            prop_assume!(!is_option(form, &password));
            let text = form.replacen('%', &password, 1);
            for written in written(&text) {
                for piece in &pieces {
                    prop_assert!(!written.contains(piece), "{written}\n  of {text}");
                }
            }
        }

        #[test]
        fn no_password_appears_in_a_line_that_is_quoted(
            form in prop::sample::select(FORMS.to_vec()),
            (password, pieces) in password(),
        ) {
            prop_assume!(!password.contains(['"', '\'', '@']));
            let is_noticed = form.contains("://") || form.contains('@');
            prop_assume!(is_noticed || secret_value(form).is_some());
            prop_assume!(!is_option(form, &password));
            let text = format!("base = \"{}\"", form.replacen('%', &password, 1));
            let quoted = mask_line(&text);
            for piece in &pieces {
                prop_assert!(!quoted.contains(piece), "{quoted}\n  of {text}");
            }
        }

        #[test]
        fn an_encoded_password_is_the_one_that_logs_in(
            form in prop::sample::select(FORMS[..8].to_vec()),
            (password, _) in password(),
        ) {
            let encoded: String = password.bytes().map(|byte| format!("%{byte:02x}")).collect();
            let spec: ArmSpec = form.replacen('%', &encoded, 1).parse().unwrap();
            let Target::Url(url) = spec.target else { panic!() };
            prop_assert_eq!(url.password, Some(Secret::new(password)));
        }
    }

    proptest! {
        /// Of a target that was taken for something else, a file or a number: nothing parsed it.
        #[test]
        fn no_password_appears_in_a_message_that_names_a_target(
            form in prop::sample::select(vec![
                "mysql://root:%",
                "mysql://root:%/shop",
                "mysql://root:%\u{25}4Adb1.example/shop",
                "postgres://[::1]:%/d",
                "mysql://root:%@db1.example/shop",
                "mysql://root@db1.example/shop?password=%",
                "postgres://ann@db1.example:1/d?user=ann:%",
                "db1.example:1/d?user=ann:%",
                "postgres://ann@db1.example/d?user=ann%3A%&tls=off",
            ]),
            pieces in prop::collection::vec("[A-Z]{3}[0-9][A-Z]{3}", 1..4),
            sign in prop::sample::select(vec![":", "%", "%4", "+", "=", "!", ".", "é"]),
        ) {
            let (head, tail) = form.rsplit_once('%').filter(|(_, tail)| !tail.starts_with('4'))
                .unwrap_or_else(|| form.split_once('%').unwrap());
            let text = format!("{head}{}{tail}", pieces.join(sign));
            for message in [format!("{text}: No such file"), format!("\"{text}\" is no number")] {
                let shown = mask_message(&message);
                for piece in &pieces {
                    prop_assert!(!shown.contains(piece), "{shown}\n  of {message}");
                }
            }
        }
    }

    #[test]
    fn what_is_shown_is_what_was_typed_but_for_secrets() {
        for (typed, shown) in [
            ("mysql:8.0@maven?binlog=on", "mysql:8.0@maven?binlog=on"),
            ("mysql:8.0?init-file=/a@b", "mysql:8.0?init-file=/a@b"),
            ("mysql:8.0?password_encryption=x", "mysql:8.0?password_encryption=x"),
            ("@last", "@last"),
            ("mysql://root@h:3306/d", "mysql://root@h:3306/d"),
            ("mysql://h:3306/d?socket=/a@b", "mysql://h:3306/d?socket=/a@b"),
            ("mysql://root:pw@h/d?ssl-ca=/a@b", "mysql://root:…@h/d?ssl-ca=/a@b"),
            ("mysql://root:p@w@h:1/d", "mysql://root:…@h:1/d"),
            ("mysql://root:p/w@h/d", "mysql://root:…@h/d"),
            ("mysql://h/d?password=a&b=c&tls=off", "mysql://h/d?password=…&tls=off"),
            ("host=h user=u password = x", "host=h user=u password =…"),
            ("marriadb:10.11", "marriadb:10.11"),
            ("root:hunter2", "root:…"),
            ("mysql:hunter2@h", "mysql:…@h"),
            ("mysql:8.0@debain", "mysql:8.0@debain"),
            ("sqlite:?key=hunter2", "sqlite:?key=…"),
            ("mysql://root@h/d?passwrd=x", "mysql://root@h/d?passwrd=…"),
            ("mysql://h:99999/d", "mysql://h:…"),
            ("mysql://u:pw%4Ah/d", "mysql://u:…"),
            ("postgres://u@h:1/d?user=u:pw", "postgres://u@h:1/d?user=u:…"),
            ("postgres://u@h:1/d?user=u:pw&tls=off", "postgres://u@h:1/d?user=u:…&tls=off"),
            ("mysql://u:p@h:99999/d", "mysql://u:…@h:99999/d"),
            ("a\u{7}b", "a\u{fffd}b"),
        ] {
            assert_eq!(MaskedTarget::from_text(typed).to_string(), shown, "{typed}");
        }
    }

    #[test]
    fn a_password_that_ends_the_address_is_refused_with_advice() {
        for text in ["mysql://root:a?b@h/d", "mysql://root:a/b@h/d", "mysql://root:a%b@h/d"] {
            let error = text.parse::<ArmSpec>().unwrap_err().to_string();
            assert!(error.contains("percent-encode"), "{text}: {error}");
        }
        let error = "mysql://u:x@h/d?password=y".parse::<ArmSpec>().unwrap_err().to_string();
        assert!(error.contains("twice"), "{error}");
    }
}
