use tilework_audit::{Audit, Findings};
fn text_of(found: &Findings) -> Vec<String> {
    let mut out = vec![];
    for p in &found.programs {
        out.push(format!(
            "name {} basis {:?} total {:?} peak {:?} instr {} compilers {:?} over {}",
            p.name, p.basis, p.total, p.peak, p.instructions, 0, p.overflowed
        ));
        out.push(format!(
            "spaces {:?}",
            p.spaces.iter().map(|s| (s.number, s.reserved, s.total, s.peak)).collect::<Vec<_>>()
        ));
        for b in &p.buffers {
            out.push(format!(
                "buffer {:?} {} {} {:?} {} {} {} {:?} {:?} {:?} {:?}",
                b.name,
                b.shape,
                b.space,
                b.at,
                b.allocated,
                b.data,
                b.count,
                b.at_peak,
                b.live,
                b.computation,
                b.place
            ));
        }
        for s in &p.shapes {
            out.push(format!("shape {} {:?} {:?} {:?} {:?}", s.shape, s.sum, s.at_peak, s.names, s.place));
        }
        for s in &p.computations {
            out.push(format!("computation {s:?}"));
        }
        for s in &p.sources {
            out.push(format!("source {s:?}"));
        }
        out.push(format!("moved {:?}", p.moved));
        for m in &p.moves {
            let mut m = m.clone();
            m.line = 0;
            out.push(format!("move {m:?}"));
        }
        out.push(format!("contradictions {}", p.contradiction_count));
    }
    out.push(format!(
        "unread {:?}",
        found.unread.iter().map(|u| (u.reason, u.count, &u.lines, &u.bytes)).collect::<Vec<_>>()
    ));
    out
}
fn read(files: &[String]) -> Findings {
    let mut audit = Audit::new();
    for f in files {
        audit
            .read(&f.replace("/tmp/", ""), std::io::BufReader::new(std::fs::File::open(f).unwrap()))
            .unwrap();
    }
    audit.findings(usize::MAX)
}
fn main() {
    let stem = std::env::args().nth(1).unwrap();
    let text: Vec<String> = ["-buffer-assignment.txt", "-live-range.txt", ".txt"]
        .iter()
        .map(|s| format!("{stem}{s}"))
        .filter(|f| std::path::Path::new(f).exists())
        .collect();
    let t = std::time::Instant::now();
    let a = text_of(&read(&text));
    let ta = t.elapsed();
    let t = std::time::Instant::now();
    let b = text_of(&read(&[format!("{stem}.hlo.pb")]));
    let tb = t.elapsed();
    for (x, y) in a.iter().zip(&b) {
        if x != y {
            println!("ORDER {x}\n   vs {y}");
            break;
        }
    }
    let mut bad = 0;
    let sa: std::collections::HashSet<_> = a.iter().collect();
    let sb: std::collections::HashSet<_> = b.iter().collect();
    for l in &a {
        if !sb.contains(l) {
            bad += 1;
            if bad < 12 {
                println!("- {l}");
            }
        }
    }
    for l in &b {
        if !sa.contains(l) {
            bad += 1;
            if bad < 24 {
                println!("+ {l}");
            }
        }
    }
    println!("{stem}: {} lines, {bad} differ, same order {}; {ta:?} {tb:?}", a.len(), a == b);
}
