//! Conversions that are disturbed: killed, limited, crowded, robbed of their source, or without room. Whatever happens, the
//! destination is the old file or the new one, whole; nothing else is left; and the file is open to nobody to whom it was not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use crate::attack::{Attack, Log, holds};
use crate::dice::Dice;
use crate::program::{Folder, Limit, Program, clean, end, limited};

const OLD: &[u8] = b"the old file";

struct Convert {
    program: Program,
    folder: Folder,
    /// How long a conversion of a MiB takes here, about.
    pace: Duration,
    /// Whether a small file system can be made; not known at first.
    can_mount: Option<bool>,
}

pub fn new() -> Result<Box<dyn Attack>, String> {
    let folder = Folder::new("convert")?;
    Ok(Box::new(Convert {
        program: Program::tilework()?,
        folder,
        pace: Duration::from_millis(40),
        can_mount: None,
    }))
}

/// A matrix of bytes and its transpose.
struct Matrix {
    rows: usize,
    columns: usize,
    source: Vec<u8>,
}

impl Matrix {
    fn random(dice: &mut Dice, most: usize) -> Matrix {
        let rows = 1 + dice.index(2000);
        let columns = 1 + dice.index((most / rows).max(1));
        let mut source = vec![0; rows * columns];
        dice.fill(&mut source);
        Matrix { rows, columns, source }
    }

    fn transposed(&self) -> Vec<u8> {
        (0..self.columns)
            .flat_map(|j| (0..self.rows).map(move |i| (i, j)))
            .map(|(i, j)| self.source[i * self.columns + j])
            .collect()
    }

    fn words(&self) -> Vec<String> {
        let shape = format!("u8[{},{}]", self.rows, self.columns);
        ["--from", &shape, "--to", "{0,1}"].map(str::to_owned).to_vec()
    }
}

impl Attack for Convert {
    fn case(&mut self, dice: &mut Dice, log: &mut Log) -> Result<(), String> {
        self.folder.clear();
        let has_old = !dice.once_in(4);
        let mode = dice.of(&[0o600, 0o640, 0o644, 0o666, 0o755, 0o400 | 0o200, 0o777, 0o604]);
        let out = self.folder.at("out");
        if has_old {
            self.folder.write("out", OLD)?;
            let mode = fs::Permissions::from_mode(mode | if dice.once_in(4) { 0o6000 } else { 0 });
            fs::set_permissions(&out, mode).map_err(|error| error.to_string())?;
        }
        let most = dice.of(&[100, 60_000, 1 << 20, 6 << 20]);
        let matrix = Matrix::random(dice, most);
        self.folder.write("in", &matrix.source)?;
        let begun = Instant::now();
        let way = dice.below(6);
        log.note(|| format!("way {way}, {} by {}, mode {mode:o}", matrix.rows, matrix.columns));
        match way {
            0 | 1 => self.killed(dice, &matrix, has_old, log)?,
            2 => self.crowded(dice, &matrix, log)?,
            3 => self.limited(dice, &matrix, has_old, log)?,
            4 => self.robbed(dice, &matrix, has_old, log)?,
            _ => self.without_room(dice, &matrix, log)?,
        }
        log.note(|| format!("took {:?}", begun.elapsed()));
        if has_old && out.exists() {
            let now = fs::metadata(&out).map_err(|error| error.to_string())?.permissions().mode() & 0o7777;
            let is_new = fs::read(&out).is_ok_and(|bytes| bytes != OLD);
            holds(now & 0o777 & !mode == 0, || format!("mode {mode:o} became {now:o}"))?;
            holds(!is_new || now & 0o6000 == 0, || format!("a new file with mode {now:o}"))?;
        }
        Ok(())
    }

    fn short(&self) -> u64 {
        12
    }
}

impl Convert {
    fn spawn(&self, mut command: Command, matrix: &Matrix, out: &str) -> Result<Child, String> {
        command.arg("convert").args(["in", out]).args(matrix.words());
        command.spawn().map_err(|error| format!("{command:?}: {error}"))
    }

    fn start(&self, matrix: &Matrix) -> Result<Child, String> {
        self.spawn(clean(self.program.command(), self.folder.path()), matrix, "out")
    }

    /// Some moment of a conversion's life.
    fn moment(&self, dice: &mut Dice, matrix: &Matrix) -> Duration {
        let life =
            Duration::from_millis(8) + self.pace.mul_f64(matrix.source.len() as f64 / (1 << 20) as f64);
        life.mul_f64(dice.below(1500) as f64 / 1000.0)
    }

