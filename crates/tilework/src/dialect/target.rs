//! What a layout can be said in, by name: every notation, and the further forms that some have.

use crate::Element;
use crate::dialect::{Described, Dialect, Reading, Said, all};
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::layout::Layout;

/// A further way in which a notation says layouts, with a name of its own: PyTorch's words beside NumPy's.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Its name, in one word, by which it can be asked for. No notation has the same.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// The layout in this form, or why it cannot be said so.
    pub say: fn(&Layout, Element) -> Result<Said>,
}

/// What a layout can be said in: a notation, or a further form of one.
///
/// ```
/// use tilework::dialect::{self, Target};
/// let said = dialect::read_one("f32[3,5]{0,1}")?;
/// let torch = Target::named("torch")?.say(&said.layout()?, said.element().unwrap())?;
/// assert_eq!(torch.to_string(), "torch.float32 [3, 5] strides [1, 3]");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Target {
    dialect: &'static Dialect,
    form: Option<&'static Form>,
}

/// Everything that a layout can be said in: the notations in their order, each with its further forms behind it.
pub fn targets() -> impl Iterator<Item = Target> {
    all().iter().flat_map(|&dialect| {
        let forms = dialect.forms.iter().map(Some);
        std::iter::once(None).chain(forms).map(move |form| Target { dialect, form })
    })
}

impl Target {
    /// The one of this name.
    ///
    /// # Errors
    /// Nothing has the name; the error says which names there are.
    pub fn named(name: &str) -> Result<Target> {
        targets().find(|target| target.name() == name).ok_or_else(|| {
            let names: Vec<&str> = targets().map(|target| target.name()).collect();
            let near = crate::nearest(name, names.iter().copied());
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            Error::new(format!("there is no notation {}", quoted(name)))
                .field("to")
                .accepts(format!("{}{near}", names.join(", ")))
        })
    }

    /// The name, in one word.
    pub fn name(&self) -> &'static str {
        self.form.map_or(self.dialect.name, |form| form.name)
    }

    /// What it is, in a few words.
    pub fn title(&self) -> &'static str {
        self.form.map_or(self.dialect.title, |form| form.title)
    }

    /// The notation.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// The text of the layout that `said` says. In the notation of `said` there is always one, even for a layout that does not
    /// show how it was made.
    ///
    /// ```
    /// use tilework::dialect::{self, Target};
    /// let text = "f32[7]{0:T(3,1,6)(*,4,1,1)}";
    /// let (said, xla) = (dialect::read_one(text)?, Target::named("xla")?);
    /// let (layout, element) = (said.layout()?, said.element().unwrap());
    /// assert!(xla.say(&layout, element).is_err());
    /// assert_eq!(xla.translate(&*said, &layout, element)?, text);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Why it cannot be said so.
    pub fn translate(&self, said: &dyn Described, layout: &Layout, element: Element) -> Result<String> {
        self.say(layout, element).map(|said| said.to_string()).or_else(|why| {
            let is_own = (said.dialect().name, said.element()) == (self.name(), Some(element));
            let says = || said.layout().is_ok_and(|own| own.same_buffer(layout).is_yes());
            if is_own && says() { Ok(said.to_string()) } else { Err(why) }
        })
    }

    /// The layout, said so. Its text has been read back, and is the same buffer with the same elements.
    ///
    /// # Errors
    /// Why it cannot be said so.
    pub fn say(&self, layout: &Layout, element: Element) -> Result<Said> {
        let said = match self.form {
            Some(form) => (form.say)(layout, element)?,
            None => self.dialect.say(layout, element)?,
        };
        let text = said.to_string();
        let lost = |why: String| {
            Error::new(format!("{} says this, but {why}", self.title()))
                .of_kind(ErrorKind::Unsupported)
                .rule("a text reads back as the layout that it says")
        };
        let again = Reading::default().read_one(&text).map_err(|error| lost(error.found().to_owned()))?;
        if !again.may_be(element) {
            return Err(lost(format!("not with elements of the type {element}")));
        }
        let verdict = again.layout()?.same_buffer(layout);
        match verdict.is_yes() {
            true => Ok(said),
            false => Err(lost(format!("it does not read back as the same buffer ({verdict})"))),
        }
    }
}
