//! Places in a document.

use core::fmt;

/// Where in a document something stands; written as a pointer only when there is a defect.
#[derive(Clone, Copy, Debug)]
pub struct At<'p> {
    parent: Option<&'p At<'p>>,
    token: Token<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Token<'p> {
    Prefix(&'p str),
    Name(&'p str),
    Index(usize),
}

impl<'p> At<'p> {
    /// The document, or what stands at the pointer `prefix` of it.
    #[must_use]
    pub const fn root(prefix: &'p str) -> Self {
        Self { parent: None, token: Token::Prefix(prefix) }
    }

    /// A member of the object that stands here.
    #[must_use]
    pub const fn member(&'p self, name: &'p str) -> At<'p> {
        At { parent: Some(self), token: Token::Name(name) }
    }

    /// An element of the array that stands here.
    #[must_use]
    pub const fn element(&'p self, index: usize) -> At<'p> {
        At { parent: Some(self), token: Token::Index(index) }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.token {
            Token::Prefix(prefix) => f.write_str(prefix),
            Token::Index(index) => write!(f, "/{index}"),
            Token::Name(name) => {
                f.write_str("/")?;
                // Hostile names can't blow up a report.
                for c in name.chars().take(MAX_NAME_CHARS) {
                    match c {
                        '~' => f.write_str("~0")?,
                        '/' => f.write_str("~1")?,
                        c => fmt::Write::write_char(f, c)?,
                    }
                }
                Ok(())
            }
        }
    }
}

/// The longest part of a member name that a pointer shows, in characters.
const MAX_NAME_CHARS: usize = 128;
