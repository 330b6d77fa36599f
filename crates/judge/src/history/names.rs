//! What the name of a figure says about which direction of it is good.
//!
//! ```text
//!   http_req_failed      words: a fault outweighs what it befalls          lower
//!   tps stddev           spread outweighs what spreads                     lower
//!   cpu per tx           before "per" stands what is measured              lower
//!   failures/s · rows/s  by the time: faults are bad, all else is good     lower, higher
//!   time saved           a word that turns it round: nobody knows          not known
//!   latency of max tps   two words of one weight                           not known
//! ```
//!
//! A name is parted into words at signs and where small letters end. Each word that is known has a
//! direction and a weight; the heaviest ones decide, and where they are at odds, nothing does: a
//! direction that is not known is told, and one that is wrong turns the verdict round.

use dbdyno_model::Better;

use super::idle;
use super::stated;
use super::vocabulary::{
    ADVERSE, BLOCKED_WORK, COUNTED, DOUBTFUL, FAULTS, HANDLING, HIGHER, LOWER, OF_STATUS,
    PAGE_WORK, PAGES, PER, PERCENTILES, PLAIN, SIZES, SPREAD, STORAGE, TIMES, TIMES_TAKEN,
    TURNED_AWAY, TURNING, UNUSED, USED, WORK_UNITS,
};
use super::words::{RATES, has_word, name_words};

/// Ends of words that are written together with others.
const ENDS: [(&str, Weight, Better); 16] = [
    ("latency", Weight::Main, Better::Lower),
    ("duration", Weight::Main, Better::Lower),
    ("runtime", Weight::Main, Better::Lower),
    ("elapsed", Weight::Main, Better::Lower),
    ("delay", Weight::Main, Better::Lower),
    ("zeit", Weight::Main, Better::Lower),
    ("dauer", Weight::Main, Better::Lower),
    ("latenz", Weight::Main, Better::Lower),
    ("latencia", Weight::Main, Better::Lower),
    ("latence", Weight::Main, Better::Lower),
    ("durée", Weight::Main, Better::Lower),
    ("задержка", Weight::Main, Better::Lower),
    ("durchsatz", Weight::Main, Better::Higher),
    ("throughput", Weight::Main, Better::Higher),
    ("errors", Weight::Fault, Better::Lower),
    ("failures", Weight::Fault, Better::Lower),
];

/// How much a word counts beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// What is counted or used: nearly every name has such a word.
    Counted,
    /// A percentile, of times unless a word says of what.
    Percentile,
    /// What is measured.
    Main,
    /// What goes wrong, whatever it befalls.
    Fault,
    /// How much all that scatters.
    Spread,
}

/// What a name says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    /// Which direction is good, where that is known.
    pub(super) better: Option<Better>,
    /// Whether a time is kept or spared, so that its unit does not say it.
    pub(super) is_turned: bool,
    /// Whether it is of what goes wrong, so that a rate of it is no better for being larger.
    pub(super) is_of_faults: bool,
    /// Whether that is said of what is measured, and not of what is only counted or used.
    pub(super) is_of_main: bool,
    /// Whether the direction stands there in words, or as an arrow.
    pub(super) is_stated: bool,
    /// Whether it is of what is good to do in one place and bad in another.
    pub(super) is_doubtful: bool,
}

/// What a name says about the direction that is good.
pub(super) fn name_meaning(name: &str) -> Meaning {
    let by_words = said_by_words(name);
    match stated::stated_direction(name) {
        Some(better) => {
            Meaning { better: Some(better), is_of_main: true, is_stated: true, ..by_words }
        }
        None => by_words,
    }
}

