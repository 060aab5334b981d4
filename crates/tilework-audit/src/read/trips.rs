//! How often loops run: what their counters begin with, what each turn adds, and what they are compared with.
//!
//! Of every computation the whole numbers are followed: constants, parameters, and what adds a constant to one of these,
//! through tuples, copies and fusions. A computation is then known by its root, in terms of its parameters:
//!
//! ```text
//! condition: element 0 < 100        body: (element 0 + 1, …)        called with (90, …)
//! ```
//!
//! A loop goes on while a difference `d0 + t·step` is below 0, or whatever else it is compared as, so it runs as often as
//! that is true for t = 0, 1, 2, … Where one of these is not known, nothing is said of the loop.

use std::sync::Arc;

/// The most elements of a tuple that are followed.
pub(crate) const ELEMENTS: usize = 1 << 12;

/// What a value is, as far as it is a whole number, in terms of the parameters of its computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Number(Linear),
    Compared(Arc<Compared>),
    /// The parameter with this number, which is a tuple.
    Whole(u32),
    Tuple(Arc<[Option<Scalar>]>),
}

/// A number, to which one or two parameters are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Linear {
    bases: [Option<Base>; 2],
    plus: i64,
}

/// A parameter of a computation, or an element of one that is a tuple; or what is below 0 by as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) parameter: u32,
    pub(crate) element: Option<u32>,
    pub(crate) negative: bool,
}

/// Whether a difference is below 0, or so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compared {
    left: Linear,
    way: Way,
    right: Linear,
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Below,
    AtMost,
    Above,
    AtLeast,
    Equal,
    Different,
}

/// What an operation does to whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Constant(i64),
    Parameter(u32),
    Element(u32),
    Tuple,
    /// Its first operand is its value.
    Same,
    Add,
    Subtract,
    Negate,
    Not,
    Compare(Way),
    /// What a computation does with its operands.
    Calls,
    While,
}

/// A loop whose turns are known as soon as its difference is: in terms of the parameters of the computation that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turns {
    first: Linear,
    step: i64,
    way: Way,
}

impl Way {
    /// As a module says it.
    pub(crate) fn of(direction: &[u8]) -> Option<Way> {
        Some(match direction {
            b"LT" => Way::Below,
            b"LE" => Way::AtMost,
            b"GT" => Way::Above,
            b"GE" => Way::AtLeast,
            b"EQ" => Way::Equal,
            b"NE" => Way::Different,
            _ => return None,
        })
    }

    fn not(self) -> Way {
        match self {
            Way::Below => Way::AtLeast,
            Way::AtMost => Way::Above,
            Way::Above => Way::AtMost,
            Way::AtLeast => Way::Below,
            Way::Equal => Way::Different,
            Way::Different => Way::Equal,
        }
    }
}

impl Linear {
    fn number(plus: i64) -> Linear {
        Linear { bases: [None; 2], plus }
    }

    /// The sum of two, if no more than two parameters are left in it.
    fn and(self, other: Linear) -> Option<Linear> {
        let mut sum = Linear { plus: self.plus.checked_add(other.plus)?, ..self };
        for base in other.bases.into_iter().flatten() {
            let opposite = sum.bases.iter().position(|own| *own == Some(base.negated()));
            match opposite {
                Some(place) => sum.bases[place] = None,
                None => {
                    let free = sum.bases.iter().position(Option::is_none)?;
                    sum.bases[free] = Some(base);
                }
            }
        }
        Some(sum)
    }

    fn negated(self) -> Option<Linear> {
        let bases = self.bases.map(|base| base.map(Base::negated));
        Some(Linear { bases, plus: self.plus.checked_neg()? })
    }

    /// The same with what its parameters are.
    fn with(self, value: impl Fn(Base) -> Option<Linear>) -> Option<Linear> {
        let mut sum = Linear::number(self.plus);
        for base in self.bases.into_iter().flatten() {
            let value = value(base)?;
            sum = sum.and(if base.negative { value.negated()? } else { value })?;
        }
        Some(sum)
    }

    fn is_number(&self) -> bool {
        self.bases == [None; 2]
    }
}

impl Base {
    fn negated(self) -> Base {
        Base { negative: !self.negative, ..self }
    }
}

impl Scalar {
    pub(crate) fn number(number: i64) -> Scalar {
        Scalar::Number(Linear::number(number))
    }

    /// The parameter with this number.
    pub(crate) fn parameter(parameter: u32, is_tuple: bool) -> Scalar {
        match is_tuple {
            true => Scalar::Whole(parameter),
            false => Scalar::of(Base { parameter, element: None, negative: false }),
        }
    }

