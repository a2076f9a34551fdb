//! Objects in lists: what a parameter of type [`ParameterType::Records`](crate::ParameterType::Records) holds.

use crate::{ParameterDesc, ParameterValue, Parameters};
use std::fmt;

/// One object of a list: one value for each of its fields.
#[derive(Clone, PartialEq)]
pub struct Record {
    /// What the fields are.
    pub fields: &'static [ParameterDesc],
    /// One per field, in their order.
    pub values: Vec<ParameterValue>,
}

/// Names and values alone: saved setup results are found again by this text, whatever the docs of a field say.
impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.fields.iter().map(|field| field.name);
        f.debug_map().entries(names.zip(&self.values)).finish()
    }
}

impl<'a> Parameters<'a> {
    /// The objects of a list, each read by the names of its fields like the parameters themselves.
    /// Empty, and logged, if the parameter is no list of objects. Does not allocate.
    pub fn records(&self, name: &str) -> impl ExactSizeIterator<Item = Self> + Clone + use<'a> {
        let list: &'a [Record] = match self.get(name) {
            Some(ParameterValue::Records(list)) => list,
            _ => {
                self.log.note("parameter", name, "records");
                &[]
            }
        };
        let log = self.log;
        list.iter().map(move |record| Parameters {
            descs: record.fields,
            values: &record.values,
            log,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadLog;

    const FIELDS: &[ParameterDesc] = &[
        ParameterDesc::text("name", "A name.").required(),
        ParameterDesc::float("at", 0.5, 0.0, 1.0, "A place."),
    ];
    const DESCS: &[ParameterDesc] = &[
        ParameterDesc::records("poses", FIELDS, "Poses."),
        ParameterDesc::transforms("places", "Places."),
    ];

    #[test]
    fn fields_are_read_by_name_and_wrong_names_are_noted() {
        let record = |name: &str, at| Record {
            fields: FIELDS,
            values: vec![ParameterValue::Text(name.into()), ParameterValue::Float(at)],
        };
        let values = [
            ParameterValue::Records(vec![record("a", 0.25), record("b", 0.75)]),
            DESCS[1].default_value(),
        ];
        let log = ReadLog::new();
        let parameters = Parameters {
            descs: DESCS,
            values: &values,
            log: &log,
        };
        let read: Vec<(&str, f64)> = parameters
            .records("poses")
            .map(|p| (p.text("name"), p.float("at")))
            .collect();
        assert_eq!(read, [("a", 0.25), ("b", 0.75)]);
        assert_eq!(parameters.transforms("places"), []);
        assert!(log.check().is_ok(), "all of that is declared");
        assert_eq!(
            format!("{:?}", record("a", 0.25)),
            r#"{"name": Text("a"), "at": Float(0.25)}"#
        );

        assert_eq!(parameters.records("places").len(), 0);
        let misread = log.check().expect_err("a list of transforms");
        assert_eq!((&*misread.name, misread.read_as), ("places", "records"));
        let log = ReadLog::new();
        let parameters = Parameters {
            log: &log,
            ..parameters
        };
        let places: Vec<i64> = parameters.records("poses").map(|p| p.int("at")).collect();
        assert_eq!(places, [0, 0]);
        let misread = log.check().expect_err("a float");
        assert_eq!((&*misread.name, misread.read_as), ("at", "int"));
    }
}
