//! Expressions over the dimensions of an index: sums, products with constants, quotients and remainders.

/// An expression of a map. Constants are folded while it is made, so an operation has a dimension or a symbol in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    Dim(usize),
    Symbol(usize),
    Const(i64),
    Op(Op, Box<[Expr; 2]>),
}

/// What joins two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Add,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
}

/// An operation, or what it comes to. None where that does not fit 64 bits, or is not defined.
pub(crate) fn make(op: Op, a: Expr, b: Expr) -> Option<Expr> {
    if let (Expr::Const(a), Expr::Const(b)) = (&a, &b) {
        let (a, b) = (i128::from(*a), i128::from(*b));
        let value = match op {
            Op::Add => a + b,
            Op::Mul => a * b,
            _ if b <= 0 => return None,
            Op::FloorDiv => a.div_euclid(b),
            Op::CeilDiv => -(-a).div_euclid(b),
            Op::Mod => a.rem_euclid(b),
        };
        return i64::try_from(value).ok().filter(|&value| value > i64::MIN).map(Expr::Const);
    }
    // As MLIR does: a constant stands on the right.
    let (a, b) = if matches!((op, &a), (Op::Add | Op::Mul, Expr::Const(_))) { (b, a) } else { (a, b) };
    // Constants of the same operation come together.
    if let (Op::Add | Op::Mul, Expr::Op(inner, parts), Expr::Const(_)) = (op, &a, &b)
        && *inner == op
        && matches!(parts[1], Expr::Const(_))
    {
        let [first, constant] = *parts.clone();
        return make(op, first, make(op, constant, b)?);
    }
    // A remainder of a remainder is that by the smaller divisor, where it divides the larger.
    if let (Op::Mod, Expr::Op(Op::Mod, parts), Expr::Const(by)) = (op, &a, &b)
        && let Expr::Const(larger) = parts[1]
        && *by > 0
        && larger % by == 0
    {
        let [of, _] = *parts.clone();
        return make(op, of, b);
    }
    Some(match (op, &b) {
        (Op::Add, Expr::Const(0)) | (Op::Mul | Op::FloorDiv | Op::CeilDiv, Expr::Const(1)) => a,
        (Op::Mul, Expr::Const(0)) | (Op::Mod, Expr::Const(1)) => Expr::Const(0),
        _ => Expr::Op(op, Box::new([a, b])),
    })
}

impl Expr {
    /// How many operations it is made of.
    pub(crate) fn operators(&self) -> usize {
        match self {
            Expr::Op(_, parts) => 1 + parts.iter().map(Expr::operators).sum::<usize>(),
            _ => 0,
        }
    }

    /// Whether no dimension is in it.
    pub(crate) fn is_symbolic(&self) -> bool {
        match self {
            Expr::Dim(_) => false,
            Expr::Symbol(_) | Expr::Const(_) => true,
            Expr::Op(_, parts) => parts.iter().all(Expr::is_symbolic),
        }
    }
}
