//! Compiled modules, as the compiler dumps them.
//!
//! `step.hlo.pb` was dumped by jaxlib 0.10.2 for a CPU; `tr.module.pb` is a module of the TPU compiler, serialised by it.

use proptest::prelude::*;
use tilework_audit::schema::{EventKind, Hlo, HloModule};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/schema/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn a_dump_says_what_lies_where() {
    let hlo = Hlo::read(&file("step.hlo.pb")).unwrap();
    let module = hlo.module.unwrap();
    assert_eq!((module.name.as_str(), module.entry_computation_name.as_str()), ("jit_step", "main.2"));
    assert_eq!(module.computations.len(), 6);
    let main = module.computations.iter().find(|computation| computation.name == "main.2").unwrap();
    assert!(!main.is_fusion && main.id == module.entry_computation_id);
    let fusion = main.instructions.iter().find(|made| made.name == "reverse_add_fusion").unwrap();
    assert_eq!(fusion.shape().unwrap().to_string(), "f32[48,64]{1,0}");
    assert_eq!((fusion.opcode.as_str(), fusion.fusion_kind.as_str()), ("fusion", "kLoop"));
    assert_eq!(fusion.op_name, "jit(step)/add");
    assert_eq!(fusion.source.as_ref().map(|at| (at.file.as_str(), at.line)), Some(("step.py", 4)));
    let called =
        module.computations.iter().find(|inner| inner.id == fusion.called_computation_ids[0]).unwrap();
    assert!(called.is_fusion && called.name == "fused_computation");
    let order = module.schedule.iter().find(|sequence| sequence.computation_id == main.id).unwrap();
    assert_eq!(order.instruction_ids.len(), main.instructions.len());

    let buffers = hlo.buffers.unwrap();
    assert_eq!((buffers.logical_buffers.len(), buffers.allocations.len()), (14, 13));
    let sizes: Vec<i64> = buffers.allocations.iter().map(|allocation| allocation.size).collect();
    assert_eq!(sizes, [12288, 8192, 6144, 16, 4, 4, 4, 4, 4, 4, 4, 4, 12304]);
    assert!(buffers.allocations[2].is_entry_computation_parameter && buffers.allocations[3].is_tuple);
    assert_eq!(buffers.allocations[2].parameter_number, 1);
    let shared = &buffers.allocations[12].assigned;
    assert_eq!(
        shared.iter().map(|value| (value.offset, value.size)).collect::<Vec<_>>(),
        [(0, 12288), (12288, 16)]
    );
    let trace = &buffers.heap_traces[0];
    assert!(trace.whole_module && trace.events.len() == 4);
    assert_eq!(trace.events[2].kind, EventKind::Free);
    assert_eq!((trace.events[2].logical_buffer_id, trace.events[2].instruction_name.as_str()), (18, "dot"));

    // Every value has the size that its shape says.
    let made =
        |id: i64| module.computations.iter().flat_map(|inner| &inner.instructions).find(|made| made.id == id);
    for buffer in &buffers.logical_buffers {
        let shape = made(buffer.instruction_id).unwrap().shape().unwrap();
        assert_eq!(shape.byte_size_of(Some(8)).unwrap(), buffer.size as u64, "{shape}");
    }
}

#[test]
fn a_module_of_a_tpu_has_tiles() {
    let module = HloModule::read(&file("tr.module.pb")).unwrap();
    let shapes = module.computations[0].instructions.iter().map(|made| made.shape().unwrap().to_string());
    let expected = [
        "f32[12,31,96,5]{2,1,3,0:T(8,128)}",
        "f32[96,12,5,31]{0,3,2,1:T(8,128)}",
        "f32[96,1860]{0,1:T(8,128)S(1)}",
        "f32[96,620]{0,1:T(8,128)S(1)}",
        "f32[96,620]{1,0:T(8,128)}",
    ];
    assert_eq!(shapes.collect::<Vec<_>>(), expected);
}

#[test]
fn a_bad_shape_costs_one_instruction() {
    let mut bytes = file("tr.module.pb");
    let tile = [0x32, 0x05, 0x0a, 0x03, 8, 0x80, 1];
    let at = bytes.windows(tile.len()).position(|window| window == tile).unwrap();
    bytes[at + 4] = 0;
    let module = HloModule::read(&bytes).unwrap();
    let bad: Vec<bool> =
        module.computations[0].instructions.iter().map(|made| made.shape().is_err()).collect();
    assert_eq!(bad.iter().filter(|&&bad| bad).count(), 1);
}

#[test]
fn bytes_that_are_no_module_are_refused() {
    let bytes = file("step.hlo.pb");
    let error = Hlo::read(&bytes[..bytes.len() - 1]).unwrap_err();
    assert_eq!(error.field_name(), Some("HloProto"));
    assert!(Hlo::read(b"HloModule jit_step").is_err());
    assert_eq!(Hlo::read(b"").unwrap(), Hlo::default());
    // Instructions of two bytes each would take two hundred times their length.
    let many = |count: usize| {
        let mut computation = vec![0x1a, 0x80 | (2 * count % 128) as u8, (2 * count / 128) as u8];
        computation.extend([0x12, 0x00].repeat(count));
        computation
    };
    assert!(HloModule::read(&many(1000)).is_ok());
    let large = many(8000).repeat(400);
    assert!(HloModule::read(&large).is_err());
}

proptest! {
    #[test]
    fn a_changed_dump_is_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = file("step.hlo.pb");
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(2 * bytes.len()) + 1);
        if let Ok(hlo) = Hlo::read(&bytes) {
            for computation in hlo.module.iter().flat_map(|module| &module.computations) {
                let _ = computation.instructions.iter().map(|made| made.shape()).collect::<Vec<_>>();
            }
        }
    }
}
