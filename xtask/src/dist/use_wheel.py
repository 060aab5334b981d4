import importlib.util
import subprocess
import sys

import numpy as np
import tilework as tw

array = np.arange(15, dtype=np.float32).reshape(3, 5)
layout = tw.Layout("f32[3,5]{1,0:T(2,2)}")
packed = tw.pack(array, layout)
assert packed.nbytes == 96, packed.nbytes
assert (tw.unpack(packed, layout) == array).all()
if importlib.util.find_spec("tilework.__main__") is not None:
    command = [sys.executable, "-m", "tilework", "show", "f32[3]"]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
    assert "f32[3]" in said, said
print("a wheel that works")
