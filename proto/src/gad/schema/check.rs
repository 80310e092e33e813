//! The part of JSON Schema that the schemas here use, for tests. Any other keyword is a mistake.

use std::collections::BTreeMap;

use regex::Regex;

use crate::json::{Object, Value};

/// A schema made ready to check documents.
pub(super) struct Checker {
    root: Value<'static>,
    patterns: BTreeMap<String, Regex>,
}

impl Checker {
    pub(super) fn new(root: Value<'static>) -> Self {
        let mut patterns = BTreeMap::new();
        collect(&root, &mut patterns);
        Self { root, patterns }
    }

    /// Whether `value` fits; otherwise where it doesn't.
    pub(super) fn check(&self, value: &Value<'_>) -> Result<(), String> {
        self.part(&self.root, value, "")
    }

    fn part(&self, part: &Value<'_>, value: &Value<'_>, at: &str) -> Result<(), String> {
        let part = part.as_object().unwrap();
        for (keyword, says) in part.iter() {
            let holds = match keyword {
                "$schema" | "$defs" | "title" | "description" => true,
                // These belong to `properties` and `items`.
                "additionalProperties" => {
                    assert_eq!(says, &Value::Bool(false));
                    let known = part.get("properties").unwrap().as_object().unwrap();
                    let closed =
                        |object: &Object<'_>| object.iter().all(|(name, _)| known.contains(name));
                    value.as_object().is_none_or(closed)
                }
                "$ref" => {
                    let name = says.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    let definitions = self.root.as_object().unwrap().get("$defs").unwrap();
                    self.part(definitions.as_object().unwrap().get(name).unwrap(), value, at)?;
                    true
                }
                "properties" => {
                    for (name, part) in says.as_object().unwrap().iter() {
                        if let Some(value) = value.as_object().and_then(|object| object.get(name)) {
                            self.part(part, value, &format!("{at}/{name}"))?;
                        }
                    }
                    true
                }
                "required" => value.as_object().is_none_or(|object| {
                    says.as_array()
                        .unwrap()
                        .iter()
                        .all(|name| object.contains(name.as_str().unwrap()))
                }),
                "dependentRequired" => value.as_object().is_none_or(|object| {
                    says.as_object().unwrap().iter().filter(|(name, _)| object.contains(name)).all(
                        |(_, names)| {
                            let mut names = names.as_array().unwrap().iter();
                            names.all(|name| object.contains(name.as_str().unwrap()))
                        },
                    )
                }),
                "items" => {
                    for (index, element) in value.as_array().unwrap_or_default().iter().enumerate()
                    {
                        self.part(says, element, &format!("{at}/{index}"))?;
                    }
                    true
                }
                "oneOf" => {
                    let parts = says.as_array().unwrap();
                    let fits = parts.iter().filter(|part| self.part(part, value, at).is_ok());
                    fits.count() == 1
                }
                "enum" => says.as_array().unwrap().contains(value),
                _ => scalar(keyword, says, value, &self.patterns),
            };
            if !holds {
                return Err(format!("{at}: {keyword}"));
            }
        }
        Ok(())
    }
}

/// Keywords that say something of one value.
fn scalar(
    keyword: &str,
    says: &Value<'_>,
    value: &Value<'_>,
    patterns: &BTreeMap<String, Regex>,
) -> bool {
    let limit = || usize::try_from(says.as_integer().unwrap()).unwrap();
    let length = value.as_str().map(|text| text.chars().count());
    let elements = value.as_array();
    match keyword {
        "const" => says == value,
        "type" => {
            says.as_str().unwrap()
                == match value {
                    Value::Null => "null",
                    Value::Bool(_) => "boolean",
                    Value::Integer(_) => "integer",
                    Value::String(_) => "string",
                    Value::Array(_) => "array",
                    Value::Object(_) => "object",
                }
        }
        "pattern" => {
            let pattern = &patterns[says.as_str().unwrap()];
            value.as_str().is_none_or(|text| pattern.is_match(text))
        }
        "minLength" => length.is_none_or(|length| length >= limit()),
        "maxLength" => length.is_none_or(|length| length <= limit()),
        "minItems" => elements.is_none_or(|elements| elements.len() >= limit()),
        "maxItems" => elements.is_none_or(|elements| elements.len() <= limit()),
        "uniqueItems" => elements.is_none_or(|elements| {
            let mut texts: Vec<_> = elements.iter().map(crate::json::canonical).collect();
            texts.sort_unstable();
            texts.windows(2).all(|pair| pair[0] != pair[1])
        }),
        "minimum" => value.as_integer().is_none_or(|number| number >= says.as_integer().unwrap()),
        "maximum" => value.as_integer().is_none_or(|number| number <= says.as_integer().unwrap()),
        other => panic!("{other} isn't checked here"),
    }
}

/// Every pattern of the schema, ready to match.
fn collect(part: &Value<'_>, patterns: &mut BTreeMap<String, Regex>) {
    match part {
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, patterns)),
        Value::Object(object) => {
            for (name, part) in object.iter() {
                match part.as_str().filter(|_| name == "pattern") {
                    Some(text) => {
                        // A bare `$` also ends before a last LF in some dialects, not in this one.
                        patterns.insert(text.to_owned(), Regex::new(text).unwrap());
                    }
                    None => collect(part, patterns),
                }
            }
        }
        _ => {}
    }
}
