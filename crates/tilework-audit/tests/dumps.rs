//! What the dumps of a real compiler say, and what comes of them.

use std::path::PathBuf;

use tilework_audit::{Audit, Basis, Findings};

const MIB: u64 = 1 << 20;

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/dumps").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| !path.to_string_lossy().contains("before"))
        .collect();
    files.sort();
    files
}

fn read(folder: &str) -> Findings {
    let mut audit = Audit::new();
    for file in files(folder) {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read(&file).expect("the file can be read");
        audit.read(&name, &text[..]).expect("memory is read");
    }
    audit.findings(usize::MAX)
}

#[test]
fn every_size_that_the_layouts_say_is_the_compilers() {
    let mut buffers = 0;
    for folder in ["particles", "conv", "tr"] {
        let found = read(folder);
        let [program] = &found.programs[..] else { panic!("{folder}: {found:?}") };
        assert_eq!(program.contradictions, [], "{folder}");
        assert_eq!(program.basis, Basis::Assignment);
        assert!(found.unread.is_empty(), "{:?}", found.unread);
        buffers += program.buffers.len();
        for buffer in &program.buffers {
            let shape = tilework::xla::Shape::parse(&buffer.shape).expect("a shape");
            if let Some(array) = shape.as_array() {
                assert_eq!(array.lower().expect("a layout").bytes(), buffer.allocated, "{}", buffer.shape);
            }
        }
    }
    assert_eq!(buffers, 90);
}

#[test]
fn particles_waste_nine_tenths_of_the_memory_at_the_peak() {
    let found = read("particles");
    let program = &found.programs[0];
    assert_eq!(program.name, "jit_particles");
    assert_eq!((program.total.allocated / MIB, program.total.data / MIB), (424, 141));
    let peak = program.peak.as_ref().expect("live ranges");
    assert_eq!(peak.sum.allocated, 162_607_616);
    let worst = &program.shapes[0];
    assert_eq!(worst.sum.buffers, 1);
    assert!(worst.shape.ends_with("[300000,8]{1,0:T(8,128)}"), "{}", worst.shape);
    assert_eq!((worst.sum.allocated, worst.sum.data), (153_600_000, 9_600_000));
    assert_eq!((worst.growths[0].from, worst.growths[0].to), (8, 128));
}