    fn of(base: Base) -> Scalar {
        Scalar::Number(Linear { bases: [Some(base), None], plus: 0 })
    }

    /// An element of a tuple.
    pub(crate) fn element(&self, element: u32) -> Option<Scalar> {
        match self {
            Scalar::Whole(parameter) => {
                Some(Scalar::of(Base { parameter: *parameter, element: Some(element), negative: false }))
            }
            Scalar::Tuple(elements) => elements.get(element as usize)?.clone(),
            _ => None,
        }
    }

    fn linear(&self) -> Option<Linear> {
        if let Scalar::Number(number) = self { Some(*number) } else { None }
    }

    /// What an operation makes of numbers.
    pub(crate) fn made(does: Does, operands: &[Option<Scalar>]) -> Option<Scalar> {
        let operand = |place: usize| operands.get(place)?.as_ref();
        let linear = |place| operand(place)?.linear();
        let number = |linear: Option<Linear>| linear.map(Scalar::Number);
        match does {
            Does::Constant(constant) => Some(Scalar::number(constant)),
            Does::Element(element) => operand(0)?.element(element),
            Does::Tuple if operands.iter().any(Option::is_some) => Some(Scalar::Tuple(operands.into())),
            Does::Same => operand(0).cloned(),
            Does::Add => number(linear(0)?.and(linear(1)?)),
            Does::Subtract => number(linear(0)?.and(linear(1)?.negated()?)),
            Does::Negate => number(linear(0)?.negated()),
            Does::Compare(way) => {
                Some(Scalar::Compared(Arc::new(Compared { left: linear(0)?, way, right: linear(1)? })))
            }
            Does::Not => match operand(0)? {
                Scalar::Compared(compared) => {
                    Some(Scalar::Compared(Arc::new(Compared { way: compared.way.not(), ..**compared })))
                }
                _ => None,
            },
            Does::Parameter(_) | Does::Tuple | Does::Calls | Does::While => None,
        }
    }

    /// What it is where the computation is called with these.
    pub(crate) fn called_with(&self, operands: &[Option<Scalar>]) -> Option<Scalar> {
        let operand = |parameter: u32| operands.get(parameter as usize)?.clone();
        let value = |base: Base| match base.element {
            None => operand(base.parameter)?.linear(),
            Some(element) => operand(base.parameter)?.element(element)?.linear(),
        };
        match self {
            Scalar::Number(number) => Some(Scalar::Number(number.with(value)?)),
            Scalar::Compared(compared) => {
                let Compared { left, way, right } = **compared;
                let (left, right) = (left.with(value)?, right.with(value)?);
                Some(Scalar::Compared(Arc::new(Compared { left, way, right })))
            }
            Scalar::Whole(parameter) => operand(*parameter),
            Scalar::Tuple(elements) => {
                let called = |element: &Option<Scalar>| element.as_ref()?.called_with(operands);
                let elements: Arc<[Option<Scalar>]> = elements.iter().map(called).collect();
                elements.iter().any(Option::is_some).then_some(Scalar::Tuple(elements))
            }
        }
    }

    /// What each turn of a loop adds to an element of what its body is given; none if it does something else to it.
    fn step(&self, element: u32) -> Option<i64> {
        // A body that gives back what it is given changes nothing.
        let after = self.element(element)?.linear()?;
        let own = Base { parameter: 0, element: Some(element), negative: false };
        (after.bases == [Some(own), None] || after.bases == [None, Some(own)]).then_some(after.plus)
    }
}

impl Turns {
    /// Those of a loop, from the roots of its condition and its body and what it is called with.
    pub(crate) fn of(condition: &Scalar, body: &Scalar, init: &Scalar) -> Option<Turns> {
        let Scalar::Compared(compared) = condition else { return None };
        let Compared { left, way, right } = **compared;
        let own = |base: Base| base.element.filter(|_| base.parameter == 0);
        let steps = |number: Linear| {
            number.bases.into_iter().flatten().try_fold(0_i64, |sum, base| {
                let step = body.step(own(base)?)?;
                sum.checked_add(if base.negative { step.checked_neg()? } else { step })
            })
        };
        let step = steps(left)?.checked_sub(steps(right)?)?;
        let before = |number: Linear| number.with(|base| init.element(own(base)?)?.linear());
        let first = before(left)?.and(before(right)?.negated()?)?;
        Some(Turns { first, step, way })
    }

