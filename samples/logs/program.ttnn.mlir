// A small network for Tenstorrent's TTNN, as tt-mlir writes it.
#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#system_memory = #ttnn.buffer_type<system_memory>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<512x784xbf16, #system_memory>>
#ttnn_layout1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<25x8x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout2 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x1x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
#ttnn_layout3 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<16x25x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout4 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8, (d0, d1) -> (0, d0, d1)>, memref<2x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>
#ttnn_layout5 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<16x8x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout6 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<16x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout7 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<512x10xbf16, #system_memory>>
module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
  func.func private @forward_const_eval_0(%arg0: tensor<784x256xbf16, #ttnn_layout1>) -> tensor<784x256xbf16, #ttnn_layout1> attributes {tt.function_type = "const_eval"} {
    %0 = "ttnn.to_memory_config"(%arg0) <{memory_config = #ttnn.memory_config<#dram, <interleaved>>}> : (tensor<784x256xbf16, #ttnn_layout1>) -> tensor<784x256xbf16, #ttnn_layout1>
    return %0 : tensor<784x256xbf16, #ttnn_layout1>
  }
  func.func @forward(%arg0: tensor<512x784xbf16, #ttnn_layout>, %arg1: tensor<784x256xbf16, #ttnn_layout1>, %arg2: tensor<256x10x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout2>) -> tensor<512x10xbf16, #ttnn_layout7> {
    %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %1 = "ttnn.to_layout"(%arg0, %0) <{dtype = #ttcore.supportedDataTypes<bf16>, layout = #ttnn.layout<tile>, memory_config = #ttnn.memory_config<#dram, <interleaved>>}> : (tensor<512x784xbf16, #ttnn_layout>, !ttnn.device) -> tensor<512x784xbf16, #ttnn_layout3>
    %2 = "ttnn.matmul"(%1, %arg1) <{transpose_a = false, transpose_b = false}> : (tensor<512x784xbf16, #ttnn_layout3>, tensor<784x256xbf16, #ttnn_layout1>) -> tensor<512x256xbf16, #ttnn_layout4>
    "ttnn.deallocate"(%1) <{force = false}> : (tensor<512x784xbf16, #ttnn_layout3>) -> ()
    %3 = "ttnn.to_memory_config"(%2) <{memory_config = #ttnn.memory_config<#dram, <interleaved>>}> : (tensor<512x256xbf16, #ttnn_layout4>) -> tensor<512x256xbf16, #ttnn_layout5>
    %4 = "ttnn.to_memory_config"(%3) <{memory_config = #ttnn.memory_config<#l1, <block_sharded>>}> : (tensor<512x256xbf16, #ttnn_layout5>) -> tensor<512x256xbf16, #ttnn_layout4>
    %5 = "ttnn.relu"(%4) : (tensor<512x256xbf16, #ttnn_layout4>) -> tensor<512x256xbf16, #ttnn_layout4>
    %6 = "ttnn.to_memory_config"(%5) <{memory_config = #ttnn.memory_config<#dram, <interleaved>>}> : (tensor<512x256xbf16, #ttnn_layout4>) -> tensor<512x256xbf16, #ttnn_layout5>
    %7 = "ttnn.matmul"(%6, %arg2) <{transpose_a = false, transpose_b = false}> : (tensor<512x256xbf16, #ttnn_layout5>, tensor<256x10x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout2>) -> tensor<512x10xbf16, #ttnn_layout6>
    %8 = "ttnn.from_device"(%7) : (tensor<512x10xbf16, #ttnn_layout6>) -> tensor<512x10xbf16, #ttnn_layout7>
    return %8 : tensor<512x10xbf16, #ttnn_layout7>
  }
}
