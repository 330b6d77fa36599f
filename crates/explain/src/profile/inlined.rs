//! Frames of Java that stand in one name.
//!
//! ```text
//!   unfoldall   La/B;::run->La/C;::read->La/D;::get      the outermost first
//!   unfold      La/D;::get in La/B;::run                 the innermost first
//! ```
//!
//! perf-map-agent writes what the compiler has put into a method behind it, in the file of symbols
//! that perf reads. A sample there is one of the innermost method, as it is where nothing was put
//! together: the same method is not another function by where it was put.

/// What stands between frames of one name.
const SIGNS: [&str; 2] = ["->", " in "];

/// The frames of a name, the outermost first; none of a name that is one frame, as `A::operator->`.
pub(super) fn inlined_frames(name: &str) -> Option<Vec<&str>> {
    if !name.contains("::") || !SIGNS.iter().any(|sign| name.contains(sign)) {
        return None;
    }
    let mut frames: Vec<&str> = name.split("->").collect();
    if let [within] = frames[..] {
        frames = within.split(" in ").collect();
        frames.reverse();
    }
    (frames.len() > 1 && frames.iter().all(|frame| is_java_method(frame))).then_some(frames)
}

/// `Lorg/x/Bar;::run`, and `org.x.Bar::run` of the option `dottedclass`.
fn is_java_method(text: &str) -> bool {
    let Some((class, method)) = text.split_once("::") else { return false };
    let is_class = match class.strip_suffix(';') {
        Some(class) => is_java_class(class),
        None => class.contains('.') && class.chars().all(|c| is_of_name(c) || c == '.'),
    };
    is_class && method.starts_with(|c: char| c.is_alphabetic() || "_$<".contains(c))
}

/// Whether a stack that ends here ends within a name: a class of Java ends with the sign that
/// stands between frames. `Load;::f` may be two frames, unless others are put into the second.
pub(super) fn is_within_java_name(before: &str, behind: &str) -> bool {
    if !behind.starts_with(";::") {
        return false;
    }
    let class = before.rsplit([' ', '>']).next().unwrap_or_default();
    let is_one = class.len() < before.len() || class.contains('/');
    let next = behind[1..].split(';').next().unwrap_or_default();
    is_java_class(class) && (is_one || SIGNS.iter().any(|sign| next.contains(sign)))
}

/// `Lorg/x/Bar`
fn is_java_class(text: &str) -> bool {
    let class = text.strip_prefix('L').unwrap_or_default();
    !class.is_empty() && class.chars().all(|c| is_of_name(c) || c == '/')
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_$".contains(c)
}

#[cfg(test)]
mod tests {
    use super::super::read::read;
    use super::*;

    #[test]
    fn frames_in_one_name_are_of_java() {
        for (name, frames) in [
            ("La/B;::run->La/C;::read", &["La/B;::run", "La/C;::read"][..]),
            ("LMain;::<init>->LMain;::a->Lb/C;::d", &["LMain;::<init>", "LMain;::a", "Lb/C;::d"]),
            ("La/C;::get in La/B;::run", &["La/B;::run", "La/C;::get"]),
            ("a.b.C::run->a.b.D::get", &["a.b.C::run", "a.b.D::get"]),
            ("La/B;::run(I)V->La/C;::get()J", &["La/B;::run(I)V", "La/C;::get()J"]),
        ] {
            assert_eq!(inlined_frames(name).as_deref(), Some(frames), "{name}");
        }
        for name in ["A::operator->", "std::p<a>::operator->() const", "block in run", "f", "a->b"]
        {
            assert_eq!(inlined_frames(name), None, "{name}");
        }
    }

    /// What was put into a method is the same function as elsewhere.
    #[test]
    fn a_method_has_its_samples_wherever_it_was_put() {
        let collapsed = "java;LMain;::main->La/B;::run->La/C;::read->La/D;::get 7\n\
                         java;LMain;::main->La/D;::get 0\njava;La/D;::get in La/B;::run 2\njava;La/D;::get 5\n";
        let script = "java 7 [001] 5.25: 14 cycles:\n\t 7f3a La/B;::run->La/C;::read->La/D;::get\
                      +0x1a (/tmp/perf-7.map)\n\t 7f3b LMain;::main (/tmp/perf-7.map)\n\n";
        for (text, callers) in [(collapsed, 4), (script, 1)] {
            let profile = read(text).unwrap();
            let own: Vec<(&str, f64)> = profile
                .own
                .iter()
                .filter(|(_, own)| **own > 0.0)
                .map(|(name, own)| (&**name, *own))
                .collect();
            assert_eq!(own, [("La/D;::get", 14.0)], "{text}");
            let get = profile.by_caller.keys().filter(|(_, name)| &**name == "La/D;::get");
            assert_eq!(get.count(), callers, "{:?}", profile.by_caller);
            let is_one = profile.by_caller.keys().any(|(_, name)| &**name == "LMain;::main");
            assert!(is_one, "{profile:?}");
        }
    }
}
