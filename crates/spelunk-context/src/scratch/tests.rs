use std::io::Write as _;

use super::*;

#[test]
fn files_are_numbered_and_gone_with_the_scratch() {
    let scratch = Scratch::default();
    let (mut file, first) = scratch.create().unwrap();
    file.write_all(b"x").unwrap();
    let (_, second) = scratch.create().unwrap();
    assert_eq!(
        (first.file_name().unwrap(), second.file_name().unwrap()),
        ("000000".as_ref(), "000001".as_ref())
    );
    assert_eq!((first.exists(), second.exists()), (true, true));
    Scratch::discard(&second);
    drop(scratch);
    assert_eq!((first.exists(), first.parent().unwrap().exists()), (false, false));
}

#[cfg(unix)]
#[test]
fn nobody_else_may_look_in() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::default();
    let (_, path) = scratch.create().unwrap();
    assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn there_is_room_until_there_is_not() {
    let scratch = Scratch::default();
    assert_eq!((scratch.reserve(Scratch::BYTES_MAX), scratch.reserve(1)), (true, false));
}
