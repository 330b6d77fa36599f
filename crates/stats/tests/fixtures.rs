//! Our numbers against those of SciPy 1.17.

use dbdyno_model::{Interval, IntervalChoice, Verdict};
use dbdyno_stats::{
    StatsError, fieller, geometric_mean_interval, judge_pairs, judge_unpaired, mann_whitney,
    mean_interval, paired_estimate, signed_rank, welch,
};

fn assert_close(ours: f64, truth: f64) {
    assert!((ours - truth).abs() <= 1e-7 * truth.abs().max(1e-3), "{ours}, not {truth}");
}

fn assert_interval(ours: Interval, estimate: f64, low: f64, high: f64) {
    assert_close(ours.estimate, estimate);
    assert_close(ours.low, low);
    assert_close(ours.high, high);
}

struct Paired {
    log_ratios: &'static [f64],
    mean: f64,
    sd: f64,
    at_95: [f64; 2],
    at_99: [f64; 2],
    p: f64,
}

/// Samples of normal noise, `numpy.mean`, `numpy.std(ddof=1)`, `scipy.stats.ttest_1samp(x, 0)` with
/// its confidence intervals.
const PAIRED: &[Paired] = &[
    Paired {
        log_ratios: &[-0.034221, -0.038213],
        mean: -0.036217,
        sd: 0.0028227702704966945,
        at_95: [-0.061578584653404655, -0.01085541534659534],
        at_99: [-0.16327585536109143, 0.09084185536109143],
        p: 0.035050083886819364,
    },
    Paired {
        log_ratios: &[0.009315, -0.011577, -0.008525],
        mean: -0.0035956666666666667,
        sd: 0.011284620566653242,
        at_95: [-0.03162821817908336, 0.024436884845750028],
        at_99: [-0.06825779390708674, 0.06106646057375341],
        p: 0.636456085672912,
    },
    Paired {
        log_ratios: &[-0.047892, -0.017492, -0.025585, -0.016001, -0.015494, -0.004803],
        mean: -0.021211166666666666,
        sd: 0.014655301094370823,
        at_95: [-0.03659096194850603, -0.005831371384827302],
        at_99: [-0.045335484661325545, 0.002913151327992209],
        p: 0.01647060774228986,
    },
    Paired {
        log_ratios: &[
            -0.004664, 0.011884, 0.041408, -0.00934, 0.005148, 0.005609, -0.026139, 0.012804,
            -0.022912, 0.036265, -0.026123, 0.010033,
        ],
        mean: 0.0028310833333333343,
        sd: 0.02215030213402941,
        at_95: [-0.011242547207844131, 0.0169047138745108],
        at_99: [-0.017028193423562973, 0.022690360090229643],
        p: 0.6665232489231555,
    },
    Paired {
        log_ratios: &[
            -0.105313, -0.078172, -0.072405, -0.151244, -0.075722, -0.135075, -0.061643, -0.16869,
            -0.143335, -0.103238, -0.057938, -0.117945, -0.10778, -0.020837, -0.05905, -0.101013,
            -0.132621, -0.13582, -0.126046, -0.1469, -0.080708, -0.06804, -0.056134, -0.155616,
            -0.104988, -0.131349, 0.012596, -0.038027,
        ],
        mean: -0.09725189285714288,
        sd: 0.04423721437829306,
        at_95: [-0.11440529386763683, -0.08009849184664893],
        at_99: [-0.12041493456781294, -0.07408885114647282],
        p: 5.035016284553137e-12,
    },
];

struct Welch {
    base: &'static [f64],
    test: &'static [f64],
    mean: f64,
    degrees: f64,
    at_95: [f64; 2],
    p: f64,
}

