//! Reading all tokens again, for `fsck`.

use std::path::Path;

use super::record::{Record, StoredToken};
use super::segment::{self, End, Series, corrupt, file_of};
use crate::storage::{Defect, StorageError};

/// What a check of the whole store found: see [`examine`].
#[derive(Debug, Default)]
pub(crate) struct Examined {
    /// Names in the folder that are no segments.
    pub(crate) foreign: Vec<String>,
    /// Where the last segment's records end.
    pub(crate) end: End,
}

/// Reads every record of the store of `data` and changes nothing. `visit` gets each token with its file,
/// or why the rest of a segment can't be read.
pub(crate) fn examine(
    data: &Path,
    mut visit: impl FnMut(&str, Result<StoredToken, StorageError>),
) -> Result<Examined, StorageError> {
    let directory = data.join(segment::FOLDER);
    let (numbers, foreign) = segment::list(&directory, Series::Tokens)?;
    let mut examined = Examined { foreign, ..Examined::default() };
    let mut size = 0;
    for (position, number) in numbers.iter().enumerate() {
        let file = file_of(Series::Tokens, *number);
        if u64::try_from(position).is_ok_and(|position| position != *number) {
            visit(&file, Err(corrupt(Series::Tokens, *number, 0, Defect::OutOfSequence)));
        }
        let last = position + 1 == numbers.len();
        let walked =
            segment::walk(&directory, Series::Tokens, *number, last, |record, offset, _| {
                if let Record::Token(token) = record {
                    if token.size < size {
                        return Err(corrupt(
                            Series::Tokens,
                            *number,
                            offset,
                            Defect::OutOfSequence,
                        ));
                    }
                    size = token.size;
                    visit(&file, Ok(token));
                }
                Ok(())
            });
        match walked {
            Ok(end) => examined.end = end,
            Err(error) => visit(&file, Err(error)),
        }
    }
    Ok(examined)
}
