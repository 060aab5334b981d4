//! Shapes anywhere in a text: XLA's, those of JAX and PyTorch, and types of MLIR.

use memchr::{memchr_iter, memrchr};
use tilework::{Element, System};

use crate::budget::{CONCLUDING, PIECE};
use crate::program::Program;
use crate::read::bytes::end_of_shape;
use crate::read::mlir;
use crate::shapes::ShapeId;
use crate::store::Store;
use crate::texts::NONE;

/// The most different shapes that are kept.
const LIMIT: usize = 1 << 20;

/// The most types of MLIR that are known by what is written.
const TYPES: usize = 1 << 14;

/// The bytes of the longest array that is looked for. Without a limit, a line of opened brackets would be read again for
/// each of them.
const LONGEST: usize = 1 << 10;

impl Store {
    /// Reads a line of any text.
    pub(crate) fn text_line(&mut self, program: &mut Program, number: u64, line: &[u8]) {
        let mut next = 0;
        for open in memchr_iter(b'[', line) {
            if open < next {
                continue;
            }
            let Some((start, named)) = start_of_type(line, open) else { continue };
            let end = start + end_of_array(&line[start..]);
            let shape = match named {
                Named::ByXla => self.shapes.number(&line[start..end]),
                Named::ByOthers(element) => {
                    self.shapes.number(&[element.name().as_bytes(), &line[open..end]].concat())
                }
            };
            if self.loose(program, number, shape).is_some() {
                next = end;
            }
        }
        for open in memchr_iter(b'<', line) {
            let is_memory = line[..open].ends_with(b"memref");
            if is_memory || line[..open].ends_with(b"tensor") {
                self.loose_type(program, number, &line[..line.len().min(open + LONGEST)], open, is_memory);
            }
        }
    }

    /// A type of MLIR whose sizes are behind `open`. The same few stand on every line, so they are known by what is written.
    fn loose_type(&mut self, program: &mut Program, number: u64, line: &[u8], open: usize, is_memory: bool) {
        let text = &line[open + 1..];
        let end = mlir::end_of_type(text);
        let types = &self.types[usize::from(is_memory)];
        let known = match types.get(&text[..end]) {
            Some(&Some(shape)) => return self.loose_shape(program, number, shape),
            Some(None) => return,
            None if end == text.len() => return, // it does not end here
            None => mlir::shape(&line[open - "memref".len()..open + end + 2]),
        };
        let shape = match known {
            Some(shape) => {
                let shape = shape.ok().and_then(|shape| self.shapes.number_of(&shape));
                // Said to be unread each time.
                let Some(shape) = self.loose(program, number, shape) else { return };
                Some(shape)
            }
            None => None,
        };
        let types = &mut self.types[usize::from(is_memory)];
        if types.len() < TYPES && self.budget.for_entry(types) && self.budget.take(end + PIECE) {
            types.insert(text[..end].into(), shape);
        }
    }

    /// Notes a shape that stands in a line, or that it could not be read.
    fn loose(&mut self, program: &mut Program, number: u64, shape: Option<ShapeId>) -> Option<ShapeId> {
        match shape {
            Some(shape) => self.loose_shape(program, number, shape),
            None => self.complaints.add(number, "a shape that cannot be read"),
        }
        shape
    }

    fn loose_shape(&self, program: &mut Program, number: u64, shape: ShapeId) {
        let (loose, budget) = (&mut program.loose, &self.budget);
        let is_held = loose.contains_key(&shape)
            || loose.len() < LIMIT && budget.for_entry(loose) && budget.take(CONCLUDING);
        if is_held {
            loose.entry(shape).or_default().add(number, || NONE);
        }
    }
}