/// `scipy.stats.ttest_ind(test, base, equal_var=False)`.
const WELCH: &[Welch] = &[
    Welch {
        base: &[9.181733, 9.21302, 9.210026],
        test: &[9.113881, 9.156427, 9.159271],
        mean: -0.058400000000000674,
        degrees: 3.5209887257106205,
        at_95: [-0.11042238129237446, -0.006377618707626889],
        p: 0.0364306223619738,
    },
    Welch {
        base: &[9.200052, 9.207112, 9.195275, 9.198917, 9.200841, 9.20684],
        test: &[9.188025, 9.190302, 9.202833, 9.141773, 9.200307, 9.219722, 9.222542, 9.21132],
        mean: -0.004403166666667957,
        degrees: 7.607126953087215,
        at_95: [-0.025936166829532422, 0.017129833496196508],
        p: 0.647569179878222,
    },
    Welch {
        base: &[
            4.926108, 5.067665, 5.100414, 5.057838, 4.945769, 5.047381, 4.937604, 4.897543,
            5.087367, 5.062163, 5.161849, 5.151328,
        ],
        test: &[5.008515, 5.012872, 5.052339, 4.999113, 5.028206],
        mean: -0.016710083333332904,
        degrees: 13.43615457713816,
        at_95: [-0.07559324314837551, 0.042173076481709704],
        p: 0.5513577264650793,
    },
    Welch {
        base: &[
            9.190339, 9.18619, 9.201805, 9.223295, 9.201265, 9.197836, 9.182857, 9.191131,
            9.199765, 9.197234, 9.237057, 9.191789, 9.223124, 9.17817, 9.193304, 9.164859,
            9.206691, 9.175117, 9.222131, 9.183405, 9.213915, 9.217734, 9.184425, 9.175024,
            9.186972, 9.19182, 9.200566, 9.224927,
        ],
        test: &[
            9.206563, 9.183782, 9.168314, 9.195844, 9.175093, 9.198486, 9.186034, 9.180874,
            9.207869, 9.211463, 9.184627, 9.17579, 9.219945, 9.200072, 9.220377, 9.184751, 9.19224,
            9.212126, 9.243015, 9.20714, 9.211186, 9.176145, 9.204318, 9.197823, 9.17728, 9.21902,
            9.205534, 9.214039,
        ],
        mean: 0.0006072499999980607,
        degrees: 53.999586686511925,
        at_95: [-0.008882895540472346, 0.010097395540468467],
        p: 0.8983983734137917,
    },
];

const RATES: [f64; 7] = [9397.079, 10114.084, 9607.103, 10599.142, 9392.619, 9747.855, 9829.457];

#[test]
fn paired_estimates_agree() {
    for case in PAIRED {
        let ours = paired_estimate(case.log_ratios, 0.95).unwrap();
        assert_close(ours.mean_log, case.mean);
        assert_close(ours.sd_log, case.sd);
        assert_close(ours.p_value, case.p);
        assert_eq!(ours.pairs as usize, case.log_ratios.len());
        let [low, high] = case.at_95.map(f64::exp);
        assert_interval(ours.ratio, case.mean.exp(), low, high);
        let [low, high] = case.at_99.map(f64::exp);
        assert_interval(
            paired_estimate(case.log_ratios, 0.99).unwrap().ratio,
            case.mean.exp(),
            low,
            high,
        );
    }
}

#[test]
fn welch_estimates_agree() {
    for case in WELCH {
        let ours = welch(case.base, case.test, 0.95).unwrap();
        assert_close(ours.mean_log, case.mean);
        assert_close(ours.degrees_of_freedom, case.degrees);
        assert_close(ours.p_value, case.p);
        let [low, high] = case.at_95.map(f64::exp);
        assert_interval(ours.ratio, case.mean.exp(), low, high);
    }
}

/// `scipy.stats.gmean` and `scipy.stats.t.interval(0.95, 6, mean, sem)` of values and logarithms.
#[test]
fn means_of_one_arm_agree() {
    let mean = mean_interval(&RATES, 0.95).unwrap();
    assert_interval(mean, 9812.476999999999, 9415.531084778493, 10209.422915221505);
    let geometric = geometric_mean_interval(&RATES, 0.95).unwrap();
    assert_interval(geometric, 9804.595880290493, 9421.61358807963, 10203.146146583062);
}

/// The fourth sample lies in the gap: its 95 % interval excludes 1 and its 99 % interval does not.
#[test]
fn ninety_five_is_shown_and_ninety_nine_decides() {
    let gap = judge_pairs(PAIRED[2].log_ratios, 0.02).unwrap();
    assert!(gap.rqps.high < 1.0, "shown: {:?}", gap.rqps);
    assert_eq!(gap.verdict, Verdict::Undecided);
    assert!(gap.pairs_missing.is_some_and(|more| (1..=12).contains(&more)), "{gap:?}");
    let sure = judge_pairs(PAIRED[4].log_ratios, 0.02).unwrap();
    assert_eq!((sure.verdict, sure.pairs_missing), (Verdict::Slower, None));
    let small = judge_pairs(PAIRED[3].log_ratios, 0.02).unwrap();
    assert_eq!(small.verdict, Verdict::Equal);
    assert_eq!(judge_pairs(PAIRED[3].log_ratios, 0.01).unwrap().verdict, Verdict::Undecided);
}

