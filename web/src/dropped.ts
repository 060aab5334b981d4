/** The files of what was dropped, those of folders too. */

/** The most files of a folder that are looked at. */
const MOST = 20_000;

export async function filesOf(dropped: DataTransfer): Promise<File[]> {
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  // What is dropped is gone once this event is over, so the files are taken before anything is waited for.
  const plain = [...dropped.files];
  if (entries.every((entry) => !entry?.isDirectory)) return plain;
  const found: File[] = [];
  for (const entry of entries) if (entry) await walk(entry, found);
  return found;
}

async function walk(entry: FileSystemEntry, found: File[]): Promise<void> {
  if (found.length >= MOST) return;
  if (entry.isFile) {
    const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed));
    // The same name as a chosen folder would give it.
    Object.defineProperty(file, "webkitRelativePath", { value: entry.fullPath.replace(/^\//, "") });
    found.push(file);
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader gives a folder in parts.
    const part = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (part.length === 0) return;
    for (const inner of part) await walk(inner, found);
  }
}