/// What the words of a name say that do not state it.
fn said_by_words(name: &str) -> Meaning {
    let name = name.replace(['µ', 'μ'], "u");
    if is_share_of_times(&name)
        || is_part_of_a_request(&name)
        || ["b/op", "b/iter"].contains(&&*name.trim().to_lowercase())
    {
        return Meaning { better: Some(Better::Lower), is_of_main: true, ..Meaning::default() };
    }
    let words = name_words(&name);
    let words = before_at(&words);
    let (measured, is_rate) = before_per(words);
    let measured = &measured[..];
    if is_count_of_times(measured) || is_moment(measured) {
        return Meaning { is_turned: true, ..Meaning::default() };
    }
    if is_until_a_fault(measured) {
        return Meaning { is_turned: true, is_of_faults: true, ..Meaning::default() };
    }
    let is_of_faults = weighed(measured).iter().any(|(weight, _)| *weight >= Weight::Fault);
    if is_of_faults && is_of_handling(measured) || is_of_gain_used(measured) {
        return Meaning { is_turned: true, is_of_faults, ..Meaning::default() };
    }
    if let Some(turned) = turned_round(measured) {
        return Meaning { better: turned, is_turned: true, is_of_faults, ..Meaning::default() };
    }
    let kept = ["uptime", "mtbf", "mtbo"];
    let is_turned = measured.iter().any(|word| kept.contains(&word.as_str()));
    let heaviest = heaviest(&weighed(measured));
    let is_of_main = heaviest.is_some_and(|(weight, _)| weight >= Weight::Main);
    let is_of_pages = measured.iter().any(|word| is_one_of(word, &PAGE_WORK))
        && measured.iter().any(|word| is_one_of(word, &PAGES));
    let is_doubtful = is_of_pages || measured.iter().any(|word| is_one_of(word, &DOUBTFUL));
    let is_counted = heaviest.is_some_and(|(weight, _)| weight == Weight::Counted);
    let better = match (is_rate, heaviest) {
        _ if is_doubtful && (is_rate || !is_of_main) => None,
        // `checkpoints_req`: of what is counted beside a word that is not known nobody knows.
        _ if is_counted && has_unknown_word(measured) => None,
        (true, Some((weight, better))) if weight >= Weight::Main => better,
        // Of what is only counted or moved, more by the time is more work.
        (true, Some(_)) => Some(Better::Higher),
        (true, None) if measured.iter().any(|word| is_one_of(word, &SIZES)) => Some(Better::Higher),
        (true, None) => None,
        // Work by work, such as reads per query, may be effort as well.
        (false, Some((_, Some(Better::Higher)))) if is_by_work(words) => None,
        (false, heaviest) => heaviest.and_then(|(_, better)| better),
    };
    Meaning { better, is_turned, is_of_faults, is_of_main, is_stated: false, is_doubtful }
}

/// `error_recovery_rate`, `retry_success`: how often what goes wrong is met, and no time that this
/// takes.
fn is_of_handling(words: &[String]) -> bool {
    let is_time = words.iter().any(|word| is_one_of(word, &TIMES_TAKEN) || word == "time");
    let is_turned_away = has_word(words, &ADVERSE) && has_word(words, &TURNED_AWAY);
    !is_time && (is_turned_away || has_word(words, &HANDLING))
}

/// `http_request_duration_seconds_bucket` and `…_count` of Prometheus: how many times were taken,
/// and none of them; `…_seconds_sum` grows with their number, too.
fn is_count_of_times(words: &[String]) -> bool {
    let [.., before, last] = words else { return false };
    let is_behind_time = has_word(words, &TIMES_TAKEN);
    match last.as_str() {
        "count" | "bucket" | "buckets" => is_behind_time,
        "sum" => TIMES.contains(&before.as_str()),
        _ => false,
    }
}

/// `process_start_time_seconds`, `node_boot_time_seconds`: a moment, told in seconds since 1970.
fn is_moment(words: &[String]) -> bool {
    let moments = [["start", "time", "seconds"], ["boot", "time", "seconds"]];
    words.windows(3).any(|three| moments.iter().any(|moment| three == moment))
}

/// `bandwidth_used`: what is good to have, and how much of it is gone.
fn is_of_gain_used(words: &[String]) -> bool {
    let gone = ["used", "consumed", "deficit", "tax", "lacking"];
    weighed(words).contains(&(Weight::Main, Better::Higher))
        && words.iter().any(|word| gone.contains(&word.as_str()))
}

/// Whether one of the words says something that is not known.
fn has_unknown_word(words: &[String]) -> bool {
    (0..words.len()).any(|at| {
        let word = words[at].as_str();
        let is_plain = PLAIN.contains(&word)
            || SIZES.contains(&word)
            || TIMES.contains(&word)
            || PER.contains(&word)
            || PAGES.contains(&word)
            || word == "/"
            || word.chars().any(char::is_numeric);
        !is_plain && weight_at(words, at).is_none()
    })
}