#[test]
fn too_few_rounds_bound_nothing_and_decide_nothing() {
    let one = mean_interval(&[5.0], 0.95).unwrap();
    assert_eq!((one.estimate, one.low, one.high), (5.0, f64::NEG_INFINITY, f64::INFINITY));
    let one = geometric_mean_interval(&[5.0], 0.95).unwrap();
    assert_eq!((one.low, one.high), (0.0, f64::INFINITY));
    for pairs in [&[-0.7][..], &[-0.7, -0.7]] {
        let judgement = judge_pairs(pairs, 0.02).unwrap();
        assert_eq!(judgement.verdict, Verdict::Undecided);
        assert_eq!(judgement.detectable, None);
        assert_eq!(judgement.warnings[0].code, "few-rounds");
    }
    assert_eq!(judge_pairs(&[-0.7], 0.02).unwrap().pairs_missing, None);
    assert_eq!(judge_pairs(&[-0.7, -0.7], 0.02).unwrap().pairs_missing, Some(1));
    assert_eq!(judge_pairs(&[], 0.02), Err(StatsError::Empty));
    let lonely = welch(&[9.0], &[9.1, 9.2], 0.95).unwrap();
    assert_eq!((lonely.ratio.low, lonely.ratio.high, lonely.p_value), (0.0, f64::INFINITY, 1.0));
}

#[test]
fn pairs_without_spread_are_exact() {
    let exact = |value: f64| judge_pairs(&[value; 4], 0.02).unwrap();
    assert_eq!(exact(0.0).verdict, Verdict::Equal);
    assert_eq!(judge_pairs(&[0.0; 3], 0.0).unwrap().verdict, Verdict::Equal);
    assert_eq!(exact(-0.01).verdict, Verdict::Equal);
    assert_eq!(exact(-0.1).verdict, Verdict::Slower);
    assert_eq!(exact(0.1).verdict, Verdict::Faster);
    let slower = exact(-0.1);
    assert_eq!(slower.rqps.low, slower.rqps.high);
    assert_eq!((slower.detectable, slower.warnings.len()), (Some(0.0), 0));
    assert_eq!(paired_estimate(&[-0.1; 4], 0.95).unwrap().p_value, 0.0);
    assert_eq!(paired_estimate(&[0.0; 4], 0.95).unwrap().p_value, 1.0);
}

/// The band is 1 − budget to its mirror image, both ends included.
#[test]
fn the_band_of_equality_is_symmetric_in_logarithms() {
    let verdict = |ratio: f64| judge_pairs(&[ratio.ln(); 3], 0.02).unwrap().verdict;
    assert_eq!(verdict(0.9801), Verdict::Equal);
    assert_eq!(verdict(0.9799), Verdict::Slower);
    assert_eq!(verdict(1.0 / 0.9801), Verdict::Equal);
    assert_eq!(verdict(1.0 / 0.9799), Verdict::Faster);
}

#[test]
fn what_is_no_number_gives_no_verdict() {
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = judge_pairs(&[0.0, 0.01, wrong, 0.0], 0.02).unwrap_err();
        assert!(matches!(error, StatsError::NotFinite { index: 2, .. }), "{error}");
        assert!(mean_interval(&[wrong], 0.95).is_err());
        assert!(geometric_mean_interval(&[1.0, wrong], 0.95).is_err());
        assert!(welch(&[1.0, 2.0], &[wrong, 1.0], 0.95).is_err());
        assert!(judge_pairs(&[0.0; 4], wrong).is_err());
        assert!(paired_estimate(&[0.0; 4], wrong).is_err());
    }
    let idle = geometric_mean_interval(&[10.0, 0.0], 0.95).unwrap_err();
    assert!(matches!(idle, StatsError::NotPositive { index: 1, .. }));
    let rates = welch(&RATES, &RATES, 0.95).unwrap_err();
    assert!(rates.to_string().contains("hand in logarithms"), "{rates}");
    assert_eq!(judge_pairs(&[0.0; 4], 1.0), Err(StatsError::Budget(1.0)));
    assert_eq!(paired_estimate(&[0.0; 4], 1.0), Err(StatsError::Confidence(1.0)));
}

