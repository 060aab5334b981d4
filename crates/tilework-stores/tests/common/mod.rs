//! Samples: small stores that other programs wrote, and what they hold.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use tilework::{Element, Layout, PlanOptions};
use tilework_copy::{Inline, Relayout};
use tilework_files::container::{Container, Content};

#[derive(Deserialize)]
pub struct Samples {
    stores: Vec<Sample>,
}

#[derive(Deserialize)]
pub struct Sample {
    pub name: String,
    pub by: String,
    pub files: std::collections::BTreeMap<String, String>,
    pub holds: std::collections::BTreeMap<String, Holds>,
    /// How devices held arrays, in a checkpoint.
    #[serde(default)]
    pub specs: std::collections::BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub struct Holds {
    pub r#type: String,
    pub sizes: Vec<u64>,
    pub bytes: String,
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|&c| c != b'=').map(digit).collect();
    let bits = |four: &[u8]| {
        let all =
            four.iter().fold(0_u32, |all, digit| all << 6 | u32::from(*digit)) << (6 * (4 - four.len()));
        all.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(bits).collect()
}

impl Sample {
    /// Those of a text that a `make.py` made.
    pub fn all(text: &str) -> Vec<Sample> {
        serde_json::from_str::<Samples>(text).expect("made by make.py").stores
    }

    pub fn unpack(&self, folder: &Path) -> std::io::Result<()> {
        for (key, text) in &self.files {
            let path = folder.join(key);
            fs::create_dir_all(path.parent().expect("a folder"))?;
            fs::write(path, base64(text))?;
        }
        Ok(())
    }
}

impl Holds {
    pub fn bytes(&self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        flate2::read::ZlibDecoder::new(&base64(&self.bytes)[..]).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// The type and sizes of an array, and its bytes in row-major order.
pub type Rows = (Element, Vec<u64>, Vec<u8>);

/// An array of a container.
pub fn rows(container: &Container, name: &str) -> Result<Rows, Box<dyn std::error::Error>> {
    let tensor =
        container.tensors().iter().find(|tensor| tensor.name == name).ok_or(format!("no {name:?}"))?;
    let Content::Array(array) = &tensor.content else { return Err(format!("{:?}", tensor.content).into()) };
    let data = container.data(tensor, &std::env::temp_dir())?;
    let to = Layout::row_major(array.layout.dims(), array.layout.bits())?;
    let mut bytes = vec![0; to.bytes() as usize];
    Relayout::new(&array.layout, &to, &PlanOptions::default())?.run_on(&Inline, &data.array(), &mut bytes)?;
    Ok((array.element, array.layout.dims().to_vec(), bytes))
}
