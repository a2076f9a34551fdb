use crate::IoError;
use crate::fault::{malformed, quoted};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn parse(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Value of 1.0 in a colour.
    pub(super) fn full_scale(self) -> f32 {
        match self {
            Self::I8 => 127.0,
            Self::U8 => 255.0,
            Self::I16 => 32767.0,
            Self::U16 => 65535.0,
            Self::I32 => 2_147_483_647.0,
            Self::U32 => 4_294_967_295.0,
            Self::F32 | Self::F64 => 1.0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Scalar(Scalar),
    List { count: Scalar, item: Scalar },
}

#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: usize,
    pub(super) properties: Vec<Property>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Ascii,
    Little,
    Big,
}

#[derive(Debug)]
pub(super) struct Header {
    pub(super) format: Format,
    pub(super) elements: Vec<Element>,
    /// First byte of the data.
    pub(super) body: usize,
}

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Header, IoError> {
    let mut format = None;
    let mut elements: Vec<Element> = Vec::new();
    let mut at = 0;
    for number in 1.. {
        let rest = bytes.get(at..).unwrap_or_default();
        let wrong = |found: String, expected: &str| {
            malformed(path, format!("header line {number}"), found, expected)
        };
        let Some(length) = rest.iter().position(|&b| b == b'\n') else {
            return Err(wrong("end of file".into(), "end_header"));
        };
        at += length + 1;
        let line = rest[..length].trim_ascii();
        let words: Vec<&[u8]> = line
            .split(u8::is_ascii_whitespace)
            .filter(|w| !w.is_empty())
            .collect();
        if number == 1 {
            if line != b"ply" {
                return Err(wrong(quoted(line), "'ply'"));
            }
            continue;
        }
        match words.as_slice() {
            [] | [b"comment" | b"obj_info", ..] => {}
            [b"format", word, b"1.0"] => {
                format = Some(match *word {
                    b"ascii" => Format::Ascii,
                    b"binary_little_endian" => Format::Little,
                    b"binary_big_endian" => Format::Big,
                    _ => {
                        return Err(wrong(
                            quoted(word),
                            "ascii, binary_little_endian or binary_big_endian",
                        ));
                    }
                });
            }
            [b"element", name, count] => {
                let count = std::str::from_utf8(count).ok().and_then(|c| c.parse().ok());
                let Some(count) = count else {
                    return Err(wrong(quoted(line), "element NAME COUNT"));
                };
                elements.push(Element {
                    name: String::from_utf8_lossy(name).into_owned(),
                    count,
                    properties: Vec::new(),
                });
            }
            [b"property", kind @ .., name] => {
                let kind = match kind {
                    [scalar] => Scalar::parse(scalar).map(Kind::Scalar),
                    [b"list", count, item] => Scalar::parse(count)
                        .zip(Scalar::parse(item))
                        .map(|(count, item)| Kind::List { count, item }),
                    _ => None,
                };
                let (Some(kind), Some(element)) = (kind, elements.last_mut()) else {
                    return Err(wrong(quoted(line), "property TYPE NAME below an element"));
                };
                let name = String::from_utf8_lossy(name).into_owned();
                element.properties.push(Property { name, kind });
            }
            [b"end_header"] => {
                let Some(format) = format else {
                    return Err(wrong(quoted(line), "a format line before end_header"));
                };
                return Ok(Header {
                    format,
                    elements,
                    body: at,
                });
            }
            _ => {
                return Err(wrong(
                    quoted(line),
                    "format, comment, element, property or end_header",
                ));
            }
        }
    }
    Err(malformed(path, "header", "no end_header", "end_header"))
}
