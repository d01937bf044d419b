//! Builds the result tables: rows go in one by one, record batches of a versioned schema come out.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Int64Builder, StringBuilder};
use arrow_array::{Array, ArrayRef, ListArray, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use callwright::{Outcome, Reason, Refusal, Verdict};

use super::place;
use crate::text::code_points;

/// The version of the columns, in the schema's metadata under `callwright.version`. A version may gain columns and
/// fields; a removed column, or one with a new meaning, makes a new version.
const VERSION: &str = "1";

/// The bytes of texts that end a batch: the offsets of Arrow's `string` have 31 bits, and the output for a text is at
/// most twice as long as the text.
const BATCH_BYTES: usize = 1 << 29;

/// The content of one row.
pub(super) enum Row<'a, T> {
    /// The row has no text.
    Null,
    /// The definition beside the text is unusable, for this reason.
    Unusable(&'a str),
    /// The result of the text.
    Read(&'a T, &'a str),
}

/// Builds the columns of one kind of answer.
pub(super) trait Builder: Default {
    type Answer;

    fn push(&mut self, row: Row<'_, Self::Answer>);

    /// Returns the columns so far, each with its name, and begins anew.
    fn columns(&mut self) -> Result<Vec<(FieldRef, ArrayRef)>, ArrowError>;
}

/// Rows, cut into batches.
pub(super) struct Batches<B> {
    builder: B,
    bytes: usize,
    rows: usize,
    done: Vec<StructArray>,
    failed: Option<ArrowError>,
}

/// Batches of one schema.
pub(super) struct Table {
    fields: Fields,
    batches: Vec<StructArray>,
}

impl<B: Builder> Batches<B> {
    pub(super) fn new(builder: B) -> Batches<B> {
        Batches { builder, bytes: 0, rows: 0, done: Vec::new(), failed: None }
    }

    pub(super) fn push(&mut self, row: Row<'_, B::Answer>) {
        let row = match row {
            Row::Read(_, text) if BATCH_BYTES < text.len() => Row::Unusable("the text is too long for a row"),
            row => row,
        };
        let bytes = if let Row::Read(_, text) = &row { text.len() } else { 0 };
        if BATCH_BYTES < self.bytes + bytes {
            self.cut();
        }
        self.bytes += bytes;
        self.rows += 1;
        self.builder.push(row);
    }

    fn cut(&mut self) {
        let batch = self.builder.columns().and_then(|columns| {
            let (fields, arrays): (Vec<FieldRef>, Vec<ArrayRef>) = columns.into_iter().unzip();
            StructArray::try_new(Fields::from(fields), arrays, None)
        });
        match batch {
            Ok(batch) => self.done.push(batch),
            Err(error) => self.failed = Some(error),
        }
        (self.bytes, self.rows) = (0, 0);
    }

    pub(super) fn finish(mut self) -> Result<Table, ArrowError> {
        // A table without rows gets one batch too, because its columns are the schema.
        if 0 < self.rows || self.done.is_empty() {
            self.cut();
        }
        match self.failed {
            Some(error) => Err(error),
            None => {
                let fields = self.done.first().map_or_else(Fields::empty, |batch| batch.fields().clone());
                Ok(Table { fields, batches: self.done })
            }
        }
    }
}

impl Table {
    /// Returns the table as one field: a struct of its columns.
    pub(super) fn field(&self) -> FieldRef {
        let metadata = [(String::from("callwright.version"), String::from(VERSION))];
        let field = Field::new("", DataType::Struct(self.fields.clone()), false);
        Arc::new(field.with_metadata(metadata.into()))
    }

    pub(super) fn batches(&self) -> Vec<ArrayRef> {
        self.batches.iter().map(|batch| Arc::new(batch.clone()) as ArrayRef).collect()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.fields.iter().map(|field| field.name().clone()).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.batches.iter().map(Array::len).sum()
    }
}

/// The columns of `parse`.
#[derive(Default)]
pub(super) struct Parsed {
    content: StringBuilder,
    reasoning: StringBuilder,
    calls: Calls,
    refusals: Refusals,
    error: StringBuilder,
}

impl Builder for Parsed {
    type Answer = Outcome;

    fn push(&mut self, row: Row<'_, Outcome>) {
        let Row::Read(outcome, text) = row else {
            self.content.append_null();
            self.reasoning.append_null();
            self.calls.list.end(false);
            self.refusals.list.end(false);
            append_error(&mut self.error, &row);
            return;
        };
        self.content.append_value(&outcome.text);
        self.reasoning.append_value(&outcome.reasoning);
        let mut places = code_points(text);
        for verdict in &outcome.verdicts {
            let place = place(verdict, &mut places);
            match verdict {
                Verdict::Accepted(call) => self.calls.push(call, place),
                Verdict::Refused(refusal) => self.refusals.push(refusal, place),
            }
        }
        self.calls.list.end(true);
        self.refusals.list.end(true);
        self.error.append_null();
    }

    fn columns(&mut self) -> Result<Vec<(FieldRef, ArrayRef)>, ArrowError> {
        Ok(vec![
            column("content", true, self.content.finish()),
            column("reasoning", true, self.reasoning.finish()),
            self.calls.column()?,
            self.refusals.column()?,
            column("error", true, self.error.finish()),
        ])
    }
}

/// The columns of `heal`.
#[derive(Default)]
pub(super) struct Healed {
    text: StringBuilder,
    repair_class: StringBuilder,
    code: StringBuilder,
    message: StringBuilder,
    feedback: StringBuilder,
    error: StringBuilder,
}

impl Builder for Healed {
    type Answer = Result<callwright::Healed, Reason>;

    fn push(&mut self, row: Row<'_, Self::Answer>) {
        let healed = if let Row::Read(Ok(healed), _) = &row { Some(healed) } else { None };
        self.text.append_option(healed.map(|healed| healed.text.as_str()));
        self.repair_class.append_option(healed.map(|healed| healed.class().code()));
        let feedback = match &row {
            Row::Read(Err(reason), text) => Some(Refusal::of_text(text, reason.clone()).feedback()),
            Row::Read(Ok(_), _) | Row::Null | Row::Unusable(_) => None,
        };
        self.code.append_option(feedback.as_ref().map(|feedback| feedback.code));
        self.message.append_option(feedback.as_ref().map(|feedback| feedback.message.as_str()));
        self.feedback.append_option(feedback.as_ref().map(|feedback| feedback.tool_result()));
        append_error(&mut self.error, &row);
    }

    fn columns(&mut self) -> Result<Vec<(FieldRef, ArrayRef)>, ArrowError> {
        Ok(vec![
            column("text", true, self.text.finish()),
            column("repair_class", true, self.repair_class.finish()),
            column("code", true, self.code.finish()),
            column("message", true, self.message.finish()),
            column("feedback", true, self.feedback.finish()),
            column("error", true, self.error.finish()),
        ])
    }
}

#[derive(Default)]
struct Calls {
    list: List,
    id: StringBuilder,
    name: StringBuilder,
    arguments: StringBuilder,
    dialect: StringBuilder,
    repair_class: StringBuilder,
    start: Int64Builder,
    end: Int64Builder,
    unsure: BooleanBuilder,
    open_end: BooleanBuilder,
    unchecked: BooleanBuilder,
}

impl Calls {
    fn push(&mut self, call: &callwright::Acceptance, (start, end): (usize, usize)) {
        self.list.n += 1;
        self.id.append_option(call.id.as_deref());
        self.name.append_value(&call.name);
        self.arguments.append_value(&call.arguments);
        self.dialect.append_value(&call.dialect);
        self.repair_class.append_value(call.class().code());
        self.start.append_value(offset(start));
        self.end.append_value(offset(end));
        self.unsure.append_value(call.unsure);
        self.open_end.append_value(call.open_end);
        self.unchecked.append_value(call.unchecked);
    }

    fn column(&mut self) -> Result<(FieldRef, ArrayRef), ArrowError> {
        let columns = vec![
            column("id", true, self.id.finish()),
            column("name", false, self.name.finish()),
            column("arguments", false, self.arguments.finish()),
            column("dialect", false, self.dialect.finish()),
            column("repair_class", false, self.repair_class.finish()),
            column("start", false, self.start.finish()),
            column("end", false, self.end.finish()),
            column("unsure", false, self.unsure.finish()),
            column("open_end", false, self.open_end.finish()),
            column("unchecked", false, self.unchecked.finish()),
        ];
        self.list.column("calls", columns)
    }
}

#[derive(Default)]
struct Refusals {
    list: List,
    id: StringBuilder,
    name: StringBuilder,
    code: StringBuilder,
    message: StringBuilder,
    feedback: StringBuilder,
    dialect: StringBuilder,
    start: Int64Builder,
    end: Int64Builder,
}

impl Refusals {
    fn push(&mut self, refusal: &Refusal, (start, end): (usize, usize)) {
        let feedback = refusal.feedback();
        self.list.n += 1;
        self.id.append_option(refusal.id.as_deref());
        self.name.append_option(refusal.name.as_deref());
        self.code.append_value(feedback.code);
        self.message.append_value(&feedback.message);
        self.feedback.append_value(feedback.message_to_model());
        self.dialect.append_value(&refusal.dialect);
        self.start.append_value(offset(start));
        self.end.append_value(offset(end));
    }

    fn column(&mut self) -> Result<(FieldRef, ArrayRef), ArrowError> {
        let columns = vec![
            column("id", true, self.id.finish()),
            column("name", true, self.name.finish()),
            column("code", false, self.code.finish()),
            column("message", false, self.message.finish()),
            column("feedback", false, self.feedback.finish()),
            column("dialect", false, self.dialect.finish()),
            column("start", false, self.start.finish()),
            column("end", false, self.end.finish()),
        ];
        self.list.column("refusals", columns)
    }
}

/// The ends of the lists of a column.
#[derive(Default)]
struct List {
    /// Elements since the last end.
    n: usize,
    lengths: Vec<usize>,
    valid: Vec<bool>,
}

impl List {
    fn end(&mut self, is_valid: bool) {
        self.lengths.push(std::mem::take(&mut self.n));
        self.valid.push(is_valid);
    }

    fn column(
        &mut self,
        name: &str,
        columns: Vec<(FieldRef, ArrayRef)>,
    ) -> Result<(FieldRef, ArrayRef), ArrowError> {
        let (fields, arrays): (Vec<FieldRef>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let items = StructArray::try_new(Fields::from(fields), arrays, None)?;
        let field = Arc::new(Field::new("item", items.data_type().clone(), false));
        let offsets = OffsetBuffer::from_lengths(std::mem::take(&mut self.lengths));
        let nulls = std::mem::take(&mut self.valid).into();
        let list = ListArray::try_new(field, offsets, Arc::new(items), Some(nulls))?;
        Ok(column(name, true, list))
    }
}

fn column(name: &str, is_nullable: bool, array: impl Array + 'static) -> (FieldRef, ArrayRef) {
    (Arc::new(Field::new(name, array.data_type().clone(), is_nullable)), Arc::new(array))
}

fn append_error<T>(error: &mut StringBuilder, row: &Row<'_, T>) {
    match row {
        Row::Unusable(why) => error.append_value(why),
        Row::Null | Row::Read(_, _) => error.append_null(),
    }
}

/// Returns a place in a text, which is shorter than a batch.
fn offset(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}