    /// Which file stands at the destination: it must be one of these, whole.
    fn outcome(&self, may_be: &[(&'static str, &[u8])]) -> Result<&'static str, String> {
        let found = fs::read(self.folder.at("out"));
        let found = match &found {
            Ok(bytes) => may_be.iter().find(|(name, file)| *name != "none" && bytes == file),
            Err(_) => may_be.iter().find(|(name, _)| *name == "none"),
        };
        let names: Vec<&str> = may_be.iter().map(|(name, _)| *name).collect();
        found.map(|(name, _)| *name).ok_or_else(|| match fs::read(self.folder.at("out")) {
            Ok(bytes) => format!("the destination is {} bytes that are none of {names:?}", bytes.len()),
            Err(error) => format!("the destination: {error}; it should be one of {names:?}"),
        })
    }

    /// Nothing but these is left.
    fn is_tidy(&self) -> Result<(), String> {
        let names = self.folder.names();
        let known = |name: &String| name == "in" || name == "out";
        holds(names.iter().all(known), || format!("{names:?} are left"))
    }

    fn killed(
        &mut self,
        dice: &mut Dice,
        matrix: &Matrix,
        has_old: bool,
        log: &mut Log,
    ) -> Result<(), String> {
        let (name, number) = dice.of(&[("KILL", 9), ("TERM", 15), ("INT", 2), ("HUP", 1)]);
        let moment = self.moment(dice, matrix);
        let start = Instant::now();
        let child = self.start(matrix)?;
        let id = child.id().to_string();
        thread::sleep(moment);
        let _ = Command::new("sh").args(["-c", &format!("kill -{name} {id} 2>&-")]).status();
        let ran = end(child)?;
        let new = matrix.transposed();
        let old = if has_old { ("old", OLD) } else { ("none", &[][..]) };
        let found = self.outcome(&[old, ("new", &new)])?;
        log.count(match found {
            "new" => "new-file",
            _ => "old-file",
        });
        if ran.status.signal() == Some(number) {
            log.count("killed");
        } else {
            ran.is_orderly()?;
            holds(ran.status.success() && found == "new", || {
                format!("{}: {} and the {found} file", ran.status, ran.last_words())
            })?;
            let pace = start.elapsed().div_f64((matrix.source.len() as f64 / (1 << 20) as f64).max(0.5));
            self.pace = (self.pace * 3 + pace) / 4;
        }
        if self.is_tidy().is_ok() {
            return Ok(());
        }
        // Between its last two steps a run that replaces a file has a temporary name. Nobody can take that away when the run
        // is killed just there, so the next one does.
        log.count("left-a-name");
        let names = self.folder.names();
        let left: Vec<&String> = names.iter().filter(|name| *name != "in" && *name != "out").collect();
        let is_ours = |name: &&String| name.starts_with(".tilework-") && name.len() == 26;
        holds(number == 9 && has_old && left.len() == 1 && left.iter().all(is_ours), || {
            format!("SIG{name} left {names:?}")
        })?;
        let ran = end(self.start(matrix)?)?;
        holds(ran.status.success(), || ran.last_words())?;
        self.is_tidy()
    }

    /// Several conversions of different sources onto one destination.
    fn crowded(&self, dice: &mut Dice, matrix: &Matrix, log: &mut Log) -> Result<(), String> {
        let count = 2 + dice.index(3);
        let other = Matrix { source: matrix.source.iter().map(|byte| !byte).collect(), ..*matrix };
        self.folder.write("in2", &other.source)?;
        let mut children = Vec::new();
        for number in 0..count {
            let mut command = clean(self.program.command(), self.folder.path());
            let source = if number % 2 == 0 { "in" } else { "in2" };
            command.args(["convert", source, "out"]).args(matrix.words());
            children.push(command.spawn().map_err(|error| error.to_string())?);
            if dice.once_in(2) {
                thread::sleep(Duration::from_millis(dice.below(6)));
            }
        }
        for child in children {
            let ran = end(child)?;
            ran.is_orderly()?;
            holds(ran.status.success(), || format!("one of {count} at once: {}", ran.last_words()))?;
        }
        self.outcome(&[("one", &matrix.transposed()), ("other", &other.transposed())])?;
        let _ = fs::remove_file(self.folder.at("in2"));
        log.count("crowded");
        self.is_tidy()
    }

    /// A limit on the size of files: more than it allows is refused before a byte is written.
    fn limited(&self, dice: &mut Dice, matrix: &Matrix, has_old: bool, log: &mut Log) -> Result<(), String> {
        let blocks = dice.below(1 + matrix.source.len() as u64 / 512 * 2);
        let command = limited(&self.program, self.folder.path(), Limit::FileBlocks(blocks));
        let ran = end(self.spawn(command, matrix, "out")?)?;
        ran.is_orderly()?;
        let new = matrix.transposed();
        let old = if has_old { ("old", OLD) } else { ("none", &[][..]) };
        let found = self.outcome(&[old, ("new", &new)])?;
        holds(ran.status.success() == (found == "new"), || format!("{} and the {found} file", ran.status))?;
        // Shells count in blocks of 512 bytes or of 1024.
        let fits = matrix.source.len() as u64 <= blocks * 512;
        holds(!fits || found == "new", || format!("{blocks} blocks are enough: {}", ran.last_words()))?;
        let is_over = matrix.source.len() as u64 > blocks * 1024;
        holds(!is_over || found != "new", || format!("{blocks} blocks are too few, and it was written"))?;
        log.count("limited");
        self.is_tidy()
    }

    /// A source that is cut short meanwhile: the run fails and says so, or it was done with it.
    fn robbed(&self, dice: &mut Dice, matrix: &Matrix, has_old: bool, log: &mut Log) -> Result<(), String> {
        let moment = self.moment(dice, matrix);
        let left = dice.below(matrix.source.len() as u64);
        let child = self.start(matrix)?;
        thread::sleep(moment);
        let cut =
            fs::File::options().write(true).open(self.folder.at("in")).and_then(|file| file.set_len(left));
        let ran = end(child)?;
        cut.map_err(|error| error.to_string())?;
        ran.is_orderly()?;
        let new = matrix.transposed();
        let old = if has_old { ("old", OLD) } else { ("none", &[][..]) };
        let found = self.outcome(&[old, ("new", &new)])?;
        holds(ran.status.success() == (found == "new"), || {
            format!("cut to {left}: {} and the {found} file: {}", ran.status, ran.last_words())
        })?;
        log.count(if found == "new" { "robbed-late" } else { "robbed" });
        self.is_tidy()
    }

    /// A file system that is full before the file is complete, where one can be made without being root.
    fn without_room(&mut self, dice: &mut Dice, matrix: &Matrix, log: &mut Log) -> Result<(), String> {
        if self.can_mount == Some(false) {
            log.count("no-small-file-system");
            return Ok(());
        }
        let kib = 8 + dice.below(1 + matrix.source.len() as u64 / 1024 * 2);
        let disk = self.folder.at("disk");
        fs::create_dir_all(&disk).map_err(|error| error.to_string())?;
        self.folder.write("new", &matrix.transposed())?;
        let script = "size=$1 from=$2; shift 2\n\
                      mount -t tmpfs -o size=\"$size\"k none disk || exit 77\n\
                      printf 'the old file' > disk/out || exit 78\n\
                      \"$@\" convert in disk/out --from \"$from\" --to '{0,1}' >/dev/null; code=$?\n\
                      echo \"code $code\"; ls -A disk\n\
                      cmp -s disk/out new && echo new\n\
                      [ \"$(head -c 20 disk/out)\" = 'the old file' ] && echo old\n";
        let mut command = clean(Command::new("unshare"), self.folder.path());
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
        command.args([&kib.to_string(), &matrix.words()[1]]).args(self.program.words());
        let Ok(child) = command.spawn() else {
            self.can_mount = Some(false);
            return Ok(());
        };
        let ran = end(child)?;
        let _ = fs::remove_file(self.folder.at("new"));
        let _ = fs::remove_dir(&disk);
        let said: Vec<&str> = ran.stdout.lines().collect();
        if ran.status.code() == Some(77) || self.can_mount.is_none() && said.is_empty() {
            self.can_mount = Some(false);
            log.count("no-small-file-system");
            return Ok(());
        }
        self.can_mount = Some(true);
        log.count(if said.contains(&"code 0") { "enough-room" } else { "full" });
        let is_whole = match said[..] {
            ["code 0", "out", "new"] => true,
            ["code 2", "out", "old"] => !ran.stderr.is_empty(),
            _ => false,
        };
        holds(is_whole, || format!("on {kib} KiB: {said:?} {}", ran.last_words()))?;
        self.is_tidy()
    }
}
