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
fn missing_folders_are_made_and_go_where_nothing_comes() {
    let dir = tempfile::tempdir().expect("temp");
    let at = |name: &str| dir.path().join(name);
    drop(AtomicFile::create(&at("a/b/x.bin")).expect("made"));
    drop(AtomicDir::create(&at("a/b/frames")).expect("made"));
    assert!(names(dir.path()).is_empty(), "nothing came into them");
    let mut file = AtomicFile::create(&at("a/b/x.bin")).expect("made");
    file.put(b"1").expect("put");
    file.commit().expect("commit");
    let mut set = AtomicDir::create(&at("c/d/frames")).expect("made");
    std::fs::write(set.stage("f").expect("name"), b"1").expect("write");
    set.commit().expect("commit");
    assert!(at("a/b/x.bin").is_file() && at("c/d/frames/f").is_file());
}

#[test]
fn places_that_cannot_be_written_are_known_before() {
    let dir = tempfile::tempdir().expect("temp");
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("taken"), b"").expect("write");
    std::fs::create_dir(at("folder")).expect("made");
    let told = |found: Result<(), IoError>| found.expect_err("refused").to_string();
    for path in [at("taken/x.bin"), at("taken/new/x.bin")] {
        let expected = format!("{} is not a folder", at("taken").display());
        assert!(told(Writability::default().file(&path)).contains(&expected));
        assert!(told(Writability::default().folder(&path)).contains(&expected));
        assert!(AtomicFile::create(&path).is_err() && AtomicDir::create(&path).is_err());
    }
    assert!(told(Writability::default().file(&at("folder"))).contains("a folder, expected a file"));
    for path in ["x.bin", "new/x.bin", "folder/x.bin"] {
        Writability::default()
            .file(&at(path))
            .expect("can be written");
    }
    assert_eq!(names(dir.path()), ["folder", "taken"], "nothing is made");
}

/// The file that tells of the others is the last of the new ones, and never stands beside those of another set.
#[test]
fn the_file_that_tells_of_the_others_is_away_meanwhile() {
    let dir = tempfile::tempdir().expect("temp");
    for old in ["a.png", "z.json"] {
        std::fs::write(dir.path().join(old), b"old").expect("write");
    }
    let staged = |names: &[&str]| {
        let mut set = AtomicDir::create(dir.path()).expect("create");
        for new in names {
            std::fs::write(set.stage(new).expect("name"), b"new").expect("write");
        }
        set.tells("z.json");
        set
    };
    std::fs::create_dir(dir.path().join("taken")).expect("made");
    let error = staged(&["z.json", "a.png", "taken"]).commit();
    error.expect_err("a folder is in the way");
    let old = std::fs::read(dir.path().join("a.png")).expect("read");
    assert_eq!(
        (names(dir.path()), &old[..]),
        (
            ["a.png", "taken", "z.json"].map(str::to_owned).into(),
            &b"old"[..]
        )
    );
    // The set ends halfway: this file was never written.
    let mut set = staged(&["z.json", "a.png"]);
    set.stage("missing").expect("name");
    set.commit().expect_err("not there");
    assert_eq!(names(dir.path()), ["a.png", "taken"]);
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
    assert!(
        error.to_string().contains("taken: it is not a folder"),
        "{error}"
    );
}
