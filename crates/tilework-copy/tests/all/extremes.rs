//! Sizes at the ends of what can be said: no panic, no hang, no wrong byte.

use tilework::{Element, Error, Layout, PlanOptions, Result};
use tilework_copy::{Conversion, Inline, Relayout, Threads};

fn fill() -> PlanOptions {
    PlanOptions { fill: Some(1), converts: false }
}

/// Data that no machine holds cannot be moved, but a relayout of it can be made and asked about.
#[test]
fn relayouts_of_more_than_any_memory_are_made_and_refuse_short_buffers() -> Result<()> {
    let far = |bits: u32| (1_i64 << 62) / i64::from(bits.div_ceil(8).next_power_of_two());
    for bits in [1, 2, 4, 5, 8, 16, 24, 64, 128, 200] {
        let most = far(bits);
        let mut pairs = vec![
            (Layout::row_major(&[most as u64], bits)?, Layout::row_major(&[most as u64], bits)?.flip(0)?),
            (Layout::strided(&[2], bits, &[most], None, None)?, Layout::row_major(&[2], bits)?),
            (Layout::row_major(&[2], bits)?, Layout::strided(&[2], bits, &[most], None, None)?),
            (Layout::strided(&[2], bits, &[-most], None, None)?, Layout::row_major(&[2], bits)?),
            (Layout::strided(&[3, 5], bits, &[most / 3, 1], None, None)?, Layout::row_major(&[3, 5], bits)?),
            (
                Layout::strided(&[3, 5], bits, &[1, most / 5], None, None)?,
                Layout::strided(&[3, 5], bits, &[most / 3, 1], None, None)?,
            ),
            (
                Layout::strided(&[1 << 30, 2, 2], bits, &[0, 0, 0], None, None)?,
                Layout::row_major(&[1 << 30, 2, 2], bits)?,
            ),
        ];
        let root = (most as u64).isqrt();
        let square = Layout::row_major(&[root, root], bits)?;
        pairs.push((square.clone(), Layout::builder(&[root, root], bits)?.minor_to_major(&[0, 1])?.build()?));
        let tiled = Layout::builder(&[root / 2, root - 200], bits)?.tile(&[Some(8), Some(128)])?.build()?;
        pairs.push((Layout::row_major(&[root / 2, root - 200], bits)?, tiled));
        for (from, to) in pairs {
            for (from, to) in [(&from, &to), (&to, &from)] {
                let Ok(relayout) = Relayout::new(from, to, &fill()) else { continue };
                if from.bytes() > 1 << 20 || to.bytes() > 1 << 20 {
                    let (short, mut out) = (vec![0; 1 << 20], vec![0; 1 << 20]);
                    assert!(relayout.run(&short, &mut out).is_err());
                }
                let _ = (relayout.plan().to_string(), relayout.plan().figures());
            }
        }
    }
    let from = Layout::row_major(&[1 << 59], 32)?;
    let to = Layout::row_major(&[1 << 59], 16)?.flip(0)?;
    let conversion = Conversion::new(Element::F32, Element::Bf16).expect("there is one");
    Relayout::converting(&from, &to, conversion, &PlanOptions::default())?;
    Ok(())
}

#[test]
fn chunks_of_any_size_make_the_same_stream_and_too_large_a_chunk_is_an_error() -> Result<()> {
    let from = Layout::row_major(&[5, 7], 8)?;
    let to = from.flip(1)?;
    let relayout = Relayout::new(&from, &to, &PlanOptions::default())?;
    let source: Vec<u8> = (0..35).collect();
    let mut wanted = vec![0; 35];
    relayout.run(&source, &mut wanted)?;
    for chunk in [0, 1, 7, 9, usize::MAX] {
        let mut out = Vec::new();
        relayout.stream::<Error>(&source, chunk, |_, bytes| {
            out.extend_from_slice(bytes);
            Ok(())
        })?;
        assert_eq!(out, wanted);
    }
    // One element, broadcast into more than there is memory.
    let from = Layout::strided(&[1 << 60], 8, &[0], None, None)?;
    let relayout = Relayout::new(&from, &Layout::row_major(&[1 << 60], 8)?, &PlanOptions::default())?;
    let stopped = relayout.stream::<Error>(&[1], usize::MAX, |_, _| Err(Error::new("enough")));
    assert!(stopped.is_err());
    let stopped = relayout.stream::<Error>(&[1], 100, |_, _| Err(Error::new("enough")));
    assert_eq!(stopped.expect_err("stopped").found(), "enough");
    Ok(())
}

#[test]
fn steps_of_any_number_do_the_work_once() -> Result<()> {
    let from = Layout::row_major(&[50, 70], 16)?;
    let to = Layout::builder(&[50, 70], 16)?.minor_to_major(&[0, 1])?.build()?;
    let relayout = Relayout::new(&from, &to, &PlanOptions::default())?;
    let source: Vec<u8> = (0..7000_u32).map(|k| ((k * 7) >> 2) as u8).collect();
    let mut wanted = vec![0; 7000];
    relayout.run(&source, &mut wanted)?;
    for steps in [0, 1, 2, 3, 1000, usize::MAX] {
        let mut out = vec![0; 7000];
        for step in 0..steps.clamp(1, 1000) {
            relayout.run_step(&Inline, step, steps.min(1000), &source, &mut out)?;
        }
        assert!(out == wanted, "{steps} steps");
        relayout.run_step(&Inline, steps, steps, &source, &mut out)?;
        relayout.run_step(&Inline, usize::MAX, steps, &source, &mut out)?;
        assert!(out == wanted, "{steps} steps");
    }
    Ok(())
}

#[test]
fn nothing_at_all_is_moved_in_every_way() -> Result<()> {
    for (dims, bits) in [(&[][..], 8), (&[0], 8), (&[3, 0, 5], 4), (&[0, 1 << 62], 1), (&[], 200), (&[], 3)] {
        let layout = Layout::row_major(dims, bits)?;
        let relayout = Relayout::new(&layout, &layout, &fill())?;
        let source = vec![0xff; layout.bytes() as usize];
        let mut out = vec![0; layout.bytes() as usize];
        relayout.run_on(&Threads::new(7), &source, &mut out)?;
        relayout.run_step(&Inline, 3, 0, &source, &mut out)?;
        relayout.stream::<Error>(&source, 0, |_, _| Ok(()))?;
        let whole = (layout.len() * u64::from(bits)) as usize;
        assert!((0..whole).all(|bit| out[bit / 8] >> (bit % 8) & 1 == 1));
    }
    Ok(())
}

/// The system gives no threads at all; the calling one does the work.
#[test]
fn threads_that_cannot_be_started_are_not_needed() -> Result<()> {
    const NAME: &str = "extremes::threads_that_cannot_be_started_are_not_needed";
    if std::env::var_os("TILEWORK_TEST_WITHOUT_THREADS").is_none() {
        // A stack larger than any memory.
        let again = std::process::Command::new(std::env::current_exe().expect("a test has a file"))
            .args(["--exact", NAME, "--test-threads", "1"])
            .env("RUST_MIN_STACK", "1152921504606846976")
            .env("TILEWORK_TEST_WITHOUT_THREADS", "1")
            .output();
        let output = again.expect("a test can run");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return Ok(());
    }
    let from = Layout::row_major(&[1 << 18], 64)?;
    let source = vec![3; 1 << 21];
    let mut out = vec![0; 1 << 21];
    let relayout = Relayout::new(&from, &from.flip(0)?, &PlanOptions::default())?;
    relayout.run_on(&Threads::new(4), &source, &mut out)?;
    assert!(out == source);
    Ok(())
}
