//! Which changes there are in a file, and the file with all of them in it.
//!
//! A mutant is two insertions into the text, so that what stands between them can hold mutants as well:
//!
//! ```text
//! a + b < c     (if crate::mutant::on(7) { a + b <= c } else { a + b < c })
//! fn f() {      fn f() { if crate::mutant::on(8) { return Ok(()); }
//! ```

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Arm, BinOp, Block, Expr, ExprBinary, FnArg, GenericArgument, Pat, PathArguments, ReturnType, Signature,
    Type, UnOp,
};

/// What every crate with mutants gets at its end. `{COUNT}` is one more than the largest number of a mutant.
///
/// `TILEWORK_MUTANT` is the number of the mutant that is switched on, or a file to which each mutant's number is added when
/// it is come to first. It is looked up once: tests ask by the thousand million.
pub const MODULE: &str = r#"
#[allow(missing_docs)]
pub(crate) mod mutant {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    const UNKNOWN: u32 = u32::MAX;
    const REACHED: u32 = u32::MAX - 1;

    static ONE: AtomicU32 = AtomicU32::new(UNKNOWN);
    static FILE: OnceLock<std::path::PathBuf> = OnceLock::new();
    static SEEN: [AtomicBool; {COUNT}] = [const { AtomicBool::new(false) }; {COUNT}];

    #[inline(always)]
    pub(crate) fn on(number: u32) -> bool {
        let one = ONE.load(Ordering::Relaxed);
        one == number || one >= REACHED && look(number)
    }

    #[cold]
    fn look(number: u32) -> bool {
        if ONE.load(Ordering::Relaxed) == UNKNOWN {
            let one = match std::env::var("TILEWORK_MUTANT") {
                Ok(said) => said.parse().unwrap_or_else(|_| {
                    FILE.get_or_init(|| said.into());
                    REACHED
                }),
                Err(_) => 0,
            };
            ONE.store(one, Ordering::Release);
        }
        let one = ONE.load(Ordering::Acquire);
        if one == REACHED && !SEEN[number as usize].swap(true, Ordering::Relaxed) {
            let file = FILE.get().expect("is set before");
            let mut file = std::fs::OpenOptions::new().append(true).create(true).open(file).expect("opens");
            file.write_all(format!("{number}\n").as_bytes()).expect("writes");
        }
        one == number
    }
}
"#;

/// One change.
pub struct Mutant {
    /// Its number, from 1 on through all files.
    pub number: u32,
    pub file: String,
    /// The line and the column.
    at: (usize, usize),
    /// The function, and what is changed: the same in every run, as long as nobody edits the function.
    about: String,
    /// The bytes that the insertions enclose; none if there is only one.
    range: Range<usize>,
    before: String,
}

impl Mutant {
    /// Which change it is, wherever in the file.
    pub fn name(&self) -> String {
        format!("{}: {}", self.file, self.about)
    }

    /// Which it is and where, as a line of a list.
    pub fn line(&self) -> String {
        format!("{}:{}:{}: {}", self.file, self.at.0, self.at.1, self.about)
    }
}

/// What stands behind an expression that has a mutant.
const AFTER: &str = " })";

/// All mutants of a file, with numbers from `next` on.
pub fn mutants(file: &str, text: &str, next: u32) -> syn::Result<Vec<Mutant>> {
    let parsed = syn::parse_file(text)?;
    let mut finder = Finder { file, text, next, within: Vec::new(), found: Vec::new() };
    finder.visit_file(&parsed);
    Ok(finder.found)
}

/// The text with all mutants but those of `without`, and for each mutant the bytes in the new text that it is in.
pub fn apply(text: &str, all: &[Mutant], without: &HashSet<u32>) -> (String, Vec<(u32, Range<usize>)>) {
    let mut mutants: Vec<&Mutant> = all.iter().filter(|mutant| !without.contains(&mutant.number)).collect();
    // Outer ones first. What encloses nothing stands before what begins at the same place.
    mutants.sort_by_key(|mutant| {
        (mutant.range.start, !mutant.range.is_empty(), Reverse(mutant.range.end), mutant.number)
    });
    let (mut new, mut at) = (String::new(), 0);
    let (mut open, mut places): (Vec<(&Mutant, usize)>, _) = (Vec::new(), Vec::new());
    let mut copy = |new: &mut String, end: usize| new.push_str(&text[std::mem::replace(&mut at, end)..end]);
    let mut close = |new: &mut String, open: &mut Vec<(&Mutant, usize)>, before: usize| {
        while let Some((mutant, start)) = open.pop_if(|(mutant, _)| mutant.range.end <= before) {
            copy(new, mutant.range.end);
            new.push_str(if mutant.range.is_empty() { "" } else { AFTER });
            places.push((mutant.number, start..new.len()));
        }
        copy(new, before);
    };
    for mutant in mutants {
        close(&mut new, &mut open, mutant.range.start);
        open.push((mutant, new.len()));
        new.push_str(&mutant.before);
    }
    close(&mut new, &mut open, text.len());
    (new, places)
}

