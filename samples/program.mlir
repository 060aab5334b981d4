module @attention {
  func.func public @main(%q: tensor<4x1024x16x64xbf16>, %k: tensor<4x1024x16x64xbf16>) -> tensor<4x16x1024x1024xf32> {
    %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<4x1024x16x64xbf16>, tensor<4x1024x16x64xbf16>) -> tensor<4x16x1024x1024xf32>
    return %0 : tensor<4x16x1024x1024xf32>
  }
}
