//! Machines that share a work folder: what tells them that they have the same frames.

use sinew_bake::vat::{VatJob, VatSettings, scan};
use sinew_bake::{Chunk, FileFrames, Watch};
use std::path::Path;
use std::time::{Duration, SystemTime};

const FRAMES: usize = 4;

fn write(path: &Path, height: f32, written: SystemTime) {
    let text = format!("v 0 0 0\nv 1 0 0\nv 0 {height:.3} 0\nf 1 2 3\n");
    std::fs::write(path, text).expect("written");
    let file = std::fs::File::options().write(true).open(path);
    file.expect("there").set_modified(written).expect("a time");
}

fn source(folder: &Path) -> FileFrames {
    FileFrames::new(sinew_io::find_sequence(folder).expect("a sequence"), false)
}

fn sequence(folder: &Path, written: SystemTime) -> FileFrames {
    std::fs::create_dir_all(folder).expect("a folder");
    for f in 0..FRAMES {
        let path = folder.join(format!("leaf_{f:02}.obj"));
        write(&path, 1.0 + f as f32, written);
    }
    source(folder)
}

#[test]
fn copies_are_the_same_frames_and_other_bytes_of_the_same_size_and_time_are_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let (here, there) = (folder.path().join("a/leaf"), folder.path().join("b/leaf"));
    let work = folder.path().join("work");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let settings = VatSettings::default();
    let first = sequence(&here, long_ago);
    let job = VatJob::begin(&work, &first, &settings).expect("begun");
    assert_eq!(job.replaced(), None, "an empty folder");
    scan(&job, &first, Chunk::ALL, &Watch::NOBODY).expect("scanned");
    let copied = sequence(&there, long_ago + Duration::from_secs(77));
    let job = VatJob::begin(&work, &copied, &settings).expect("begun");
    assert_eq!(job.replaced(), None, "the same bytes, written later");
    write(&here.join("leaf_02.obj"), 7.0, long_ago);
    let changed = source(&here);
    let job = VatJob::begin(&work, &changed, &settings).expect("begun");
    assert_eq!(job.replaced(), Some("other content of frame 2"));
    let other = VatSettings {
        crease_degrees: 12.0,
        ..settings
    };
    let job = VatJob::begin(&work, &changed, &other).expect("begun");
    assert_eq!(job.replaced(), Some("other settings (crease_degrees)"));
    std::fs::remove_file(here.join("leaf_03.obj")).expect("removed");
    let job = VatJob::begin(&work, &source(&here), &other).expect("begun");
    assert_eq!(job.replaced(), Some("4 frames"));
}

/// Windows takes `con.glb` for a device; what is long is not printed whole.
#[test]
fn names_that_files_cannot_have_are_refused_in_a_few_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = sequence(&folder.path().join("leaf"), SystemTime::now());
    let begun = |name: &str| {
        let settings = VatSettings {
            name: Some(name.into()),
            ..VatSettings::default()
        };
        VatJob::begin(&folder.path().join("work"), &source, &settings).map_err(|e| e.to_string())
    };
    for device in ["con", "PRN", "Aux", "nul", "com1", "LPT9", "com\u{b9}"] {
        let error = begun(device).expect_err("a device");
        let part = format!("name is '{device}', expected another name: Windows keeps");
        assert!(error.starts_with(&part), "{error}");
    }
    let error = begun(&"x".repeat(5000)).expect_err("too long");
    assert!(
        error.len() < 150 && error.contains("..' of 5000 bytes"),
        "{error}"
    );
    for fine in ["console", "con1", "com", "com10", "lpt_1"] {
        assert!(begun(fine).is_ok(), "{fine}");
    }
}
