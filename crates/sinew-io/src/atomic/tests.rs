//! Tests of files that appear whole.

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let mut all: Vec<String> = std::fs::read_dir(folder)
        .expect("folder")
        .map(|e| e.expect("entry").file_name().to_string_lossy().into_owned())
        .collect();
    all.sort();
    all
}

#[test]
fn nothing_is_left_without_commit() {
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("a.bin");
    std::fs::write(&path, b"old").expect("write");
    let mut file = AtomicFile::create(&path).expect("create");
    file.put(b"new").expect("put");
    drop(file);
    assert_eq!(std::fs::read(&path).expect("read"), b"old");
    assert_eq!(names(dir.path()), ["a.bin"]);
    let mut file = AtomicFile::create(&path).expect("create");
    file.put(b"new").expect("put");
    file.commit().expect("commit");
    assert_eq!(std::fs::read(&path).expect("read"), b"new");
    assert_eq!(names(dir.path()), ["a.bin"]);
}

#[test]
fn folders_appear_on_commit() {
    let dir = tempfile::tempdir().expect("temp");
    let folder = dir.path().join("frames");
    let mut set = AtomicDir::create(&folder).expect("create");
    std::fs::write(set.stage("a_1").expect("name"), b"1").expect("write");
    assert!(!folder.exists(), "not before commit");
    assert!(set.stage("../b").is_err(), "stays in its folder");
    set.commit().expect("commit");
    assert_eq!(names(&folder), ["a_1"]);
    let mut set = AtomicDir::create(&folder).expect("create");
    std::fs::write(set.stage("a_2").expect("name"), b"2").expect("write");
    drop(set);
    assert_eq!(names(&folder), ["a_1"], "dropped without a trace");
    assert_eq!(names(dir.path()), ["frames"]);
}

#[test]
fn missing_folder_is_an_error_with_the_path() {
    let error = AtomicFile::create(Path::new("/no/such/folder/x.glb")).expect_err("no folder");
    let expected = "cannot write /no/such/folder/x.glb: there is no folder /no/such/folder";
    assert_eq!(error.to_string(), expected);
    let error = AtomicDir::create(Path::new("/no/such/folder/frames")).expect_err("no folder");
    let expected = "cannot write /no/such/folder/frames: there is no folder /no/such/folder";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn files_of_an_earlier_result_go_when_the_new_one_is_there() {
    let dir = tempfile::tempdir().expect("temp");
    for old in ["a.png", "a.exr", "a.json"] {
        std::fs::write(dir.path().join(old), b"old").expect("write");
    }
    let mut set = AtomicDir::create(dir.path()).expect("create");
    for name in ["a.png", "a.exr", "never_there", "../outside"] {
        set.retire(name);
    }
    std::fs::write(set.stage("a.png").expect("name"), b"new").expect("write");
    assert!(dir.path().join("a.exr").exists(), "not before commit");
    set.commit().expect("commit");
    assert_eq!(names(dir.path()), ["a.json", "a.png"]);
    assert_eq!(
        std::fs::read(dir.path().join("a.png")).expect("read"),
        b"new"
    );
}

#[test]
fn a_file_is_no_folder() {
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("taken");
    std::fs::write(&path, b"").expect("write");
    let error = AtomicDir::create(&path).expect_err("a file");
    assert!(error.to_string().contains("taken: not a folder"), "{error}");
}
