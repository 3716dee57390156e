//! The parts of one field: its comma-separated items, and values, ranges and steps inside them, each
//! with its place. Knows nothing of other fields.

use super::{CronError, CronFault, CronField, CronForm};

/// One field as written, in upper case.
#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    pub(super) field: CronField,
    pub(super) form: CronForm,
    pub(super) text: &'a str,
    /// Its first byte in the whole expression.
    pub(super) at: usize,
}

/// The words of an expression with their places.
pub(super) fn words(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return found;
        }
        let length = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        found.push((text.len() - rest.len(), word));
        rest = after;
    }
}

impl<'a> Word<'a> {
    pub(super) fn items(self) -> impl Iterator<Item = Item<'a>> {
        let mut at = self.at;
        self.text.split(',').map(move |text| {
            let item = Item { word: Word { text, at, ..self }, eaten: 0 };
            at += text.len() + 1;
            item
        })
    }

    /// The word as one item that holds one of `marks`; they are not read in a list.
    pub(super) fn alone(self, marks: &[char]) -> Result<Item<'a>, CronError> {
        if !self.text.contains(',') {
            return Ok(Item { word: self, eaten: 0 });
        }
        let found = self.text.char_indices().find(|(_, c)| marks.contains(c));
        let (offset, mark) = found.expect("the caller saw a mark in the word");
        let fault = CronFault::StandsAlone { mark };
        Err(CronError { field: Some(self.field), position: self.at + offset, fault })
    }

    pub(super) fn fault(self, fault: CronFault) -> CronError {
        CronError { field: Some(self.field), position: self.at, fault }
    }
}

/// One item of a field, read from left to right.
pub(super) struct Item<'a> {
    word: Word<'a>,
    eaten: usize,
}

/// A number of the field, in range.
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub(super) number: u16,
    named: bool,
}

/// Values from `first` to `last` in steps; it runs over the field's seam where `last` is less.
pub(super) struct Range {
    first: u16,
    last: u16,
    step: u16,
    cycle: u16,
    from_one: bool,
}

const VALUE: &str = "`*`, a number, or a range such as 1-5";
const STEP: &str = "a comma, a range such as 1-5, or a step such as /5";

