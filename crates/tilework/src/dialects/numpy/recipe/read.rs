//! Reading code: a chain of calls, and behind it a remark that says what they are called on.

use std::ops::Range;
use tilework_core::InOrder;

use super::super::array::{Array, Library};
use super::super::read as arrays;
use super::arguments::{argument, check_keys, number, numbers, sizes, whole};
use super::lower::product;
use super::parse::{Call, calls};
use super::read_view::view;
use super::{MOST, Pattern, Recipe, Step, Style};
use crate::dialect::python::{Kind, Value};
use crate::dialect::{Found, Known};
use crate::error::{Error, ErrorKind, Result, counted};

/// Reads code. What it is called on is known from the remark, or from elsewhere.
pub(in super::super) fn read(text: &str, known: &Known) -> Result<Found> {
    let (code, remark) = split(text);
    let calls = calls(code)?;
    let remark = remark.map(|at| remarked(text, at)).transpose()?;
    let element = remark.as_ref().map(|array| array.element).or(known.element);
    let missing = |what: &str| {
        Error::new(what)
            .at(code.trim_end().len()..text.len())
            .rule("code says neither type nor sizes of what it is called on")
            .accepts("both before it, as in float32 (3, 5) x.ravel(), or in a remark behind it: # x: float32 (3, 5)")
    };
    let element = element.ok_or_else(|| missing("no element type"))?;
    let style = style(&calls, remark.as_ref().map(|array| array.printer));
    if let Some(place) = calls.iter().position(|call| call.name == "as_strided") {
        let buffer = remark.map(|array| (array.dims, text.find('#').unwrap_or(0)..text.len()));
        return view(&calls, place, (style.library(), element), buffer, known).map(Found::unnamed);
    }
    let dims = remark.map(|array| array.dims).or_else(|| known.dims.map(<[u64]>::to_vec));
    let dims = dims.ok_or_else(|| missing("no sizes"))?;
    let at = 0..code.trim_end().len();
    if style.library().name(element).is_none() {
        return Err(Error::new(format!("{} has no element type {element}", style.library().title())).at(at));
    }
    let mut builder = Builder { style, sizes: dims.clone(), steps: Vec::new() };
    for call in &calls {
        builder.call(call).map_err(|error| error.or_at(call.span.clone()))?;
    }
    // Code that only copies: without a step it would be printed as a name alone, which nobody reads as code.
    if builder.steps.is_empty() {
        builder.take(Step::Ravel).map_err(|error| error.or_at(at.clone()))?;
    }
    // One call may be several steps, and each is printed as a call.
    if builder.steps.len() > MOST {
        let error = Error::new(format!("{} steps", builder.steps.len())).of_kind(ErrorKind::Limit).at(at);
        return Err(error.accepts(format!("at most {MOST}")));
    }
    let recipe = Recipe { style, element, dims, steps: builder.steps };
    recipe.lower().map_err(|error| error.or_at(at))?;
    Ok(Found::unnamed(recipe))
}

/// The code, and where the array of the remark is.
fn split(text: &str) -> (&str, Option<Range<usize>>) {
    let mut quote = None;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'\'' | b'"' if quote.is_none() => quote = Some(byte),
            byte if quote == Some(byte) => quote = None,
            b'#' if quote.is_none() => return (&text[..place], Some(place + 1..text.len())),
            _ => {}
        }
    }
    (text, None)
}

/// `x: float32 (3, 5)`
fn remarked(text: &str, at: Range<usize>) -> Result<Array> {
    let remark = &text[at.clone()];
    let start = remark.find(':').map_or(at.start, |colon| at.start + colon + 1);
    let own = &text[start..];
    let blank = own.len() - own.trim_start().len();
    let array = arrays::read(own.trim(), &Known::default()).map_err(|error| error.moved(start + blank))?;
    match array.strides.is_none() && array.order.is_none() && array.offset.is_none() {
        true => Ok(array),
        false => Err(Error::new("an array with strides or an order")
            .at(start + blank..text.len())
            .rule("the remark says the type and the sizes of what the code is called on")
            .accepts("a remark such as # x: float32 (3, 5)")),
    }
}

