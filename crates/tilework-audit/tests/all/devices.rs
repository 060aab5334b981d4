//! What several devices have the same of, beside what the compiler was given for all of them.

use tilework_audit::{Audit, Audited};

/// What the compiler was given: a mesh of 2 by 2 devices.
const BEFORE: &str = "\
HloModule jit_step, entry_computation_layout={(f32[1024,512]{1,0})->f32[]}, num_partitions=4

%inner (p.1: f32[7,7]) -> f32[7,7] {
  ROOT %p.1 = f32[7,7]{1,0} parameter(0)
}

ENTRY %main (x.1: f32[1024,512], w.1: f32[512,4096], t.1: f32[5000,130], o.1: f32[10,130]) -> f32[] {
  %x.1 = f32[1024,512]{1,0} parameter(0), sharding={devices=[2,2]<=[4]}, metadata={op_name=\"x\"}
  %w.1 = f32[512,4096]{1,0} parameter(1), sharding={devices=[1,2,2]<=[4] last_tile_dim_replicate}, metadata={op_name=\"w\"}
  %t.1 = f32[5000,130]{1,0} parameter(2), sharding={replicated}, metadata={op_name=\"t\"}
  %o.1 = f32[10,130]{1,0} parameter(3), sharding={devices=[4,1]<=[4]}, metadata={op_name=\"o\"}
  ROOT %c.1 = f32[] constant(0)
}
";

/// What one device runs. Of 10 rows in 4 parts, each has 3.
const AFTER: &str = "\
HloModule jit_step, is_scheduled=true, num_partitions=4

ENTRY %main (x: f32[512,256], w: f32[512,2048], t: f32[5000,130], o: f32[3,130]) -> f32[] {
  %x = f32[512,256]{1,0:T(8,128)} parameter(0), metadata={op_name=\"x\"}
  %w = f32[512,2048]{1,0:T(8,128)} parameter(1), metadata={op_name=\"w\"}
  %t = f32[5000,130]{1,0:T(8,128)} parameter(2), metadata={op_name=\"t\"}
  %o = f32[3,130]{1,0:T(4,128)} parameter(3), metadata={op_name=\"o\"}
  ROOT %c = f32[]{:T(128)} constant(0)
}
";

fn audited(before: &str) -> Audited {
    let mut audit = Audit::default();
    for (stage, text) in [("after_optimizations", AFTER), ("before_optimizations", before)] {
        audit.read(&format!("module_0000.jit_step.cl_1.{stage}.txt"), text.as_bytes()).unwrap();
    }
    let mut found = audit.findings(10);
    assert_eq!((found.programs.len(), found.unread.len()), (1, 0));
    found.programs.remove(0)
}

#[test]
fn arguments_that_several_devices_have_are_found() {
    let found = audited(BEFORE);
    assert_eq!(found.devices, Some(4));
    let said: Vec<_> = found
        .replicas
        .iter()
        .map(|each| (each.name.as_str(), each.number, each.copies, each.bytes, each.spares))
        .collect();
    // Padded to tiles of 8 by 128: 5000 by 256, and 512 by 2048.
    let (table, weights) = (5000 * 256 * 4, 512 * 2048 * 4);
    assert_eq!(said, [("t", 2, 4, table, table / 4 * 3), ("w", 1, 2, weights, weights / 2)]);
    assert_eq!(found.replica_bytes, table / 4 * 3 + weights / 2);
    assert_eq!(found.replicas[1].whole.to_string(), "f32[512,4096]{1,0}");
    assert_eq!(found.replicas[1].shape.to_string(), "f32[512,2048]{1,0:T(8,128)}");
    // Nothing else of the first stage counts.
    assert_eq!(found.instructions, audited("").instructions);
}

#[test]
fn what_one_device_runs_is_not_compared() {
    for before in ["", &BEFORE.replace(", num_partitions=4", ""), &BEFORE.replace("=4\n", "=1\n")] {
        let found = audited(before);
        assert_eq!((found.devices, found.replicas.len()), (None, 0), "{before}");
    }
    // An impossible number of devices, or of elements, is no finding.
    for (from, to) in
        [("num_partitions=4", "num_partitions=99999999999999999999"), ("f32[5000,130]{", "f32[5000,0]{")]
    {
        let found = audited(&BEFORE.replace(from, to));
        assert!(found.replicas.iter().all(|each| each.name != "t"), "{to}: {:?}", found.replicas);
    }
}