impl Item<'_> {
    pub(super) fn position(&self) -> usize {
        self.word.at + self.eaten
    }

    pub(super) fn fault_at(&self, position: usize, fault: CronFault) -> CronError {
        CronError { field: Some(self.word.field), position, fault }
    }

    fn fault(&self, fault: CronFault) -> CronError {
        self.fault_at(self.position(), fault)
    }

    fn rest(&self) -> &str {
        self.word.text.get(self.eaten..).unwrap_or("")
    }

    pub(super) fn eat(&mut self, mark: char) -> bool {
        let found = self.rest().starts_with(mark);
        self.eaten += usize::from(found);
        found
    }

    fn eat_while(&mut self, wanted: fn(&char) -> bool) -> String {
        let eaten: String = self.rest().chars().take_while(wanted).collect();
        self.eaten += eaten.len();
        eaten
    }

    /// The fault of what stands here in the place of `expected`.
    pub(super) fn unexpected(&self, expected: &'static str) -> CronError {
        let Some(found) = self.rest().chars().next() else {
            return self.fault(CronFault::Missing { expected });
        };
        let belongs = match found {
            '?' => "day-of-month and day-of-week, alone",
            'W' => "day-of-month, as in 15W or LW",
            'L' => "day-of-month and day-of-week, as in L or 6L",
            '#' => "day-of-week, as in 6#3",
            _ => return self.fault(CronFault::Unexpected { found, expected }),
        };
        let here = match self.word.field {
            CronField::DayOfMonth => found != '#',
            CronField::DayOfWeek => found != 'W',
            CronField::Second
            | CronField::Minute
            | CronField::Hour
            | CronField::Month
            | CronField::Year => false,
        };
        self.fault(match here {
            true => CronFault::Unexpected { found, expected },
            false => CronFault::NotHere { mark: found, belongs },
        })
    }

    pub(super) fn end(&self, expected: &'static str) -> Result<(), CronError> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// A number of any size; what does not fit is as far out of every range as the greatest.
    pub(super) fn number(&mut self, expected: &'static str) -> Result<u64, CronError> {
        let digits = self.eat_while(char::is_ascii_digit);
        if digits.is_empty() {
            return Err(self.unexpected(expected));
        }
        Ok(digits.parse().unwrap_or(u64::MAX))
    }

    /// A number or a name of the field.
    pub(super) fn value(&mut self, expected: &'static str) -> Result<Value, CronError> {
        let at = self.position();
        if let Some(names) = self.word.field.names()
            && self.rest().starts_with(|c: char| c.is_ascii_alphabetic())
        {
            return self.name(names);
        }
        let value = self.number(expected)?;
        let (least, most) = self.word.field.range(self.word.form);
        match u16::try_from(value) {
            Ok(number) if (least..=most).contains(&number) => Ok(Value { number, named: false }),
            _ => Err(self.fault_at(at, CronFault::OutOfRange { value, least, most })),
        }
    }

    fn name(&mut self, names: &'static str) -> Result<Value, CronError> {
        let at = self.position();
        let mut name = self.eat_while(char::is_ascii_alphabetic);
        // `FRIL`: no weekday's name ends with this letter.
        if self.word.field == CronField::DayOfWeek && name.len() == 4 && name.ends_with('L') {
            name.pop();
            self.eaten -= 1;
        }
        match self.word.field.number_of(&name, self.word.form) {
            Some(number) => Ok(Value { number, named: true }),
            None => Err(self.fault_at(at, CronFault::UnknownName { name, names })),
        }
    }

    /// `*`, `*/n`, `/n`, `a`, `a-b`, `a/n` or `a-b/n`, to the end of the item.
    pub(super) fn range(mut self) -> Result<Range, CronError> {
        let field = self.word.field;
        let (least, _) = field.range(self.word.form);
        let end = field.step_end(self.word.form);
        let range = if self.eat('*') || self.rest().starts_with('/') {
            let step = if self.eat('/') { self.step(field.step_limit())? } else { 1 };
            self.span(least, end, step)
        } else {
            let first = self.value(VALUE)?;
            if self.eat('-') {
                self.ends(first)?
            } else if self.eat('/') {
                self.no_step_after(first)?;
                let step = self.step(field.step_limit())?;
                self.span(first.number, end.max(first.number), step)
            } else {
                self.span(first.number, first.number, 1)
            }
        };
        self.end(STEP)?;
        Ok(range)
    }

    /// What follows the hyphen of a range. A step longer than the range is legal in Quartz.
    fn ends(&mut self, first: Value) -> Result<Range, CronError> {
        let at = self.position();
        let last = self.value(VALUE)?;
        if first.named != last.named {
            return Err(self.fault_at(at, CronFault::MixedRange));
        }
        if self.word.field == CronField::Year && last.number < first.number {
            let fault = CronFault::YearsBackwards { first: first.number, last: last.number };
            return Err(self.fault_at(at, fault));
        }
        let step = if self.eat('/') {
            self.no_step_after(last)?;
            self.step(None)?
        } else {
            1
        };
        Ok(self.span(first.number, last.number, step))
    }

    /// Quartz ignores a step after a name without a word: an expression from there would change
    /// its meaning here.
    fn no_step_after(&self, value: Value) -> Result<(), CronError> {
        match value.named && self.word.form == CronForm::Quartz {
            true => Err(self.fault_at(self.position() - 1, CronFault::StepAfterName)),
            false => Ok(()),
        }
    }

    fn step(&mut self, limit: Option<u16>) -> Result<u16, CronError> {
        let at = self.position();
        let step = self.number("a number after `/`")?;
        if step == 0 {
            return Err(self.fault_at(at, CronFault::StepOfZero));
        }
        match limit {
            Some(limit) if step > u64::from(limit) => {
                Err(self.fault_at(at, CronFault::StepTooLong { step, limit }))
            }
            _ => Ok(u16::try_from(step).unwrap_or(u16::MAX)),
        }
    }

    fn span(&self, first: u16, last: u16, step: u16) -> Range {
        let field = self.word.field;
        let (least, _) = field.range(self.word.form);
        Range { first, last, step, cycle: field.cycle().unwrap_or(0), from_one: least == 1 }
    }
}

impl Range {
    pub(super) fn each(&self, mut take: impl FnMut(u16)) {
        let wraps = self.last < self.first;
        let stop = if wraps { self.last + self.cycle } else { self.last };
        for value in (self.first..=stop).step_by(usize::from(self.step)) {
            take(match value.checked_rem(self.cycle) {
                Some(0) if wraps && self.from_one => self.cycle,
                Some(turned) if wraps => turned,
                Some(_) | None => value,
            });
        }
    }
}
