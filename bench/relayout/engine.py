"""Tilework and the plain copies: the shared library of `bench/engine`."""

import ctypes

POINTER, SIZE = ctypes.c_void_p, ctypes.c_size_t


class Library:
    def __init__(self, path):
        library = ctypes.CDLL(str(path))
        self._plan, self._run, self._free = library.tilework_plan, library.tilework_run, library.tilework_free
        self._plan.restype = POINTER
        self._plan.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, SIZE]
        self._run.restype = ctypes.c_int
        self._run.argtypes = [POINTER, POINTER, POINTER, SIZE, SIZE]
        self._free.restype = None
        self._free.argtypes = [POINTER]
        self._copy = library.plain_copy
        self._copy.restype = None
        self._copy.argtypes = [POINTER, POINTER, SIZE, SIZE, ctypes.c_bool, SIZE]

    def copy(self, source, destination, size, threads, streaming=False):
        """A call that copies so many times."""
        return lambda times: self._copy(source, destination, size, threads, streaming, times)

    def plan(self, source, destination):
        return Plan(self, source, destination)


class Plan:
    """Tilework's plan between two shapes."""

    def __init__(self, library, source, destination):
        self.native = library
        why = ctypes.create_string_buffer(500)
        self.handle = library._plan(source.encode(), destination.encode(), why, len(why))
        if not self.handle:
            raise ValueError(f"{source} to {destination}: {why.value.decode(errors='replace')}")

    def run(self, source, destination, threads):
        """A call that moves the data so many times."""

        def run(times):
            if self.native._run(self.handle, source, destination, threads, times):
                raise RuntimeError("the engine refused or panicked")

        return run

    def __del__(self):
        if getattr(self, "handle", None):
            self.native._free(self.handle)