    /// How often the loop runs; none if it depends on what its computation is given, or never ends.
    pub(crate) fn count(&self) -> Option<u64> {
        let Turns { first, step, way } = *self;
        if !first.is_number() {
            return None;
        }
        let first = first.plus;
        let count = match way {
            // From below to 0, and from above to 0.
            Way::Below | Way::AtMost => {
                let until = if way == Way::Below { first } else { first.checked_sub(1)? };
                turns(until.checked_neg()?, step)?
            }
            Way::Above | Way::AtLeast => {
                let until = if way == Way::Above { first } else { first.checked_add(1)? };
                turns(until, step.checked_neg()?)?
            }
            Way::Equal if first != 0 => 0,
            Way::Equal => (step != 0).then_some(1)?,
            Way::Different if first == 0 => 0,
            Way::Different => {
                let whole = step != 0 && first.checked_rem(step)? == 0;
                whole.then(|| first.checked_div(step)?.checked_neg()).flatten().filter(|count| *count > 0)?
            }
        };
        u64::try_from(count).ok()
    }

    /// The same in terms of what a loop is called with whose body the loop is in, if that loop leaves it as it is.
    pub(crate) fn within(&self, body: &Scalar, init: &Scalar) -> Option<Turns> {
        let value = |base: Base| {
            let element = base.element.filter(|_| base.parameter == 0)?;
            (body.step(element)? == 0).then(|| init.element(element)?.linear())?
        };
        Some(Turns { first: self.first.with(value)?, ..*self })
    }
}

/// How many steps it takes until nothing is left, if any is.
fn turns(left: i64, step: i64) -> Option<i64> {
    match (left > 0, step > 0) {
        (false, _) => Some(0),
        (true, true) => Some(left.checked_add(step - 1)? / step),
        (true, false) => None,
    }
}

/// What the elements of a loop's value are when it has ended.
pub(crate) fn after(body: &Scalar, init: &Scalar, count: Option<u64>) -> Option<Scalar> {
    let (Scalar::Tuple(elements), Scalar::Tuple(own)) = (init, body) else { return None };
    let each = |(place, element): (usize, &Option<Scalar>)| {
        let step = body.step(u32::try_from(place).ok()?)?;
        let added = match (step, count) {
            (0, _) => 0,
            (step, Some(count)) => step.checked_mul(i64::try_from(count).ok()?)?,
            (_, None) => return None,
        };
        Some(Scalar::Number(element.as_ref()?.linear()?.and(Linear::number(added))?))
    };
    let elements: Arc<[Option<Scalar>]> = elements.iter().take(own.len()).enumerate().map(each).collect();
    elements.iter().any(Option::is_some).then_some(Scalar::Tuple(elements))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loop that begins with a number, adds one each turn, and goes on while it is compared so with another.
    fn runs(start: i64, step: i64, direction: &str, limit: i64) -> Option<u64> {
        let given = Scalar::Whole(0);
        let counter = given.element(0);
        let way = Way::of(direction.as_bytes()).expect("a direction");
        let condition = Scalar::made(Does::Compare(way), &[counter.clone(), Some(Scalar::number(limit))])
            .expect("a root");
        let next = Scalar::made(Does::Add, &[counter, Some(Scalar::number(step))]);
        let body = Scalar::made(Does::Tuple, &[next]).expect("a root");
        let init = Scalar::made(Does::Tuple, &[Some(Scalar::number(start))]).expect("a tuple");
        Turns::of(&condition, &body, &init)?.count()
    }

    /// The same by running it.
    fn naive(mut counter: i64, step: i64, direction: &str, limit: i64) -> Option<u64> {
        for count in 0..1000 {
            let goes_on = match direction {
                "LT" => counter < limit,
                "LE" => counter <= limit,
                "GT" => counter > limit,
                "GE" => counter >= limit,
                "EQ" => counter == limit,
                _ => counter != limit,
            };
            if !goes_on {
                return Some(count);
            }
            counter += step;
        }
        None
    }

    #[test]
    fn every_small_loop_runs_as_often_as_it_does() {
        for direction in ["LT", "LE", "GT", "GE", "EQ", "NE"] {
            for start in -9..10 {
                for step in -4..5 {
                    for limit in -9..10 {
                        let about = format!("from {start} by {step} while {direction} {limit}");
                        assert_eq!(
                            runs(start, step, direction, limit),
                            naive(start, step, direction, limit),
                            "{about}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_beyond_all_are_not_counted() {
        assert_eq!(runs(0, 1, "LT", i64::MAX), Some(i64::MAX as u64));
        assert_eq!(runs(i64::MIN, 1, "LT", i64::MAX), None);
        assert_eq!(runs(i64::MIN, i64::MIN, "GE", i64::MIN), None);
    }
}
