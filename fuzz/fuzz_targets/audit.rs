//! Any text or serialised module is audited: what comes of it is consistent, whatever it says, and lists are no longer than asked for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilework_audit::Audit;

/// Beginnings that lead into each reader, so that not every input must find them.
const BEGINNINGS: [&[u8]; 13] = [
    b"",
    b"BufferAssignment:\nallocation 0: size 64, color 1, preallocated-temp:\n",
    b"HloLiveRange (max 9):\n  BufferLiveRange:\n",
    b"HloModule m, is_scheduled=true\nENTRY %main (x: f32[2]) -> f32[2] {\n  %x = f32[2,3]{1,0:T(2,4)} parameter(0)\n",
    b"Memory Space: default (color=0)\n",
    b"Ran out of memory in memory space hbm. Used 2.00G of 1.00G hbm.\n  Largest program allocations in hbm:\n  1. Size: 1.00G\n",
    b"onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:ab::f0 dst:f32:p:blocked:AB8b::f0,,,3x5,0.5\n",
    b"[TRT] Adding reformat layer: Reformatted Input Tensor 0 to c (x) from Float(150528,50176,224,1) to Half(100352,50176:2,224,1)\n",
    b"{\"Layers\": [{\"Name\": \"r\", \"LayerType\": \"Reformat\", \"Inputs\": [{\"Name\": \"a\", \"Dimensions\": [1,3,5,7], \
      \"Format/Datatype\": \"Row major linear FP32\"}], \"Outputs\": [{\"Name\": \"b\", \"Dimensions\": [1,3,5,7], \
      \"Format/Datatype\": \"Four wide channel vectorized row major Int8 format\"}]},",
    b"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::copy_\", \"ts\": 1, \"dur\": 9, \"args\": {\"External id\": 1, \
      \"Input Dims\": [[2,3],[2,3]], \"Input Strides\": [[3,1],[1,2]], \"Input type\": [\"float\",\"float\"]}},",
    b"#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n\
      %1 = ttg.convert_layout %0 : tensor<128xf32, #b> -> tensor<128xf32, #b> loc(#loc1)\n",
    b"#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>\n\
      %1 = \"ttnn.to_layout\"(%0) : (tensor<64x128xbf16, #l>) -> tensor<64x128xbf16, #l>\n",
    // A model of ONNX, with a graph of a Transpose and a Relu, which may go on.
    b"\x08\x08\x3a\x80\x01\x0a\x20\x0a\x01a\x12\x01b\x22\x09Transpose\x2a\x0d\x0a\x04perm\x40\x01\x40\x00\xa0\x01\x07\x0a\x0c\x0a\x01b\
      \x12\x01c\x22\x04Relu",
];

/// What a serialised module begins with: its name, its program's, and a computation of two instructions in order.
const MODULE: &[u8] = b"\x0a\x01\x6d\x12\x01\x65\x1a\x4e\x0a\x01\x65\x12\x25\x0a\x01\x78\x12\x09\x70\x61\x72\x61\x6d\x65\x74\x65\
    \x72\x1a\x12\x10\x0b\x1a\x02\x03\x05\x2a\x0a\x0a\x02\x01\x00\x32\x04\x0a\x02\x02\x04\x98\x02\x01\x12\x1e\
    \x0a\x01\x79\x12\x04\x63\x6f\x70\x79\x1a\x0c\x10\x0b\x1a\x02\x03\x05\x2a\x04\x0a\x02\x00\x01\x98\x02\x02\
    \xa2\x02\x01\x01\x28\x07\x30\x02\x30\x07\x3a\x0a\x0a\x08\x08\x07\x12\x04\x0a\x02\x01\x02";

/// A serialised module and what follows, or both parts of an `HloProto`: what follows of the module, and of its buffers.
fn serialised(choice: u8, bytes: &[u8]) -> Vec<u8> {
    let with_buffers = choice & 1 == 1;
    let (own, buffers) = bytes.split_at(if with_buffers { bytes.len() / 2 } else { bytes.len() });
    let module = [MODULE, own].concat();
    if !with_buffers {
        return module;
    }
    [field(0x0a, &module), field(0x1a, buffers)].concat()
}

/// A message within another.
fn field(tag: u8, message: &[u8]) -> Vec<u8> {
    let length = message.len();
    let head =
        [tag, length as u8 & 0x7f | 0x80, (length >> 7) as u8 & 0x7f | 0x80, (length >> 14) as u8 & 0x7f];
    [&head[..], message].concat()
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, text)) = bytes.split_first() else { return };
    let whole = match BEGINNINGS.get(usize::from(first) % (BEGINNINGS.len() + 2)) {
        Some(beginning) => [beginning, text].concat(),
        None => serialised(first, text),
    };
    let read = |input: &mut dyn std::io::BufRead| {
        let mut audit = Audit::with_memory(1 << 30);
        audit.read("text", input).expect("memory is read");
        audit.findings(5)
    };
    let found = read(&mut &whole[..]);
    for program in &found.programs {
        assert!(program.total.data <= program.total.allocated);
        assert!((0.0..=1.0).contains(&program.main().share()));
        assert!(program.buffers.len() <= 5 && program.shapes.len() <= 5 && program.moves.len() <= 5);
        for buffer in &program.buffers {
            assert!(buffer.data <= buffer.allocated);
        }
    }
    for log in &found.logs {
        assert!(log.moves.len() <= 5 && log.pairs.len() <= 5 && log.padded.len() <= 5);
        assert!(log.moved.waste <= log.moved.touched && log.moved.timed <= log.moved.count);
    }
    // Where the buffer of a file ends changes nothing.
    let again = read(&mut std::io::BufReader::with_capacity(1 + usize::from(first), &whole[..]));
    assert_eq!(format!("{found:?}"), format!("{again:?}"));
});
