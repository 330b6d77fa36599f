//! The words in which PostgreSQL announces a deadlock, and those of its hint, in its languages.
//!
//! ```text
//!   FEHLER:  Verklemmung entdeckt          ◀── with log_error_verbosity=terse all there is
//!   TIPP:  Einzelheiten zur Anfrage finden Sie im Serverlog.    ◀── of no other error
//! ```
//!
//! Where the details stand they are read whatever the language. These words are needed where they
//! do not stand: of what is announced and not told nobody may say that there was none. A language
//! that is not here is known by `deadlock`, which many of them have as a loan.

/// How the announcement ends: messages of PostgreSQL 9 to 18 for `deadlock detected`, that of a
/// replica whose recovery and session wait for each other, and those of Citus and Greenplum for a
/// deadlock between nodes.
const ENDS: [&str; 26] = [
    "deadlock detected",
    "deadlock with recovery",
    "involved in a distributed deadlock",
    "cancelled by global deadlock detector",
    "Verklemmung entdeckt",
    "interblocage (deadlock) détecté",
    "interblocage détecté",
    "Bloquage mortel détecté",
    "检测到死锁",
    "偵測到死結",
    "偵測到 deadlock",
    "デッドロックを検出しました",
    "обнаружена взаимоблокировка",
    "виявлено взаємне блокування",
    "взаємне блокування виявлено",
    "se ha detectado un deadlock",
    "impasse detectado",
    "deadlock 발생했음",
    "rilevato deadlock",
    "deadlock rilevato",
    "wykryto zakleszczenie",
    "kilitlenme (deadlock) tespit edildi",
    "ölümcül kilitlenme saptandı",
    "kilitlenme saptandı",
    "deadlock upptäckt",
    "detekován deadlock",
];
/// A part of the hint that only a deadlock has: `See server log for query details.`
const HINTS: [&str; 12] = [
    "See server log for query details",
    "Einzelheiten zur Anfrage finden Sie im Serverlog",
    "Voir les journaux applicatifs du serveur pour les détails sur la requête",
    "详细信息请查看服务器日志",
    "问询服务器日志",
    "問い合わせの詳細はサーバーログを参照してください",
    "問い合わせの詳細はサーバログを参照してください",
    "Подробности запроса смотрите в протоколе сервера",
    "Vea el registro del servidor para obtener detalles de las consultas",
    "쿼리에 대한 자세한 내용은 서버 로그를 참조하십시오",
    "Consulte o log do servidor para obter detalhes",
    "Vedi il log del server per dettagli sulle query",
];
/// What `log_lock_waits` writes of a process that has found a deadlock, behind its number: messages
/// of PostgreSQL 10 to 18 for `detected deadlock while waiting for`. The error of it may not reach
/// the log: `log_min_messages` leaves it out, or a function catches it.
const DETECTIONS: [&str; 16] = [
    "detected deadlock while waiting for",
    "hat Verklemmung festgestellt beim Warten auf",
    "detectó un deadlock mientras esperaba",
    "a détecté un verrou mortel alors qu'il était en attente",
    "ha individuato un deadlock mentre era in attesa",
    "mendeteksi 'deadlock' ketika menunggu",
    "wykrył zakleszczenie podczas oczekiwania",
    "detectou impasse enquanto esperava",
    "обнаружил взаимоблокировку, ожидая",
    "upptäckte deadlock medan den väntade",
    "виявив взаємне блокування, чекаючи",
    "デッドロックを検知しました",
    "교착 상태를 감지함",
    "毫秒后检测到死锁",
    "毫秒後偵測到死結",
    "sonra deadlock tespit etti",
];
/// Labels of lines that quote statements, in which anything may stand.
const QUOTING: [&str; 15] = [
    "LOG",
    "STATEMENT",
    "QUERY",
    "ANWEISUNG",
    "ANFRAGE",
    "INSTRUCTION",
    "REQUÊTE",
    "SENTENCIA",
    "CONSULTA",
    "ISTRUZIONE",
    "ОПЕРАТОР",
    "ЗАПРОС",
    "语句",
    "文",
    "WYRAŻENIE",
];
/// What clients and drivers write of error 1213, whatever the language of its message is, and the
/// messages of Galera, which ends what fails in certification by the same error.
const CLIENT_ERRORS: [&str; 8] = [
    "Deadlock found when trying to get lock",
    "Deadlock: wsrep aborted transaction",
    "WSREP detected deadlock/conflict",
    "1213 (40001)",
    "Serialization failure: 1213 ",
    "(1213, ",
    "ER_LOCK_DEADLOCK",
    "Error_code: MY-001213",
];
/// A longer message is none of a server in another language.
const MESSAGE_LETTERS_MOST: usize = 60;

/// Whether a line announces a deadlock, in a log or as a client's error.
pub(super) fn is_deadlock_announcement(text: &str) -> bool {
    let words = text.trim_end_matches(['\'', '"', ')', '.', ' ', '。']);
    let is_said = ENDS.iter().any(|end| {
        let from = words.len().checked_sub(end.len());
        from.is_some_and(|from| words.as_bytes()[from..].eq_ignore_ascii_case(end.as_bytes()))
    });
    (is_said || is_loan(words)) && !is_deadlock_detection(text) && !text.contains("InnoDB")
}

/// `ERROR:  … deadlock …`: a short message behind a label, in a language that is not known.
fn is_loan(text: &str) -> bool {
    let Some((before, message)) = text.rsplit_once(":  ") else { return false };
    let label = before.rsplit([' ', ']', ':']).next().unwrap_or_default();
    message.contains("deadlock")
        && !message.is_ascii()
        && message.chars().count() <= MESSAGE_LETTERS_MOST
        && label.chars().all(char::is_alphabetic)
        && !QUOTING.contains(&label)
}

/// Whether an entry of a log tells that a process has found a deadlock while it waited for a lock.
pub(super) fn is_deadlock_detection(text: &str) -> bool {
    text.contains("Lock") && DETECTIONS.iter().any(|words| text.contains(words))
}

/// Whether a line has the hint that only a deadlock has.
pub(super) fn has_deadlock_hint(text: &str) -> bool {
    HINTS.iter().any(|hint| text.contains(hint))
}

/// Whether a text has the error by which a client of MySQL is told that it was a victim.
pub(super) fn has_client_error(text: &str) -> bool {
    CLIENT_ERRORS.iter().any(|words| text.contains(words))
}

/// Whether a line speaks of a deadlock that has happened, in the words of servers or of drivers.
pub(super) fn mentions_deadlock(line: &str) -> bool {
    let words = ["deadlock detected", "detected deadlock", "deadlock_detected", "DeadlockDetected"];
    let of_innodb = ["LATEST DETECTED DEADLOCK", "(1) TRANSACTION:", "WE ROLL BACK TRANSACTION"];
    (line.contains("eadlock") && words.iter().any(|word| line.contains(word)))
        || line.contains("40P01")
        || is_deadlock_announcement(line)
        || has_deadlock_hint(line)
        || of_innodb.iter().any(|word| line.contains(word))
}

/// Whether a line with this label may quote what another one has said.
pub(super) fn is_quoting_label(label: Option<&str>) -> bool {
    label.is_some_and(|label| QUOTING.contains(&label))
}