/// Whose functions are called. Some names are everybody's.
fn style(calls: &[Call], remark: Option<Library>) -> Style {
    let is_torch = |call: &Call| {
        matches!((call.module, call.name), (_, "permute" | "contiguous" | "clone") | (None, "as_strided"))
            || call.module.is_some_and(|module| module.starts_with("torch") || module == "F")
    };
    if calls.iter().any(|call| call.name == "rearrange") {
        Style::Einops
    } else if calls.iter().any(is_torch) || remark == Some(Library::Torch) {
        Style::Torch
    } else {
        Style::Numpy
    }
}

/// Steps, and the sizes that they have led to.
struct Builder {
    style: Style,
    sizes: Vec<u64>,
    steps: Vec<Step>,
}

impl Builder {
    fn call(&mut self, call: &Call) -> Result<()> {
        let step = match call.name {
            "pad" => Step::Pad(self.padding(call)?),
            "reshape" | "view" => {
                // In column-major order the first axis is the fastest, before and behind.
                // NumPy's function, and not the method, may have the order behind the sizes.
                let (sizes, order) = match (call.module, &call.args[..]) {
                    (Some(_), [sizes, order]) if matches!(order.kind, Kind::Text(_) | Kind::Name(_)) => {
                        (std::slice::from_ref(sizes), Some(order))
                    }
                    (_, sizes) => (sizes, None),
                };
                let is_column_major = self.is_column_major(call, argument(call, &["order"]).or(order))?;
                let mut sizes = self.reshaped(call, sizes)?;
                if is_column_major {
                    self.reverse();
                    sizes.reverse();
                    self.take(Step::Reshape(sizes))?;
                    self.reverse();
                    return Ok(());
                }
                Step::Reshape(sizes)
            }
            "T" => Step::Transpose((0..self.sizes.len()).rev().collect()),
            "transpose" | "permute" | "permute_dims" | "swapaxes" => Step::Transpose(self.order(call)?),
            "moveaxis" | "movedim" => Step::Transpose(self.moved(call)?),
            "expand_dims" | "unsqueeze" => Step::Reshape(self.expanded(call)?),
            "squeeze" => Step::Reshape(self.squeezed(call)?),
            "ravel" | "flatten" => {
                check_keys(call, &["order"])?;
                if let [_, more, ..] = &call.args[..] {
                    return Err(Error::new(format!(
                        "{} of {}",
                        counted(call.args.len() as u64, "argument"),
                        call.name
                    ))
                    .at(more.span.clone())
                    .accepts(format!("{}()", call.name)));
                }
                if self.is_column_major(call, argument(call, &["order"]).or(call.args.first()))? {
                    self.reverse();
                }
                Step::Ravel
            }
            "rearrange" => Step::Rearrange(self.pattern(call)?),
            "[" => match (&self.sizes[..], &call.args[..]) {
                (&[size], [from, to]) if whole(from)? == 0 && whole(to)? <= size => Step::Take(whole(to)?),
                (&[.., size], [axes @ .., from, to])
                    if self.are_before_last(axes) && whole(from)? == 0 && whole(to)? <= size =>
                {
                    Step::Crop(whole(to)?)
                }
                _ => {
                    return Err(Error::new("a part of the array")
                        .of_kind(ErrorKind::Unsupported)
                        .rule("of the last axis the first places can be taken")
                        .accepts("[:24] behind ravel(), or [..., :24] where there are more axes"));
                }
            },
            // A copy has the same elements.
            _ => return Ok(()),
        };
        self.take(step)
    }

    /// One more step.
    fn take(&mut self, step: Step) -> Result<()> {
        self.sizes = match &step {
            Step::Pad(pairs) => {
                let sum = |(size, pair): (&u64, &(u64, u64))| {
                    let sum = u128::from(*size) + u128::from(pair.0) + u128::from(pair.1);
                    u64::try_from(sum).ok().filter(|&sum| sum <= i64::MAX as u64)
                };
                let padded: Option<Vec<u64>> = self.sizes.iter().zip(pairs).map(sum).collect();
                padded.ok_or_else(|| Error::new("a size of over 63 bits").of_kind(ErrorKind::Overflow))?
            }
            Step::Reshape(sizes) => sizes.clone(),
            Step::Transpose(order) => order.iter().map(|&axis| self.sizes[axis]).collect(),
            Step::Rearrange(pattern) => pattern.sizes(),
            Step::Ravel => vec![product(self.sizes.iter().copied())?],
            Step::Take(places) => vec![*places],
            Step::Crop(places) => {
                let above = self.sizes.iter().take(self.sizes.len().saturating_sub(1));
                above.chain([places]).copied().collect()
            }
        };
        self.steps.push(step);
        Ok(())
    }