/// The words before those that say where it was measured, if they say something: `p99 at max tps`.
fn before_at(words: &[String]) -> &[String] {
    let at = words.iter().position(|word| word == "@" || word == "at");
    let measured = at.map_or(words, |at| &words[..at]);
    if weighed(measured).is_empty() { words } else { measured }
}

/// `time_to_failure`: the longer the better, or the time that it takes to see one.
fn is_until_a_fault(words: &[String]) -> bool {
    let is_fault =
        |word: &String| weight_of(word).is_some_and(|(weight, _)| weight == Weight::Fault);
    words.windows(2).any(|two| two[0] == "to" && is_fault(&two[1]))
}

/// `95%` alone is a percentile of response times, as in the files of Locust.
fn is_share_of_times(name: &str) -> bool {
    let number = name.trim().strip_suffix('%');
    number.is_some_and(|number| number.trim().parse::<f64>().is_ok())
}

/// Times of k6: `http_req_waiting`, `http_req_connecting` and others.
fn is_part_of_a_request(name: &str) -> bool {
    let part = name.trim().strip_prefix("http_req_");
    part.is_some_and(|part| !part.starts_with("failed"))
}

/// Whether a name is of something by the time, such as `errors_per_sec`.
pub(super) fn is_by_the_time(words: &[String]) -> bool {
    before_per(words).1
}

/// The words of what is measured, and whether that is by the time: `requests per second ko` is of
/// `requests ko`.
fn before_per(words: &[String]) -> (Vec<String>, bool) {
    let per = words.iter().position(|word| word == "/" || PER.contains(&word.as_str()));
    let Some(at) = per else { return (words.to_vec(), false) };
    let of = words.get(at + 1).map(String::as_str).unwrap_or_default();
    if TIMES.contains(&of) {
        return ([&words[..at], &words[at + 2..]].concat(), true);
    }
    match (at, words[at] == "/" || words[at] == "per") {
        (1.., true) => (words[..at].to_vec(), false),
        _ => (words.to_vec(), false),
    }
}

/// Whether something is counted by another thing that is done, and not by what that takes.
fn is_by_work(words: &[String]) -> bool {
    let per = words.iter().position(|word| word == "/" || PER.contains(&word.as_str()));
    let of = per.and_then(|at| words.get(at + 1)).and_then(|word| weight_of(word.as_str()));
    of.is_some_and(|(_, better)| better == Better::Higher)
        || per
            .and_then(|at| words.get(at + 1))
            .is_some_and(|one| WORK_UNITS.contains(&one.as_str()))
}

/// The direction of each word that has one.
fn weighed(words: &[String]) -> Vec<(Weight, Better)> {
    (0..words.len()).filter_map(|at| weight_at(words, at)).collect()
}

/// The direction of the word at this place, by what stands beside it.
fn weight_at(words: &[String], at: usize) -> Option<(Weight, Better)> {
    let next = words.get(at + 1).map(String::as_str).unwrap_or_default();
    match words[at].as_str() {
        "blocked" if has_word(words, &BLOCKED_WORK) && !has_word(words, &ADVERSE) => {
            Some((Weight::Main, Better::Lower))
        }
        // `response rate`: how many there are, and no time.
        "response" if ["rate", "rates"].contains(&next) => None,
        // `qps_ci`: how sure it is; elsewhere it builds and tests.
        "ci" | "ci95" | "ci99" if at > 0 && at + 1 == words.len() => {
            Some((Weight::Spread, Better::Lower))
        }
        // `http 500`
        status
            if at > 0 && OF_STATUS.contains(&words[at - 1].as_str()) && is_bad_status(status) =>
        {
            Some((Weight::Fault, Better::Lower))
        }
        // `MB_s`
        size if SIZES.contains(&size) && TIMES.contains(&next) => {
            Some((Weight::Counted, Better::Higher))
        }
        word => weight_of(word),
    }
}

