//! One layout in every notation.

use serde::Serialize;
use tilework::dialect::{Described, Target};
use tilework::{Element, Error, Layout, Result};
use tilework_picture::{Line, Look};

use crate::page::{Page, Row};
use crate::shown::Arrays;

/// An array in other notations, as `tilework translate --json` prints it.
#[derive(Clone, Debug, Serialize)]
pub struct Translated {
    /// What the text calls the array, where it names several.
    pub name: Option<String>,
    /// The index into the tuple that it is in, and into the tuples in it; null for what is in none.
    pub path: Option<Vec<usize>>,
    /// The canonical text; null for a layout that no text says.
    pub shape: Option<String>,
    /// The name of the text's notation.
    pub notation: Option<&'static str>,
    /// The type of elements that was assumed, because the text says none; null otherwise.
    pub assumed: Option<&'static str>,
    /// The array in each of the notations that were asked for.
    pub translations: Vec<Translation>,
}

/// A layout in one notation: either a text or a reason.
#[derive(Clone, Debug, Serialize)]
pub struct Translation {
    /// The name that was asked for.
    pub name: &'static str,
    /// The notation that the name belongs to.
    pub notation: &'static str,
    /// The text, which reads back as the same layout; null if there is none.
    pub text: Option<String>,
    /// Why there is none, in a sentence; null if there is one.
    pub reason: Option<String>,
    /// The same with all that is known of it.
    #[serde(skip)]
    pub error: Option<Error>,
}

impl Translation {
    /// The layout that a text says, in this notation.
    fn of(target: Target, said: &dyn Described, layout: &Layout, element: Element) -> Translation {
        Translation::found(target, target.translate(said, layout, element))
    }

    fn found(target: Target, text: Result<String>) -> Translation {
        let (text, error) = match text {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(error)),
        };
        Translation {
            name: target.name(),
            notation: target.dialect().name,
            text,
            reason: error.as_ref().map(|error| error.found().to_owned()),
            error,
        }
    }
}

impl Translated {
    /// What a notation says, in others: one for each array of a tuple, and one for what is no tuple. What is in a tuple and
    /// has no places is left out.
    ///
    /// ```
    /// use tilework::dialect::{self, Target};
    /// use tilework_explain::Translated;
    /// let said = dialect::read_one("f32[3,5]{0,1}")?;
    /// let found = Translated::of(&*said, None, &[Target::named("numpy")?])?;
    /// let text = found[0].translations[0].text.as_deref();
    /// assert_eq!(text, Some("float32 (3, 5) strides (4, 12)"));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// What is no array, and what has sizes that are known at run time only.
    pub fn of(said: &dyn Described, name: Option<&str>, to: &[Target]) -> Result<Vec<Translated>> {
        let one = |said: &dyn Described, path: Option<Vec<usize>>, layout: &Layout| Translated {
            name: name.map(str::to_owned),
            path,
            ..Translated::new(said, layout, to)
        };
        let Some(leaves) = said.leaves() else { return Ok(vec![one(said, None, &said.layout()?)]) };
        let arrays = Arrays::of(said)?;
        let layouts = arrays.leaves().unwrap_or_default().iter().map(|(_, layout)| layout.as_ref());
        let placed = leaves.into_iter().zip(layouts);
        Ok(placed.filter_map(|(leaf, layout)| Some(one(&*leaf.said, Some(leaf.path), layout?))).collect())
    }

    fn new(said: &dyn Described, layout: &Layout, to: &[Target]) -> Translated {
        // A layout without a type can be said of any type of its width.
        let assumed = if said.element().is_none() { Element::unsigned_integer(layout.bits()) } else { None };
        let element = said.element().or(assumed);
        let translations = element
            .map(|element| to.iter().map(|target| Translation::of(*target, said, layout, element)).collect());
        Translated {
            name: None,
            path: None,
            shape: Some(said.to_string()),
            notation: Some(said.dialect().name),
            assumed: assumed.map(Element::name),
            translations: translations.unwrap_or_default(),
        }
    }

    /// A layout that no text says, such as a view of another, in these notations.
    /// What it was made of may say it all the same.
    pub fn of_layout(source: &dyn Described, layout: &Layout, element: Element, to: &[Target]) -> Translated {
        let translations =
            to.iter().map(|target| Translation::of(*target, source, layout, element)).collect();
        Translated { name: None, path: None, shape: None, notation: None, assumed: None, translations }
    }

    /// All of it in words: the texts, each on a line of its own however long it is, and for the other notations why there
    /// is none. What a notation says twice under different names stands there once.
    pub fn explain(&self, width: usize, look: Look) -> Vec<Line> {
        let mut page = Page::new(width, look);
        let mut title = self.shape.clone().unwrap_or_default();
        let path = self.path.as_ref().map(|path| {
            let path: Vec<String> = path.iter().map(usize::to_string).collect();
            format!("{{{}}}", path.join(","))
        });
        for name in [path, self.name.clone()].into_iter().flatten() {
            title = format!("{name}: {title}");
        }
        if !title.is_empty() {
            page.title(&title);
        }
        let rows = |of: fn(&Translation) -> Option<&String>| -> Vec<Row> {
            let said = self.translations.iter().enumerate().filter_map(|(place, one)| {
                let text = of(one)?;
                let before = &self.translations[..place];
                let is_new = |other: &Translation| other.notation != one.notation || of(other) != Some(text);
                before.iter().all(is_new).then(|| (one.name.to_owned(), text.clone()))
            });
            said.collect()
        };
        let (texts, reasons) = (rows(|one| one.text.as_ref()), rows(|one| one.reason.as_ref()));
        let names = texts.iter().chain(&reasons).map(|(name, _)| name.chars().count());
        page.label = names.max().unwrap_or(0).max(9);
        if let Some(element) = self.assumed {
            page.paragraph(&format!("The text says no type of elements; {element} stands for it here."));
        }
        if !texts.is_empty() {
            page.unbroken(&texts);
        }
        if !reasons.is_empty() {
            page.heading("not in these, and why:");
            page.rows(&reasons);
        }
        page.into_lines()
    }
}
