//! Latencies counted in buckets: no allocation while measuring, and quantiles within 1.6 % at the end.

use std::time::Duration;

/// A histogram over microseconds. Every power of two is divided into 64 equal buckets; below 64 µs every
/// microsecond has its own.
#[derive(Clone, Debug)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS], count: 0, max: 0 }
    }
}

impl Histogram {
    /// Counts one latency.
    pub fn record(&mut self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        if let Some(bucket) = self.buckets.get_mut(bucket_of(micros)) {
            *bucket += 1;
        }
        self.count += 1;
        self.max = self.max.max(micros);
    }

    /// Adds everything another one counted.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *bucket += more;
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// How many latencies were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest latency, exactly.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_micros(self.max)
    }

    /// The latency that `per_mille` of a thousand don't exceed (990 is the 99th percentile): the upper end
    /// of its bucket, and never more than the largest one. Zero if nothing was counted.
    #[must_use]
    pub fn quantile(&self, per_mille: u64) -> Duration {
        let wanted = self.count.saturating_mul(per_mille.min(1000)).div_ceil(1000).max(1);
        let mut passed = 0;
        for (index, bucket) in self.buckets.iter().enumerate() {
            passed += bucket;
            if passed >= wanted {
                return Duration::from_micros(upper_end(index).min(self.max));
            }
        }
        Duration::from_micros(self.max)
    }
}

/// Bits of precision: 64 buckets per power of two.
const PRECISION: u32 = 6;

/// 58 powers of two above the exact ones.
const BUCKETS: usize = (64 - 6 + 1) << 6;

fn bucket_of(micros: u64) -> usize {
    let shift = (64 - micros.leading_zeros()).saturating_sub(PRECISION + 1);
    // The shifted value lies in 64..128 wherever `shift` is above 0, so buckets follow without a gap.
    let bucket = (u64::from(shift) << PRECISION) + (micros >> shift);
    usize::try_from(bucket).unwrap_or(usize::MAX)
}

fn upper_end(bucket: usize) -> u64 {
    let bucket = u64::try_from(bucket).unwrap_or(u64::MAX);
    if bucket < 2 << PRECISION {
        return bucket;
    }
    let shift = (bucket >> PRECISION) - 1;
    let top = (bucket & ((1 << PRECISION) - 1)) + (1 << PRECISION);
    ((top << shift) - 1).saturating_add(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_without_gaps_and_hold_their_values() {
        let mut last = 0;
        for micros in (0..5000).chain((13..64).flat_map(|bit| {
            let power = 1_u64 << bit;
            [power - 1, power, power + 1, power + (power >> 1)]
        })) {
            let bucket = bucket_of(micros);
            assert!(bucket == last || bucket == last + 1 || micros > 5000, "{micros}");
            assert!(bucket >= last && bucket < BUCKETS, "{micros}");
            assert!(upper_end(bucket) >= micros, "{micros} above the end of its bucket");
            if bucket > 0 {
                assert!(upper_end(bucket - 1) < micros, "{micros} belongs one bucket lower");
            }
            last = bucket;
        }
        assert!(bucket_of(u64::MAX) < BUCKETS);
    }

    #[test]
    fn quantiles_are_within_the_promised_precision() {
        let mut histogram = Histogram::default();
        for micros in 1..=100_000_u64 {
            histogram.record(Duration::from_micros(micros));
        }
        for (per_mille, exact) in [(500, 50_000.0), (990, 99_000.0), (999, 99_900.0)] {
            let ratio = histogram.quantile(per_mille).as_secs_f64() * 1e6 / exact;
            assert!((1.0..1.016).contains(&ratio), "{per_mille}: {ratio}");
        }
        assert_eq!(histogram.quantile(1000), Duration::from_millis(100));
        assert_eq!(histogram.max(), Duration::from_millis(100));
    }

    #[test]
    fn merging_is_counting_together() {
        let (mut one, mut other, mut both) =
            (Histogram::default(), Histogram::default(), Histogram::default());
        for micros in 0..1000 {
            let latency = Duration::from_micros(micros * 37);
            if micros % 3 == 0 {
                one.record(latency);
            } else {
                other.record(latency);
            }
            both.record(latency);
        }
        one.merge(&other);
        assert_eq!(one.count(), 1000);
        assert_eq!((one.buckets, one.max), (both.buckets, both.max));
    }

    #[test]
    fn an_empty_histogram_has_no_latencies() {
        assert_eq!(Histogram::default().quantile(999), Duration::ZERO);
    }
}