/// 400 to 599
fn is_bad_status(word: &str) -> bool {
    word.len() == 3
        && word.starts_with(['4', '5'])
        && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn weight_of(word: &str) -> Option<(Weight, Better)> {
    let is_percentile = PERCENTILES.contains(&word)
        || is_ordinal(word.strip_prefix('p'))
        || is_ordinal(word.strip_suffix("th"));
    let lists: [(&[&str], Weight, Better); 8] = [
        (&SPREAD, Weight::Spread, Better::Lower),
        (&FAULTS, Weight::Fault, Better::Lower),
        (&TIMES_TAKEN, Weight::Main, Better::Lower),
        (&LOWER, Weight::Main, Better::Lower),
        (&RATES, Weight::Main, Better::Higher),
        (&HIGHER, Weight::Main, Better::Higher),
        (&USED, Weight::Counted, Better::Lower),
        (&COUNTED, Weight::Counted, Better::Higher),
    ];
    let known = lists.iter().find(|(list, ..)| list.contains(&word));
    if let Some((_, weight, better)) = known {
        return Some((*weight, *better));
    }
    if is_percentile {
        return Some((Weight::Percentile, Better::Lower));
    }
    let is_multiple =
        word.strip_prefix(['k', 'm', 'g']).is_some_and(|rest| RATES[..8].contains(&rest));
    if is_multiple {
        return Some((Weight::Main, Better::Higher));
    }
    let end = ENDS.iter().find(|(end, ..)| word.ends_with(end));
    end.map(|(_, weight, better)| (*weight, *better))
}

/// Whether nothing but digits is left of a word.
fn is_ordinal(rest: Option<&str>) -> bool {
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The heaviest weight that there is, and the direction of all words that have it.
fn heaviest(all: &[(Weight, Better)]) -> Option<(Weight, Option<Better>)> {
    let weight = all.iter().map(|(weight, _)| *weight).max()?;
    let mut own = all.iter().filter(|(own, _)| *own == weight).map(|(_, better)| *better);
    let first = own.next()?;
    // A rate of something has the direction of that, such as a hit rate of a miss ratio.
    Some((weight, own.all(|better| better == first).then_some(first)))
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.contains(&word)
}

/// What is meant where a word turns others round: something where the rest is sure, `Some(None)`
/// where nobody knows, and `None` where no word does.
fn turned_round(words: &[String]) -> Option<Option<Better>> {
    if !words.iter().any(|word| is_one_of(word, &TURNING)) {
        return None;
    }
    if let Some(idle) = idle::idle_direction(words) {
        return Some(idle);
    }
    let is_unused = words.iter().any(|word| is_one_of(word, &UNUSED));
    let others: Vec<String> =
        words.iter().filter(|word| !is_one_of(word, &TURNING)).cloned().collect();
    let used = weighed(&others);
    let known: Vec<String> =
        others.iter().filter(|word| !is_one_of(word, &STORAGE)).cloned().collect();
    let is_of_use = used.iter().all(|known| *known == (Weight::Counted, Better::Lower));
    if is_unused && is_of_use && !has_unknown_word(&known) {
        return Some(Some(Better::Higher));
    }
    // `wait-free ops`, `non-waiting tps`: what is free of it, and what it is free of.
    let mut left = words.to_vec();
    for at in (0..left.len()).rev() {
        let is_free = left[at] == "free" && at > 0;
        let is_non = ["non", "no", "without"].contains(&left[at].as_str()) && at + 1 < left.len();
        let away = match (is_free, is_non) {
            (true, _) => at - 1..at + 1,
            (_, true) => at..at + 2,
            _ => continue,
        };
        // Only to be free of something bad is good.
        let is_good = weighed(&left[away.clone()]).iter().all(|(_, it)| *it == Better::Lower);
        if !is_good || weighed(&left[away.clone()]).is_empty() {
            return Some(None);
        }
        left.drain(away);
        break;
    }
    if left.len() == words.len() || left.iter().any(|word| is_one_of(word, &TURNING)) {
        return Some(None);
    }
    let better = heaviest(&weighed(&left)).and_then(|(_, better)| better);
    Some(better.filter(|better| *better == Better::Higher))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word that is bad of one thing is none of another one, and nobody knows where both may be.
    #[test]
    fn words_have_their_sense_beside_others_alone() {
        let lower = [
            "blocked_transactions",
            "sessions_blocked",
            "blocked_time_ms",
            "procs_blocked",
            "rejected_connections_total",
            "dropped_packets",
            "query_latency_seconds",
            "http_request_duration_seconds",
            "http_request_duration_seconds_avg",
            "go_gc_duration_seconds",
            "errors_per_page",
            "cache_misses_total",
            "Total Failure Count",
            "timeouts_count",
            "node_network_receive_errs_total",
            "process_cpu_seconds_total",
            "process_resident_memory_bytes",
            "redis_evicted_keys_total",
        ];
        let higher = [
            "node_memory_free_bytes",
            "node_memory_MemFree_bytes",
            "node_memory_MemAvailable_bytes",
            "node_filesystem_free_bytes",
            "free_disk_space",
            "cache_hits_total",
            "http_requests_total",
            "queries_per_second",
            "tps per client",
            "tps per node",
        ];
        let unknown = [
            "attack_blocked_pct",
            "attacks_blocked_total",
            "threats_blocked",
            "spam_rejected_rate",
            "bots_denied",
            "ads_blocked_today",
            "dns_queries_blocked",
            "requests_blocked",
            "blocked_pct",
            "malicious_requests_dropped",
            "fraud_transactions_blocked",
            "intrusions_prevented",
            "queries per page",
            "queries/page",
            "rows_per_batch",
            "requests per session",
            "selects per view",
            "messages per task",
            "lookups per document",
            "commits per job",
            "calls per click",
            "hits per visit",
            "unused_index_bytes",
            "unused_indexes",
            "unused_memory_bytes",
            "index_unused_mb",
            "free_list_length",
            "available_replicas",
            "spare_index_bytes",
            "free_index_bytes",
            "unused_connections",
            "idle_replica_memory",
            "http_request_duration_seconds_bucket",
            "http_request_duration_seconds_count",
            "http_request_duration_seconds_sum",
            "query_latency_ms_count",
            "process_start_time_seconds",
            "node_boot_time_seconds",
            "last_success_timestamp_seconds",
        ];
        let told = |names: &[&str], better: Option<Better>| {
            for name in names {
                assert_eq!(name_meaning(name).better, better, "{name}");
            }
        };
        told(&lower, Some(Better::Lower));
        told(&higher, Some(Better::Higher));
        told(&unknown, None);
    }

    #[test]
    fn a_name_says_what_is_better_or_nothing() {
        let of = |name: &str| name_meaning(name).better;
        for name in [
            "latency_ms",
            "p99",
            "p99.9",
            "95th percentile",
            "95%",
            "99.99%",
            "AverageLatency(us)",
            "RunTime(ms)",
            "responseTimeP95",
            "Failures/s",
            "errors per second",
            "requests_failed",
            "http_req_failed",
            "http_req_duration",
            "http_req_waiting",
            "dropped_iterations",
            "RTT",
            "TTFB",
            "ms per op",
            "ns/op",
            "B/op",
            "allocs/op",
            "time/transaction",
            "tps stddev",
            "qps_jitter",
            "stddev",
            "cost",
            "page faults",
            "write amplification",
            "cpu per tx",
            "joules/op",
            "lock wait",
            "replication lag",
            "miss ratio",
            "cache-misses",
            "errors_per_1k_tps",
            "tps error",
            "request latency",
            "read us",
            "elapsed [s]",
            "scan (s)",
            "cpu",
            "memory",
            "bytes written",
            "context switches/s",
            "GC pauses",
            "Antwortzeit",
            "Laufzeit",
            "Fehler",
            "Wartezeit",
            "Temps de réponse",
            "Durée",
            "Latencia",
            "Tiempo de respuesta",
            "Errores",
            "Задержка, мс",
            "レイテンシ",
            "read_p99",
            "sec/op",
            "Total Average Response Time",
            "Total Failure Count",
            "timeouts",
            "Latency (ms/op)",
            "reconn/s",
            "slow_queries",
            "rows_examined",
            "5xx/s",
            "evictions/s",
            "syscalls/s",
            "stale_reads/s",
            "unsuccessful_requests",
            "killed_queries",
            "restarts/s",
            "discarded_ops",
            "bad_requests_per_sec",
            "skipped_txns",
            "cancelled_queries",
            "tps_degradation",
            "rows_locked",
            "idle_in_transaction",
            "idle in transaction (aborted)",
            "idleInTransactionSessions",
            "idle_xacts",
            "max_idle_in_transaction_seconds",
            "interrupts/s",
            "hung_ops",
            "retransmits/s",
            "rows_examined_per_query",
            "p99_at_max_tps",
            "p99@max tps",
            "latency_at_10k_qps",
            "collision_rate",
            "gc_rate",
            "qps_ci",
            "unfinished_ops",
            "wakeups/s",
            "memory_mb",
            "dead_tuples",
            "dead_tuples_per_s",
            "spilled_rows",
            "wasted_ops",
            "resent_requests",
            "rolled_back_transactions",
            "lagging_transactions",
            "duplicate_rows",
            "redundant_writes",
            "numberOfRequests.ko",
            "meanNumberOfRequestsPerSecond.ko",
            "KO requests",
            "HTTP 500 req/s",
            "responses 503",
            "buffer overruns",
            "crash_recovery_time",
        ] {
            assert_eq!(of(name), Some(Better::Lower), "{name}");
        }
        for name in [
            "qps",
            "tps",
            "TpmC",
            "tpmC",
            "QphH",
            "NOPM",
            "kqps",
            "Mops/s",
            "krps",
            "rows/s",
            "Requests/sec",
            "Transfer/sec",
            "Req/Sec",
            "ops per ms",
            "ops/ns",
            "bytes_per_second",
            "items_per_second",
            "transactions per second",
            "queries_per_sec",
            "throughput",
            "Throughput (ops/sec)",
            "hit rate",
            "cache hit ratio",
            "success rate",
            "score",
            "speedup",
            "tps_p99",
            "min_tps",
            "tps per core",
            "tps/watt",
            "tx per cpu",
            "memory bandwidth",
            "CPU idle",
            "%idle",
            "idle_pct",
            "free memory",
            "available memory",
            "disk free",
            "uptime",
            "MTBF",
            "wait_free_ops",
            "non-waiting tps",
            "error-free requests",
            "http_reqs",
            "iterations",
            "SLA compliance",
            "Durchsatz",
            "Transaktionen pro Sekunde",
            "Débit",
            "Rendimiento",
            "Transactions par seconde",
            "Пропускная способность",
            "スループット",
            "insert rate",
            "docs/s",
            "2xx responses",
            "response_rate",
            "qps_at_p99_10ms",
            "MB_s",
            "read MB/s",
            "MB/s",
            "buffer_pool_hit_rate",
            "write.bw_bytes",
            "MiB/s",
            "read GiB/s",
            "apdex",
            "msgs/sec",
            "checks passed",
            "numberOfRequests.ok",
        ] {
            assert_eq!(of(name), Some(Better::Higher), "{name}");
        }
        for name in [
            "retry_success_rate",
            "error_recovery_rate",
            "anomaly_detection_recall",
            "zero_errors_pct",
            "bandwidth_used",
            "qps_deficit",
            "idle_connections",
            "idle sessions",
            "open_transactions",
            "oldest_transactions",
            "temp_files",
            "temp_files_per_s",
            "rows_removed_by_filter",
            "cold_reads",
            "extra_reads",
            "recheck_rows",
            "long_transactions",
            "seq_scan_rows",
            "Time between failures",
            "latency_sla_met_pct",
            "time_saved",
            "latency budget left",
            "stall-free time",
            "throughput_latency",
            "latency_throughput_ratio",
            "max_latency_tps",
            "time remaining",
            "value",
            "result",
            "mean",
            "utilization",
            "connections",
            "https",
            "loops",
            "stops",
            "pending_ops",
            "full_scans/s",
            "frobs/s",
            "iops_per_txn",
            "reads_per_query",
            "non_2xx_responses",
            "ops_before_failure",
            "time_to_failure",
            "tolerated_failures",
            "failures_recovered",
            "errors_fixed",
            "buffer_pool_reads",
            "disk_reads/s",
            "inverse_throughput",
            "reciprocal_throughput",
            "tps_margin",
            "MB",
            "",
            "checkpoints_req",
            "wal_bytes/s",
            "compaction write MB/s",
            "swap in MB/s",
            "memory growth",
            "frobnicated rows",
            "full scans (ops/s)",
            "page splits (ops/s)",
            "disk sorts (ops/s)",
            "rd_sec/s",
            "wr_sec/s",
            "rsec/s",
            "wsec/s",
            "rd_sec",
            "read_sec/s",
            "w_sec_per_s",
            "sectors/s",
            "sectors written per second",
            "bread/s",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
        assert!(name_meaning("uptime").is_turned && name_meaning("Failures").is_of_faults);
    }
}
