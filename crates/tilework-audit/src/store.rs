//! What all programs have in common: shapes, texts and places, each held once, and what could not be read.

use std::io;

use tilework::Error;

use crate::budget::{Budget, PIECE};
use crate::hash::{Map, Seed};
use crate::lists::Lists;
use crate::program::Program;
use crate::shapes::{ShapeId, Shapes};
use crate::sources::Sources;
use crate::texts::Texts;
use crate::unread::Complaints;

/// What readers put into programs is numbers of what is held here.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) seed: Seed,
    pub(crate) budget: Budget,
    pub(crate) shapes: Shapes,
    /// What types of MLIR are: those of tensors, and those of memories. None for those that are no memory of their own.
    pub(crate) types: [Map<Box<[u8]>, Option<ShapeId>>; 2],
    pub(crate) texts: Texts,
    /// Orders of dimensions.
    pub(crate) orders: Lists,
    pub(crate) sources: Sources,
    pub(crate) complaints: Complaints,
}

impl Store {
    /// Nothing so far, and no more than a budget allows.
    pub(crate) fn within(budget: Budget) -> Store {
        Store {
            seed: Seed::default(),
            shapes: Shapes::within(&budget),
            types: Default::default(),
            texts: Texts::within(&budget),
            orders: Lists::within(&budget),
            sources: Sources::within(&budget),
            complaints: Complaints::within(&budget),
            budget,
        }
    }

    /// A program of this group of files of which nothing was read. If there is no memory for it, it is not read about.
    pub(crate) fn program(&self, group: &str) -> Program {
        let _ = self.budget.take(2 * size_of::<Program>() + group.len() + PIECE);
        Program { group: group.to_owned(), ..Program::default() }
    }

    /// The error of what was not read.
    pub(crate) fn lack(&self) -> io::Error {
        let limit = self.budget.limit();
        let error = Error::new(format!("it would take more than {limit} bytes of memory"))
            .field("memory")
            .rule("what is held of a dump is limited, whatever the dump says")
            .accepts("a larger limit");
        io::Error::new(io::ErrorKind::OutOfMemory, error)
    }
}