/// Where the name of an element type begins that ends before `open`, and what XLA calls it.
fn start_of_type(line: &[u8], open: usize) -> Option<(usize, Named)> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let start = open - line[..open].iter().rev().take_while(is_part).take(24).count();
    // `a.f32[2]` is the name of something else.
    if start > 0 && matches!(line[start - 1], b'_' | b'.' | b'$' | b'%') {
        return None;
    }
    let name = std::str::from_utf8(&line[start..open]).ok()?;
    let is_element = |name: &str| Element::from_name(name).is_some();
    let is_upper = || !name.bytes().any(|byte| byte.is_ascii_lowercase());
    if is_element(name) || is_upper() && is_element(&name.to_ascii_lowercase()) {
        return Some((start, Named::ByXla));
    }
    // Of a name that programs use as well, only what can be nothing else is an array: sizes that are numbers.
    let close = open + 1 + memchr::memchr(b']', &line[open + 1..line.len().min(open + LONGEST)])?;
    let mut sizes = line[open + 1..close].split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    if !sizes.all(|size| !size.is_empty() && size.iter().all(u8::is_ascii_digit)) {
        return None;
    }
    let by_other = |system| Element::from_name_in(system, name);
    let element = [System::Numpy, System::Jax, System::TorchShort].into_iter().find_map(by_other)?;
    Some((start, Named::ByOthers(element)))
}

/// How an element type is written.
enum Named {
    ByXla,
    /// As JAX, NumPy or PyTorch call it.
    ByOthers(Element),
}

/// Where the array ends that a text begins with: behind its sizes, and its layout if one follows at once.
fn end_of_array(text: &[u8]) -> usize {
    let text = &text[..text.len().min(LONGEST)];
    let end = |open: usize| open + end_of_shape(&text[open..]).max(1);
    let Some(open) = memchr::memchr(b'[', text) else { return text.len() };
    let Some(close) = memchr::memchr(b']', &text[open..]) else { return text.len() };
    let sizes = open + close + 1;
    match text.get(sizes) {
        Some(b'{') => {
            let end = end(sizes).min(text.len());
            // What follows a layout directly, as a full stop does, is no part of it.
            memrchr(b'}', &text[sizes..end]).map_or(end, |brace| sizes + brace + 1)
        }
        _ => sizes,
    }
}

#[cfg(test)]
mod tests {
    use crate::Audit;