struct Finder<'a> {
    file: &'a str,
    text: &'a str,
    next: u32,
    /// The names of the types and functions around.
    within: Vec<String>,
    found: Vec<Mutant>,
}

impl Finder<'_> {
    fn of(&self, span: Span) -> &str {
        &self.text[span.byte_range()]
    }

    /// Adds a mutant; `before` gets the condition in which it is switched on.
    fn add(&mut self, range: Range<usize>, at: Span, what: &str, before: impl Fn(&str) -> String) {
        let (number, at) = (self.next, (at.start().line, at.start().column + 1));
        self.next += 1;
        let what: Vec<&str> = what.split_whitespace().collect();
        let about = format!("{}: {}", self.within.join("::"), what.join(" "));
        let before = before(&format!("crate::mutant::on({number})"));
        self.found.push(Mutant { number, file: self.file.to_owned(), at, about, range, before });
    }

    /// Another expression instead of this one, if that can be parsed: `a as usize > b` cannot be turned round.
    fn instead(&mut self, old: Span, at: Span, new: &str, what: &str) {
        if syn::parse_str::<Expr>(new).is_ok() {
            self.add(old.byte_range(), at, what, |on| format!("(if {on} {{ {new} }} else {{ "));
        }
    }

    fn function(&mut self, signature: &Signature, block: &Block) {
        if signature.constness.is_some() {
            return;
        }
        self.within.push(signature.ident.to_string());
        let body = self.of(block.span()).trim_matches(['{', '}']).trim().to_owned();
        let unit = Type::Tuple(syn::TypeTuple { paren_token: Default::default(), elems: Default::default() });
        let is_method_of_default = signature.ident == "default"
            && !signature.inputs.iter().any(|input| matches!(input, FnArg::Receiver(_)));
        let values = match &signature.output {
            _ if is_method_of_default => Vec::new(),
            ReturnType::Default => values(&unit),
            ReturnType::Type(_, result) => values(result),
        };
        let start = block.brace_token.span.open().byte_range().end;
        for value in values.iter().filter(|value| **value != body && !(body.is_empty() && *value == "()")) {
            let what = format!("return {value} at once");
            self.add(start..start, signature.ident.span(), &what, |on| {
                format!(" if {on} {{ return {value}; }}")
            });
        }
        self.visit_block(block);
        self.within.pop();
    }

    fn binary(&mut self, binary: &ExprBinary, whole: Span) {
        let (left, right) = (self.of(binary.left.span()), self.of(binary.right.span()));
        let (left, right) = (left.to_owned(), right.to_owned());
        let old = self.of(binary.op.span()).to_owned();
        for new in operators(&binary.op) {
            let what = format!("{new} for {old} in {left} {old} {right}");
            self.instead(whole, binary.op.span(), &format!("{left} {new} {right}"), &what);
        }
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        // How a value looks in a message of a failed test is no behaviour.
        let is_debug = item.trait_.as_ref().is_some_and(|(_, path, _)| last(path) == "Debug");
        if !is_debug && !is_test(&item.attrs) {
            self.within.push(self.of(item.self_ty.span()).to_owned());
            visit::visit_item_impl(self, item);
            self.within.pop();
        }
    }

    // What is worked out while compiling cannot be switched on.
    fn visit_item_const(&mut self, _: &'a syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'a syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'a syn::ImplItemConst) {}
    fn visit_item_enum(&mut self, _: &'a syn::ItemEnum) {}
    fn visit_expr_const(&mut self, _: &'a syn::ExprConst) {}
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}
    fn visit_type(&mut self, _: &'a Type) {}
    fn visit_pat(&mut self, _: &'a Pat) {}
    fn visit_generic_argument(&mut self, _: &'a GenericArgument) {}

    fn visit_expr_repeat(&mut self, repeat: &'a syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_expr_match(&mut self, this: &'a syn::ExprMatch) {
        if this.arms.iter().any(takes_all) {
            for arm in this.arms.iter().filter(|arm| !takes_all(arm) && arm.guard.is_none()) {
                let end = arm.pat.span().byte_range().end;
                let what = format!("no arm {}", self.of(arm.pat.span()));
                self.add(end..end, arm.pat.span(), &what, |on| format!(" if !{on}"));
            }
        }
        visit::visit_expr_match(self, this);
    }

    fn visit_arm(&mut self, arm: &'a Arm) {
        if let Some((_, guard)) = &arm.guard
            && !has_let(guard)
        {
            for new in ["true", "false"] {
                let what = format!("{new} for the guard {}", self.of(guard.span()));
                self.instead(guard.span(), guard.span(), new, &what);
            }
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_if(&mut self, this: &'a syn::ExprIf) {
        if matches!(
            *this.cond,
            Expr::Call(_) | Expr::MethodCall(_) | Expr::Path(_) | Expr::Field(_) | Expr::Macro(_)
        ) {
            let old = self.of(this.cond.span()).to_owned();
            self.instead(this.cond.span(), this.cond.span(), &format!("!({old})"), &format!("if not {old}"));
        }
        visit::visit_expr_if(self, this);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        let span = expression.span();
        match expression {
            Expr::Binary(binary) if !has_let(expression) => self.binary(binary, span),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) => {
                let inner = self.of(unary.expr.span()).to_owned();
                let what = format!("{inner} for {}", self.of(span));
                self.instead(span, span, &inner, &what);
            }
            Expr::MethodCall(call) => {
                let (old, name) = (self.of(span), call.method.span().byte_range());
                if let Some(new) = other_method(&call.method.to_string()) {
                    let at = span.byte_range().start;
                    let changed = [&old[..name.start - at], new, &old[name.end - at..]].concat();
                    let what = format!("{new} for {} in {old}", call.method);
                    self.instead(span, call.method.span(), &changed, &what);
                }
            }
            _ => {}
        }
        // How much is reserved changes no answer.
        if let Expr::Call(call) = expression
            && matches!(&*call.func, Expr::Path(path) if last(&path.path) == "with_capacity")
        {
            return;
        }
        visit::visit_expr(self, expression);
    }
}

/// What is returned instead of what a function works out; what turns out to have no default does not compile.
fn values(result: &Type) -> Vec<String> {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let path = match result {
        Type::Path(path) => &path.path,
        Type::Tuple(tuple) if tuple.elems.is_empty() => return owned(&["()"]),
        Type::Tuple(tuple) => {
            let all: Vec<_> = tuple.elems.iter().map(values).collect();
            let first: Option<Vec<_>> = all.iter().map(|values| values.first().cloned()).collect();
            return first.map(|values| format!("({},)", values.join(", "))).into_iter().collect();
        }
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) if last(&path.path) == "str" => return owned(&["\"\"", "\"other\""]),
            Type::Slice(_) if reference.mutability.is_none() => return owned(&["&[]"]),
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let argument = match path.segments.last().map(|segment| &segment.arguments) {
        Some(PathArguments::AngleBracketed(arguments)) => match arguments.args.first() {
            Some(GenericArgument::Type(inner)) => Some(values(inner)),
            _ => None,
        },
        _ => None,
    };
    let each =
        |form: &str| argument.iter().flatten().map(|value| form.replace('_', value)).collect::<Vec<_>>();
    match last(path).as_str() {
        "bool" => owned(&["true", "false"]),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => owned(&["0", "1"]),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => owned(&["0", "1", "-1"]),
        "f32" | "f64" => owned(&["0.0", "1.0"]),
        "String" => owned(&["String::new()", "\"other\".to_owned()"]),
        "Option" => [vec!["None".to_owned()], each("Some(_)")].concat(),
        "Vec" => [vec!["Vec::new()".to_owned()], each("vec![_]")].concat(),
        "Result" if argument.is_some() => each("Ok(_)"),
        "Result" => owned(&["Ok(())"]),
        _ => owned(&["Default::default()"]),
    }
}

/// What an operator could be mistaken for.
fn operators(operator: &BinOp) -> &'static [&'static str] {
    match operator {
        BinOp::Lt(_) => &["<=", ">"],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Gt(_) => &[">=", "<"],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::Add(_) => &["-", "*"],
        BinOp::Sub(_) => &["+"],
        BinOp::Mul(_) => &["+", "/"],
        BinOp::Div(_) => &["*", "%"],
        BinOp::Rem(_) => &["/"],
        BinOp::BitAnd(_) => &["|"],
        BinOp::BitOr(_) => &["&"],
        BinOp::BitXor(_) => &["|", "&"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::AddAssign(_) => &["-=", "*="],
        BinOp::SubAssign(_) => &["+="],
        BinOp::MulAssign(_) => &["+="],
        BinOp::DivAssign(_) => &["*="],
        BinOp::BitAndAssign(_) => &["|="],
        BinOp::BitOrAssign(_) => &["&="],
        BinOp::BitXorAssign(_) => &["|="],
        _ => &[],
    }
}

/// The method that says the opposite, or looks from the other end.
fn other_method(name: &str) -> Option<&'static str> {
    const PAIRS: [(&str, &str); 13] = [
        ("any", "all"),
        ("min", "max"),
        ("min_by_key", "max_by_key"),
        ("first", "last"),
        ("is_some", "is_none"),
        ("is_ok", "is_err"),
        ("is_some_and", "is_none_or"),
        ("take_while", "skip_while"),
        ("starts_with", "ends_with"),
        ("find", "rfind"),
        ("split_once", "rsplit_once"),
        ("checked_add", "checked_sub"),
        ("saturating_add", "saturating_sub"),
    ];
    PAIRS.iter().find_map(|&(one, other)| match name {
        _ if name == one => Some(other),
        _ if name == other => Some(one),
        _ => None,
    })
}

/// Whether an arm takes whatever the others leave.
fn takes_all(arm: &Arm) -> bool {
    let is_all = match &arm.pat {
        Pat::Wild(_) => true,
        // Not a constant or a variant.
        Pat::Ident(name) => name.subpat.is_none() && name.ident.to_string().starts_with(char::is_lowercase),
        _ => false,
    };
    is_all && arm.guard.is_none()
}

/// Whether a condition binds names, so that it is no value.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(ExprBinary { left, op: BinOp::And(_), right, .. }) => has_let(left) || has_let(right),
        _ => false,
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let tokens = match &attribute.meta {
            syn::Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        attribute.path().is_ident("test") || attribute.path().is_ident("cfg") && tokens.starts_with("test")
    })
}

fn last(path: &syn::Path) -> String {
    path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_holds_its_mutants_one_within_the_other() {
        let text = "fn f(a: u8) -> bool { a + 1 < 2 }";
        let mutants = mutants("a.rs", text, 1).expect("parses");
        let about: Vec<(usize, &str)> =
            mutants.iter().map(|mutant| (mutant.at.1, mutant.about.as_str())).collect();
        assert_eq!(
            about,
            [
                (4, "f: return true at once"),
                (4, "f: return false at once"),
                (29, "f: <= for < in a + 1 < 2"),
                (29, "f: > for < in a + 1 < 2"),
                (25, "f: - for + in a + 1"),
                (25, "f: * for + in a + 1"),
            ]
        );
        let (new, places) = apply(text, &mutants, &HashSet::from([2, 4, 6]));
        let inner = "(if crate::mutant::on(5) { a - 1 } else { a + 1 })";
        let outer = format!("(if crate::mutant::on(3) {{ a + 1 <= 2 }} else {{ {inner} < 2 }})");
        assert_eq!(
            new,
            format!("fn f(a: u8) -> bool {{ if crate::mutant::on(1) {{ return true; }} {outer} }}")
        );
        for (number, place) in places {
            let text =
                [" if", &outer, inner][[1, 3, 5].iter().position(|n| *n == number).expect("one of them")];
            assert!(new[place].starts_with(text), "{number}");
        }
        assert_eq!(apply(text, &mutants, &(1..7).collect()).0, text);
    }

    #[test]
    fn what_cannot_be_switched_is_left_alone() {
        let texts = [
            "const A: u8 = 1 + 2;",
            "const fn f() -> u8 { 1 + 2 }",
            "fn f() -> &A { g(Vec::with_capacity(1 + 2)) }",
            "#[test] fn f() { g(1 + 2) }",
            "#[cfg(test)] mod tests { fn f() -> u8 { 1 + 2 } }",
            "fn f() -> impl Iterator<Item = u8> { [0; 1 + 2].into_iter() }",
            "fn f(a: [u8; 1 + 2]) -> &A { a }",
        ];
        for text in texts {
            assert_eq!(mutants("a.rs", text, 1).expect("parses").len(), 0, "{text}");
        }
    }
}
