//! Reading all cosignatures again, for `fsck`.

use std::path::Path;

use anchorlog_proto::note::VerifierKey;

use crate::checkpoints::record::{Cosignatures, Record};
use crate::checkpoints::segment::{self, End, Series};
use crate::storage::{Defect, StorageError};

/// What a check of all cosignatures found: see [`examine`].
#[derive(Debug, Default)]
pub(crate) struct Examined {
    /// Where the last segment's records end.
    pub(crate) end: End,
}

/// Reads every record of the cosignatures of `data` and changes nothing. `visit` gets each with its file and
/// the keys that stand before it, or why the rest of a segment can't be read.
pub(crate) fn examine(
    data: &Path,
    mut visit: impl FnMut(&str, Result<(Cosignatures, &[VerifierKey]), StorageError>),
) -> Result<Examined, StorageError> {
    let directory = data.join(segment::FOLDER);
    let series = Series::Cosignatures;
    let (numbers, _) = segment::list(&directory, series)?;
    let mut examined = Examined::default();
    // The largest size of the segments before.
    let mut before = None;
    for (position, number) in numbers.iter().enumerate() {
        let file = segment::file_of(series, *number);
        let corrupt = |offset| segment::corrupt(series, *number, offset, Defect::OutOfSequence);
        if u64::try_from(position).is_ok_and(|position| position != *number) {
            visit(&file, Err(corrupt(0)));
        }
        let last = position + 1 == numbers.len();
        let (mut keys, mut largest) = (Vec::new(), before);
        let walked = segment::walk(&directory, series, *number, last, |record, offset, _| {
            match record {
                Record::Witness(key) => keys.push(key),
                Record::Cosigned(cosigned) => {
                    if before.is_some_and(|before| cosigned.size <= before) {
                        return Err(corrupt(offset));
                    }
                    largest = largest.max(Some(cosigned.size));
                    visit(&file, Ok((cosigned, &keys)));
                }
                _ => {}
            }
            Ok(())
        });
        before = largest;
        match walked {
            Ok(end) => examined.end = end,
            Err(error) => visit(&file, Err(error)),
        }
    }
    Ok(examined)
}