    /// Whether what stands before the last part of an index takes all of the other axes: `...`, or `:` for each.
    fn are_before_last(&self, axes: &[Value]) -> bool {
        let is = |value: &Value, mark: &str| matches!(value.kind, Kind::Name(name) if name == mark);
        match axes {
            [all] if is(all, "...") => true,
            axes => axes.len() + 1 == self.sizes.len() && axes.iter().all(|axis| is(axis, ":")),
        }
    }

    /// The axes from the last to the first.
    fn reverse(&mut self) {
        if self.sizes.len() > 1 {
            self.sizes.reverse();
            self.steps.push(Step::Transpose((0..self.sizes.len()).rev().collect()));
        }
    }

    /// Whether elements are counted with the first axis fastest: `order='F'`.
    fn is_column_major(&self, call: &Call, order: Option<&Value>) -> Result<bool> {
        match order.map(|value| (&value.kind, value.span.clone())) {
            None => Ok(false),
            Some((Kind::Text("C"), _)) if self.style != Style::Torch => Ok(false),
            Some((Kind::Text("F"), _)) if self.style != Style::Torch => Ok(true),
            Some((Kind::Number(_), at)) => Err(Error::new("flattening in part")
                .of_kind(ErrorKind::Unsupported)
                .at(at)
                .accepts(format!("{}(), or reshape with all sizes", call.name))),
            Some((_, at)) if self.style == Style::Torch => Err(Error::new(format!("an order of {}", call.name))
                .of_kind(ErrorKind::Unsupported)
                .at(at)
                .rule("PyTorch counts elements in row-major order")
                .accepts(format!("{} without it", call.name))),
            Some((_, at)) => Err(Error::new(format!("an order of {}", call.name))
                .of_kind(ErrorKind::Unsupported)
                .at(at)
                .rule("'C' is row-major and 'F' column-major; 'A' and 'K' depend on how the array lies in memory")
                .accepts("'C' or 'F'")),
        }
    }

    /// Axes by number, of `rank`. Negative ones count from the end.
    fn axes_of(value: &Value, rank: usize) -> Result<Vec<usize>> {
        numbers(value)?.into_iter().map(|number| axis(number, rank)).collect()
    }

    fn missing(call: &Call, accepts: &str) -> Error {
        Error::new(format!("{} without its axes", call.name)).accepts(accepts)
    }

    /// The order after some axes are moved elsewhere; the others keep theirs.
    fn moved(&self, call: &Call) -> Result<Vec<usize>> {
        check_keys(call, &["source", "destination"])?;
        let mut given = call.args.iter();
        let from = argument(call, &["source"]).or_else(|| given.next());
        let to = argument(call, &["destination"]).or_else(|| given.next());
        let (Some(from), Some(to)) = (from, to) else {
            return Err(Self::missing(call, "np.moveaxis(x, 0, -1)"));
        };
        let rank = self.sizes.len();
        let (from, to) = (Self::axes_of(from, rank)?, Self::axes_of(to, rank)?);
        let mut order: Vec<Option<usize>> = vec![None; rank];
        for (&from, &to) in from.iter().zip(&to) {
            if order[to].is_some() || order.contains(&Some(from)) {
                return Err(Error::new("an axis twice").of_kind(ErrorKind::Mismatch));
            }
            order[to] = Some(from);
        }
        if from.len() != to.len() {
            return Err(Error::new(format!("{} to {}", axes(from.len()), to.len()))
                .of_kind(ErrorKind::Mismatch)
                .accepts("as many places as axes"));
        }
        let mut others = (0..rank).filter(|axis| !from.contains(axis));
        Ok(order.into_iter().filter_map(|axis| axis.or_else(|| others.next())).collect())
    }

