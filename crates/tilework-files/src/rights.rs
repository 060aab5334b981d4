//! Who may do what with a file that replaces another: never more people, and never more, than before.
//!
//! The new file is made with mode 0600 and gets, before it gets its name:
//!
//! 1. the group of the old file, and then its owner, where the system lets us change them. Root may, the owner may for groups
//!    of his own, everybody else may not;
//! 2. the access control list of the old file, where both were kept, and none where the old file had none (a folder may give
//!    one to every new file);
//! 3. the mode of the old file, less what rules 4 to 6 take away. Set-user-id, set-group-id and the sticky bit are never
//!    given: the content is another one, and nobody vouched for it;
//! 4. where the group was lost, two classes of people change places: those of the new group had the rights of others, and
//!    those of the old group become others. So both classes keep what both had;
//! 5. where the owner was lost, he becomes one of the group or of the others, and these keep only what he had;
//! 6. where a list was lost, the mode says too little: its group bits are no more than a bound on the list, which may give
//!    the group less, and single people less than others. So only the owner's bits stay.
//!
//! Owner and group come first, as a mode means something only for them; and a system may say yes and change nothing, so
//! what was kept is read back. Other extended attributes describe the old content, or give its program powers, and are not
//! copied. Lists of other kinds (NFS version 4, macOS) are not looked at.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

/// Owner, group, mode and list of a file.
#[derive(Clone, Debug)]
pub(crate) struct Rights {
    owner: u32,
    group: u32,
    mode: u32,
    list: List,
}

/// The access control list of a file, in the system's own form.
#[derive(Clone, Debug, PartialEq, Eq)]
enum List {
    None,
    /// Never read by us.
    Is(Vec<u8>),
    /// There may be one.
    Unknown,
}

impl Rights {
    /// Those of the file that has this name; none if no file has.
    ///
    /// # Errors
    /// What is there and is no plain file, such as a link.
    pub(crate) fn of(path: &Path) -> io::Result<Option<Rights>> {
        let file = match fs::symlink_metadata(path) {
            Ok(file) if file.is_file() => file,
            Ok(_) => return Err(io::Error::other("it is no plain file any more")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(Rights { owner: file.uid(), group: file.gid(), mode: file.mode(), list: list::of(path) }))
    }

    /// Whoever may own a new file: this process, and the owner of the file that it replaces.
    pub(crate) fn owners(old: Option<&Rights>) -> Vec<u32> {
        let me = rustix::process::geteuid().as_raw();
        old.map(|old| old.owner).into_iter().chain([me]).collect()
    }

    /// Gives a new file, of mode 0600 so far, as much of them as it can have.
    ///
    /// # Errors
    /// A mode that the system does not set, where the file would be open to more people with the one it has.
    pub(crate) fn give(&self, file: &File) -> io::Result<()> {
        // The group first: who has given a file away may not change it any more.
        let _ = fchown(file, None, Some(self.group));
        let _ = fchown(file, Some(self.owner), None);
        let now = file.metadata()?;
        let (owner, group) = (now.uid() == self.owner, now.gid() == self.group);
        let list = match &self.list {
            List::None => list::remove(file),
            List::Is(list) => owner && group && list::set(file, list),
            List::Unknown => false,
        };
        let kept = Kept { owner, group, list };
        let mode = mode(self.mode, kept);
        let now = file.metadata()?.mode() & 0o7777;
        if now == mode {
            return Ok(());
        }
        match file.set_permissions(Permissions::from_mode(mode)) {
            // Some file systems have one mode for all files.
            Err(error) if now & !mode != 0 => Err(error),
            _ => Ok(()),
        }
    }
}

/// What of the old file the new one has.
#[derive(Clone, Copy, Debug)]
struct Kept {
    owner: bool,
    group: bool,
    /// The list, or that there is none.
    list: bool,
}

/// The mode of a file that replaces one of this mode, by rules 3 to 6.
fn mode(old: u32, kept: Kept) -> u32 {
    let [owner, group, others] = [6, 3, 0].map(|shift| old >> shift & 7);
    let mut both = 7;
    if !kept.group {
        both &= group & others; // rule 4
    }
    if !kept.owner {
        both &= owner; // rule 5
    }
    if !kept.list {
        both = 0; // rule 6
    }
    owner << 6 | (group & both) << 3 | others & both
}

#[cfg(target_os = "linux")]
mod list {
    use std::fs::File;
    use std::path::Path;

    use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr, lgetxattr};
    use rustix::io::{Errno, Result};

    use super::List;

    /// Where the system keeps a list.
    const NAME: &str = "system.posix_acl_access";

    /// The longest attribute that there is.
    const LONGEST: usize = 1 << 16;

    pub(super) fn of(path: &Path) -> List {
        let mut list = vec![0; LONGEST];
        found(lgetxattr(path, NAME, &mut list[..]), list)
    }

    fn found(len: Result<usize>, mut list: Vec<u8>) -> List {
        match len {
            Ok(len) => {
                list.truncate(len);
                List::Is(list)
            }
            Err(Errno::NODATA | Errno::OPNOTSUPP) => List::None,
            Err(_) => List::Unknown,
        }
    }

