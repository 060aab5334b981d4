//! `translate`: what a text says, in other notations.

use tilework::Error;
use tilework::dialect::{Target, targets};
use tilework_explain::{Translated, Translation};

use crate::args::{Args, TranslateArgs};
use crate::input;
use crate::output::{Output, Stop};

/// Prints every text in the notations that were asked for, or in all.
pub fn translate(translate: &TranslateArgs, args: &Args, output: &mut Output) -> Result<(), Stop> {
    let all: Vec<Target>;
    let to = match &translate.to[..] {
        [] => {
            all = targets().collect();
            &all
        }
        some => some,
    };
    let is_asked = !translate.to.is_empty();
    input::subjects(&translate.shapes, (None, args), output, |given, output| {
        let found = Translated::of(&*given.said, given.name, to);
        let found = found.and_then(|found| match found.is_empty() {
            true => Err(Error::new("there is no array in this").accepts("an array, or a tuple of arrays")),
            false => Ok(found),
        });
        match found {
            Ok(found) => found.iter().try_for_each(|one| answer(one, is_asked, output)),
            Err(error) => output.bad(&error.or_at(0..given.text.len()), given.text, given.line),
        }
    })
}

/// Answers for one array. Of one notation that was asked for, the text stands alone.
fn answer(found: &Translated, is_asked: bool, output: &mut Output) -> Result<(), Stop> {
    let refused = found.translations.iter().filter(|one| one.error.is_some());
    if is_asked && refused.clone().next().is_some() {
        output.exit_with(crate::NO);
    }
    if output.json {
        output.object(found)?;
    }
    match &found.translations[..] {
        [Translation { text: Some(text), .. }] if is_asked && !output.json => output.text(text),
        [Translation { error: Some(error), .. }] if is_asked => output.refused(error),
        _ if output.json => Ok(()),
        _ => output.lines(&found.explain(output.width, output.look)),
    }
}