    /// The sizes with axes of one element where the call says.
    fn expanded(&self, call: &Call) -> Result<Vec<u64>> {
        check_keys(call, &["axis", "dim"])?;
        let Some(given) = argument(call, &["axis", "dim"]).or(call.args.first()) else {
            return Err(Self::missing(call, "np.expand_dims(x, 0)"));
        };
        // They are axes of the result.
        let rank = self.sizes.len() + numbers(given)?.len();
        if rank > MOST {
            return Err(Error::new(axes(rank)).of_kind(ErrorKind::Limit));
        }
        let new = Self::axes_of(given, rank)?;
        if new.iter().enumerate().any(|(place, axis)| new[..place].contains(axis)) {
            return Err(Error::new("an axis twice").of_kind(ErrorKind::Mismatch));
        }
        let mut old = self.sizes.iter().copied();
        Ok((0..rank).filter_map(|axis| if new.contains(&axis) { Some(1) } else { old.next() }).collect())
    }

    /// The sizes without axes of one element: those that the call says, or all.
    fn squeezed(&self, call: &Call) -> Result<Vec<u64>> {
        check_keys(call, &["axis", "dim"])?;
        let rank = self.sizes.len();
        let given = argument(call, &["axis", "dim"]).or(call.args.first());
        let given = given.map(|value| Self::axes_of(value, rank)).transpose()?;
        let wrong = given.iter().flatten().find(|&&axis| self.sizes[axis] != 1);
        if let Some(axis) = wrong.filter(|_| self.style != Style::Torch) {
            return Err(Error::new(format!("axis {axis} has {}", counted(self.sizes[*axis], "element")))
                .of_kind(ErrorKind::Mismatch)
                .rule("squeeze drops axes of one element"));
        }
        let is_dropped =
            |axis: usize| self.sizes[axis] == 1 && given.as_ref().is_none_or(|given| given.contains(&axis));
        Ok((0..rank).filter(|&axis| !is_dropped(axis)).map(|axis| self.sizes[axis]).collect())
    }

    /// Places before and behind each axis.
    fn padding(&self, call: &Call) -> Result<Vec<(u64, u64)>> {
        check_keys(call, &["pad_width", "mode", "constant_values", "constant_value", "value", "pad"])?;
        let rank = self.sizes.len();
        let Some(widths) = argument(call, &["pad_width", "pad"]).or(call.args.first()) else {
            return Err(Error::new("no widths").accepts("np.pad(x, ((0, 1), (0, 3)))"));
        };
        let rest = if argument(call, &["pad_width", "pad"]).is_some() { 0 } else { 1 };
        let mode = argument(call, &["mode"]).or(call.args.get(rest));
        if let Some(mode) = mode.filter(|mode| !matches!(mode.kind, Kind::Text("constant"))) {
            return Err(Error::new("padding with elements of the array")
                .of_kind(ErrorKind::Unsupported)
                .at(mode.span.clone())
                .rule("each element has one place")
                .accepts("mode='constant', which is the default"));
        }
        let pair_of = |value: &Value| -> Result<(u64, u64)> {
            match sizes(value)?[..] {
                [both] => Ok((both, both)),
                [before, behind] => Ok((before, behind)),
                _ => Err(Error::new("widths of one axis")
                    .at(value.span.clone())
                    .accepts("two, such as (0, 1)")),
            }
        };
        let mismatch = |found: usize| {
            Error::new(format!("widths for {} of {}", axes(found), axes(rank)))
                .of_kind(ErrorKind::Mismatch)
                .at(widths.span.clone())
        };
        if self.style == Style::Torch {
            // The last axis comes first.
            let flat = sizes(widths)?;
            if flat.len() % 2 != 0 || flat.len() / 2 > rank {
                return Err(mismatch(flat.len() / 2).accepts("two for each axis, the last axis first"));
            }
            let mut pairs = vec![(0, 0); rank];
            for (axis, pair) in pairs.iter_mut().rev().zip(flat.chunks(2)) {
                *axis = (pair[0], pair[1]);
            }
            return Ok(pairs);
        }
        match &widths.kind {
            Kind::List(items) if items.iter().all(|item| matches!(item.value.kind, Kind::List(_))) => {
                let pairs = items.iter().map(|item| pair_of(&item.value)).collect::<Result<Vec<_>>>()?;
                match pairs[..] {
                    [all] => Ok(vec![all; rank]),
                    _ if pairs.len() == rank => Ok(pairs),
                    _ => Err(mismatch(pairs.len()).accepts("a pair for each axis")),
                }
            }
            _ => Ok(vec![pair_of(widths)?; rank]),
        }
    }