    fn found(line: &str) -> Vec<String> {
        let mut audit = Audit::new();
        audit.read("text", line.as_bytes()).expect("memory is read");
        let mut found: Vec<(u32, String)> = Vec::new();
        for program in audit.programs.iter() {
            for &shape in program.loose.keys() {
                found.push((shape, audit.store.shapes.known(shape).shape.to_string()));
            }
        }
        found.sort();
        found.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn shapes_are_found_wherever_they_stand() {
        assert_eq!(found("has (f32[3,5]{1,0:T(2,2)}, s32[7]) in it."), ["f32[3,5]{1,0:T(2,2)}", "s32[7]{0}"]);
        assert_eq!(found("`bf16[2,3]`: F32[2]{0}. pred[]"), ["bf16[2,3]{1,0}", "f32[2]{0}", "pred[]"]);
        assert_eq!(found("x_f32[2] list[3] a.s8[1] f32 [2] f33[2] word"), Vec::<String>::new());
        assert_eq!(found("f32[2,"), Vec::<String>::new());
        assert_eq!(found("s32[2]{0:T(128)}s32[3]"), ["s32[2]{0:T(128)}", "s32[3]{0}"]);
    }

    #[test]
    fn shapes_of_python_are_found_where_their_sizes_are_numbers() {
        assert_eq!(
            found(
                "ShapedArray(float32[8,128]) a:i32[2,3] bfloat16[4]{0} bool[7] \"f32[8, 1]cuda\", complex64[2]"
            ),
            ["f32[8,128]{1,0}", "s32[2,3]{1,0}", "bf16[4]{0}", "pred[7]{0}", "f32[8,1]{1,0}", "c64[2]{0}"]
        );
        assert_eq!(found("f8_e4m3fn[3] float8_e5m2[2] uint4[9] b8[1] i64[5]").len(), 5);
        let programs =
            "bool[] int32[i] float32[n, 3] i[3] my_float32[3] i32[2, ] np.int8[3] int[4] float[2] i33[1]";
        assert_eq!(found(programs), Vec::<String>::new());
        let mut audit = Audit::new();
        audit.read("text", programs.as_bytes()).expect("memory is read");
        assert!(audit.unread().is_empty(), "{:?}", audit.unread());
    }

    #[test]
    fn tensors_of_mlir_are_row_major() {
        let line = "%0 = stablehlo.add %a : (tensor<300000x8xf32>, tensor<i1>) -> tensor<?x3xui8, #enc>";
        assert_eq!(found(line), ["f32[300000,8]{1,0}", "pred[]", "u8[?,3]{1,0}"]);
        let elements = "tensor<2x!quant.uniform<i8:f32, 0.1:-1>> tensor<4x!quant.uniform<u8<1:255>:f32:0, {0.1,0.2}>> \
                        tensor<4xcomplex<f32>> tensor<3xcomplex<f64>> tensor<7xf8E4M3FN> tensor<5xindex> tensor<9xui2>";
        let expected =
            ["s8[2]{0}", "u8[4]{0}", "c64[4]{0}", "c128[3]{0}", "f8e4m3fn[7]{0}", "s64[5]{0}", "u2[9]{0}"];
        assert_eq!(found(elements), expected);
        let bounds =
            "tensor<2x?xf32, #stablehlo.bounds<?, 4>> tensor<?x3xi8, #mhlo.type_extensions<bounds = [9, ?]>>";
        assert_eq!(found(bounds), ["f32[2,<=4]{1,0}", "s8[<=9,3]{1,0}"]);
        let none = "tensor<2x*xf32> tensor<*xf32> tensor< tensor<2x!tf_type.string> tensor<2xtf32> vector<8x128xf32> \
                    tensor<3xcomplex<i8>> tensor<4xf32 tensor<!quant tensor<2x!quant.uniform< \
                    tensor<64x64xf16, #ttg.blocked<{order = [1, 0]}>> tensor<8xf32, #sparse_tensor.encoding<{}>>";
        assert_eq!(found(none), Vec::<String>::new());
    }

    #[test]
    fn memories_of_mlir_have_their_tiles_and_order() {
        let tiled = "memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, \
                     memref<1024x300xbf16, #tpu.tiled<(8,128)(2,1),[3, 1]>, #tpu.memory_space<hbm>>, \
                     memref<3x16x7xi32, #tpu.tiled<(8,128),[2,1,1]>, #tpu.memory_space<smem>> memref<6xi4, 3> \
                     {llo.type = memref<256x256xbf16, #xir.tiled<(8,128)(2,1),[2,1]>, #xir.memory_space<vmem, tc>>}";
        let expected = [
            "f32[8,128]{1,0:T(8,128)S(1)}",
            "bf16[1024,300]{1,0:T(8,128)(2,1)}",
            "s32[3,16,7]{2,1,0:T(8,128)S(2)}",
            "s4[6]{0}",
            "bf16[256,256]{1,0:T(8,128)(2,1)S(1)}",
        ];
        assert_eq!(found(tiled), expected);
        let strided = "memref<32x24x1xf32, strided<[1, 32, 1], offset: 0>> memref<2x8xvector<4xf32>>\
                       memref<5x2xf32, strided<[2, 1]>, #gpu.address_space<workgroup>>";
        assert_eq!(found(strided), ["f32[32,24,1]{2,0,1}", "f32[2,8,4]{2,1,0}", "f32[5,2]{1,0}"]);
        let again = "tensor<2x3xf32> tensor<*xf32> memref<8xf32, strided<[2]>> tensor<2x3xf32> tensor<*xf32>";
        assert_eq!(found(&format!("{again}\n{again}")), ["f32[2,3]{1,0}"]);
        let parts = "memref<32x24xf32, strided<[48, 1]>> memref<4xf32, strided<[1], offset: 8>> \
                     memref<4xf32, strided<[?], offset: ?>> memref<16x256xf32, #tpu.tiled<(8,128),[4,1]>> \
                     memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>> memref<2x!tpu.semaphore> \
                     memref<4xi32, #tpu.memory_space<semaphore_mem>>";
        assert_eq!(found(parts), Vec::<String>::new());
    }
}