#[test]
fn unpaired_rounds_carry_their_caution() {
    let base = [9.2, 9.21, 9.19, 9.2, 9.205];
    let slower = base.map(|log| log - 0.1);
    let judgement = judge_unpaired(&base, &slower, 0.02, IntervalChoice::Auto).unwrap();
    assert_eq!(judgement.verdict, Verdict::Slower);
    assert_eq!(judgement.warnings[0].code, "unpaired-rounds");
    assert_eq!(
        judge_unpaired(&base, &base, 0.02, IntervalChoice::Auto).unwrap().verdict,
        Verdict::Equal
    );
    assert_eq!(
        judge_unpaired(&base, &slower[..2], 0.02, IntervalChoice::Auto).unwrap().verdict,
        Verdict::Undecided
    );
}

/// The Hodges–Lehmann estimate (`numpy.median` of the Walsh averages), the intervals of 95 and 99 %
/// (the k-th Walsh average from either end, k from the counted null distribution), and
/// `scipy.stats.wilcoxon(x, mode="exact").pvalue`.
#[test]
fn signed_ranks_agree_with_scipy() {
    let eight = [-0.047892, -0.017492, -0.025585, -0.016001, -0.015494, -0.004803, 0.0021, -0.0111];
    let cases = [
        (&eight[..], -0.01562075, [-0.0319465, -0.004803], [-0.047892, 0.0021], 0.015625),
        (
            PAIRED[3].log_ratios,
            0.00384,
            [-0.0104875, 0.018372],
            [-0.0177315, 0.0240745],
            0.6220703125,
        ),
    ];
    for (values, estimate, at_95, at_99, p) in cases {
        for (confidence, [low, high]) in [(0.95, at_95), (0.99, at_99)] {
            let found = signed_rank(values, confidence).unwrap();
            assert_close(found.estimate, estimate);
            assert_close(found.low, low);
            assert_close(found.high, high);
            assert_close(found.p_value, p);
        }
    }
}

/// `numpy.median` of all differences, the k-th from either end, and
/// `scipy.stats.mannwhitneyu(test, base, method="exact").pvalue`.
#[test]
fn mann_whitney_agrees_with_scipy() {
    let base = [10.31, 10.29, 10.35, 10.27, 10.33, 10.30];
    let test = [10.22, 10.26, 10.28, 10.24, 10.315, 10.23, 10.19];
    for (confidence, low, high) in [(0.95, -0.11, -0.01), (0.99, -0.12, 0.01)] {
        let found = mann_whitney(&base, &test, confidence).unwrap();
        assert_close(found.estimate, -0.065);
        assert_close(found.low, low);
        assert_close(found.high, high);
        assert_close(found.p_value, 0.022144522144522144);
    }
}

struct Fieller {
    base: &'static [f64],
    test: &'static [f64],
    ratio: f64,
    at_95: [f64; 2],
    at_99: [f64; 2],
    p: f64,
}

/// Where |T − ρB| = t·√(vₜ + ρ²·v_b), with means and variances of means by NumPy: the two places
/// by `scipy.optimize.brentq`, from either side of the estimate; t by `scipy.stats.t.ppf` at the
/// degrees of freedom of Welch and Satterthwaite for T − ρB, with ρ as estimated. The p-value is
/// that of `scipy.stats.ttest_ind(test, base, equal_var=False)`. SciPy 1.17.1.
const FIELLER: &[Fieller] = &[
    Fieller {
        base: &[99.1, 101.4, 100.2, 97.8, 102.5, 100.9, 98.3],
        test: &[93.0, 96.7, 95.1, 91.2, 94.4, 97.9],
        ratio: 0.9468961249166904,
        at_95: [0.9204564988507956, 0.9737489279506165],
        at_99: [0.9088135420128085, 0.9858418398772909],
        p: 0.001614438632208279,
    },
    // With so much noise the interval is far from symmetric.
    Fieller {
        base: &[12.0, 15.5, 9.1, 14.2, 10.7],
        test: &[21.3, 30.8, 17.9, 26.4],
        ratio: 1.959349593495935,
        at_95: [1.3227077491435761, 2.811896809126765],
        at_99: [1.0412231316433191, 3.4057148860367312],
        p: 0.018260446262681394,
    },
];

#[test]
fn ratios_of_means_agree_with_the_roots_of_their_definition() {
    for case in FIELLER {
        for (confidence, [low, high]) in [(0.95, case.at_95), (0.99, case.at_99)] {
            let found = fieller(case.base, case.test, confidence).unwrap();
            assert_interval(found.ratio, case.ratio, low, high);
            assert_close(found.p_value, case.p);
        }
    }
}