    fn reshaped(&self, call: &Call, sizes: &[Value]) -> Result<Vec<u64>> {
        check_keys(call, &["shape", "newshape", "order"])?;
        let given = match (argument(call, &["shape", "newshape"]), sizes) {
            (Some(value), _) => numbers(value)?,
            (None, [value]) => numbers(value)?,
            (None, values) => values.iter().map(number).collect::<Result<_>>()?,
        };
        let all = product(self.sizes.iter().copied())?;
        let rest = product(given.iter().filter_map(|&size| u64::try_from(size).ok()))?;
        let size = |&size: &i128| match size {
            -1 if rest > 0 => Some(all / rest),
            size => u64::try_from(size).ok(),
        };
        let open = given.iter().filter(|&&size| size == -1).count();
        let sizes: Option<Vec<u64>> = given.iter().map(size).collect();
        let found = sizes.filter(|_| open < 2 && given.len() <= MOST);
        let found = found.filter(|sizes| product(sizes.iter().copied()) == Ok(all));
        found.ok_or_else(|| {
            Error::new(format!("a reshape of {} to other sizes", counted(all, "element")))
                .of_kind(ErrorKind::Mismatch)
                .rule("a reshape has as many elements as before, and at most one size is -1")
                .accepts(format!("sizes whose product is {all}"))
        })
    }

    fn order(&self, call: &Call) -> Result<Vec<usize>> {
        check_keys(call, &["axes", "dims"])?;
        let rank = self.sizes.len();
        let given = match (argument(call, &["axes", "dims"]), &call.args[..]) {
            (Some(value), _) => numbers(value)?,
            (None, [value]) => numbers(value)?,
            (None, values) => values.iter().map(number).collect::<Result<_>>()?,
        };
        let order = given.into_iter().map(|number| axis(number, rank)).collect::<Result<Vec<usize>>>()?;
        let swaps = call.name == "swapaxes" || call.name == "transpose" && self.style == Style::Torch;
        if swaps {
            let [a, b] = order[..] else {
                return Err(Error::new(axes(order.len())).accepts("two axes, which change places"));
            };
            let mut order: Vec<usize> = (0..rank).collect();
            order.swap(a, b);
            return Ok(order);
        }
        if order.is_empty() && call.name == "transpose" {
            return Ok((0..rank).rev().collect());
        }
        let mut sorted = order.clone();
        sorted.order();
        match sorted.into_iter().eq(0..rank) {
            true => Ok(order),
            false => Err(Error::new(format!("an order of {}", axes(rank)))
                .of_kind(ErrorKind::Mismatch)
                .rule("it names every axis exactly once")),
        }
    }

    fn pattern(&self, call: &Call) -> Result<Pattern> {
        let given = argument(call, &["pattern"]).or(call.args.first());
        let Some(Value { kind: Kind::Text(text), span }) = given else {
            return Err(Error::new("no pattern").accepts("rearrange(x, \"i j -> j i\")"));
        };
        let mut axes = Vec::new();
        for (name, value) in call.keyed.iter().filter(|(name, _)| *name != "pattern") {
            axes.push(((*name).to_owned(), whole(value)?));
        }
        Pattern::read(text, span.clone(), &axes, &self.sizes)
    }
}

/// The axis with this number; negative ones count from the end.
fn axis(number: i128, rank: usize) -> Result<usize> {
    match usize::try_from(if number < 0 { number + rank as i128 } else { number }) {
        Ok(own) if own < rank => Ok(own),
        _ => Err(Error::new(format!("axis {number} of {rank}")).of_kind(ErrorKind::Range)),
    }
}

fn axes(count: usize) -> String {
    format!("{count} {}", if count == 1 { "axis" } else { "axes" })
}