    /// Whether the file has this list now.
    pub(super) fn set(file: &File, list: &[u8]) -> bool {
        fsetxattr(file, NAME, list, XattrFlags::empty()).is_ok()
    }

    /// Whether the file has no list now.
    pub(super) fn remove(file: &File) -> bool {
        let _ = fremovexattr(file, NAME);
        let mut list = vec![0; LONGEST];
        found(fgetxattr(file, NAME, &mut list[..]), list) == List::None
    }
}

/// Lists of other systems are of other kinds.
#[cfg(not(target_os = "linux"))]
mod list {
    use std::fs::File;
    use std::path::Path;

    use super::List;

    pub(super) fn of(_: &Path) -> List {
        List::None
    }

    pub(super) fn set(_: &File, _: &[u8]) -> bool {
        false
    }

    pub(super) fn remove(_: &File) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::{Folder, Tested};

    const ALL: Kept = Kept { owner: true, group: true, list: true };

    #[test]
    fn nobody_but_the_new_owner_gets_a_right_for_any_mode() {
        // Somebody is the old owner or not, of the old group or not, of the new group or not.
        let people = (0..8).map(|bits| [bits & 1 > 0, bits & 2 > 0, bits & 4 > 0]);
        let rights = |mode: u32, owner: bool, group: bool| match (owner, group) {
            (true, _) => mode >> 6 & 7,
            (_, true) => mode >> 3 & 7,
            _ => mode & 7,
        };
        for (old, lost) in (0..0o10000).flat_map(|old| (0..4).map(move |lost| (old, lost))) {
            let kept = Kept { owner: lost & 1 == 0, group: lost & 2 == 0, list: true };
            let new = mode(old, kept);
            assert_eq!(new & !0o777, 0, "{old:o}");
            for [is_owner, of_old, of_new] in people.clone() {
                let of_new = if kept.group { of_old } else { of_new };
                let before = rights(old, is_owner, of_old);
                let after = rights(new, is_owner && kept.owner, of_new);
                assert_eq!(after & !before, 0, "{old:o} becomes {new:o}, {kept:?}");
            }
        }
    }

    #[test]
    fn as_much_of_the_mode_is_kept_as_is_safe() {
        assert_eq!(mode(0o104755, ALL), 0o755);
        assert_eq!(mode(0o640, Kept { owner: false, ..ALL }), 0o640);
        assert_eq!(mode(0o640, Kept { group: false, ..ALL }), 0o600);
        assert_eq!(mode(0o664, Kept { group: false, ..ALL }), 0o644);
        assert_eq!(mode(0o604, Kept { group: false, ..ALL }), 0o600);
        assert_eq!(mode(0o466, Kept { owner: false, ..ALL }), 0o444);
        assert_eq!(mode(0o664, Kept { list: false, ..ALL }), 0o600);
    }

    /// Owner rw-, user 4321 rw-, group ---, mask rw-, others r--, as the system stores it.
    #[cfg(target_os = "linux")]
    fn a_list() -> Vec<u8> {
        let entries =
            [(1, 6, u32::MAX), (2, 6, 4321), (4, 0, u32::MAX), (0x10, 6, u32::MAX), (0x20, 4, u32::MAX)];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, bits, id) in entries {
            list.extend([u16::to_le_bytes(tag), u16::to_le_bytes(bits)].concat());
            list.extend(id.to_le_bytes());
        }
        list
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_list_goes_with_owner_and_group_and_never_becomes_bits_of_the_group() -> Tested {
        let folder = Folder::new("lists")?;
        let (old, new) = (folder.0.join("old"), folder.0.join("new"));
        let old_file = File::create_new(&old)?;
        old_file.set_permissions(Permissions::from_mode(0o600))?;
        if !list::set(&old_file, &a_list()) {
            eprintln!("skipped: this file system keeps no access control lists");
            return Ok(());
        }
        assert_eq!(
            old_file.metadata()?.mode() & 0o777,
            0o664,
            "the mask of the list looks like the group's bits"
        );
        let rights = Rights::of(&old)?.ok_or("a file")?;
        let file = File::create_new(&new)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        rights.give(&file)?;
        assert_eq!(list::of(&new), List::Is(a_list()));
        // A list that cannot be had.
        let file = File::create_new(folder.0.join("another"))?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        Rights { list: List::Unknown, ..rights.clone() }.give(&file)?;
        assert_eq!(file.metadata()?.mode() & 0o777, 0o600);
        // The old file had none, and the folder gave the new one some.
        fs::remove_file(&old)?;
        let old_file = File::create_new(&old)?;
        old_file.set_permissions(Permissions::from_mode(0o640))?;
        let file = File::open(&new)?;
        Rights::of(&old)?.ok_or("a file")?.give(&file)?;
        assert_eq!((list::of(&new), file.metadata()?.mode() & 0o777), (List::None, 0o640));
        Ok(())
    }

    #[test]
    fn what_is_no_file_has_no_rights_to_give() -> Tested {
        let folder = Folder::new("no-file")?;
        assert!(Rights::of(&folder.0).is_err());
        assert!(Rights::of(&folder.0.join("none"))?.is_none());
        std::os::unix::fs::symlink("none", folder.0.join("link"))?;
        assert!(Rights::of(&folder.0.join("link")).is_err());
        Ok(())
    }
}
