#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests place hostile files by hand")]

use std::os::unix::fs::symlink;

use super::*;

struct Stage {
    dir: tempfile::TempDir,
    user: UserState,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home").display().to_string();
        let user = UserState::of(&Environment::from([("HOME", home.as_str())]));
        Self { dir, user }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("project/.spelunk")
    }

    fn why(&self, root: &Path) -> String {
        match self.user.open(root, ChosenBy::Location) {
            Ok(_) => "trusted".to_owned(),
            Err(failure) => failure.0.to_string().replace(self.dir.path().to_str().unwrap(), "DIR"),
        }
    }
}

const STRANGE: &str = "the workspace `DIR/project/.spelunk` is not trusted: you did not create it on this machine, so it may \
                       have come with the files around it";

#[test]
fn a_workspace_that_was_made_here_is_trusted_and_stays_so() {
    let stage = Stage::new();
    stage.user.open(&stage.root(), ChosenBy::Location).unwrap();
    stage.user.open(&stage.root(), ChosenBy::Location).unwrap();
    assert_eq!(stage.user.distrust(&stage.root(), ChosenBy::Location).unwrap(), None);
    // Another spelling of the same path is the same workspace.
    let spelled = stage.dir.path().join("project/../project/.spelunk");
    assert_eq!(stage.user.distrust(&spelled, ChosenBy::Location).unwrap(), None);
    // Deleted and created again, it is trusted again.
    std::fs::remove_dir_all(stage.root()).unwrap();
    stage.user.open(&stage.root(), ChosenBy::Location).unwrap();
    assert_eq!(stage.why(&stage.root()), "trusted");
}

#[test]
fn a_workspace_that_came_with_a_repository_is_not_trusted() {
    let stage = Stage::new();
    // Somebody else's complete workspace; then one without its format file; then one that replaced ours.
    drop(Workspace::open(&stage.root()).unwrap());
    assert_eq!(stage.why(&stage.root()), STRANGE);
    std::fs::remove_file(stage.root().join("workspace.toml")).unwrap();
    assert_eq!(stage.why(&stage.root()), STRANGE);
    std::fs::remove_dir_all(stage.root()).unwrap();
    stage.user.open(&stage.root(), ChosenBy::Location).unwrap();
    std::fs::write(stage.root().join(ID_FILE), "0".repeat(64)).unwrap();
    assert_eq!(stage.why(&stage.root()), STRANGE);
    std::fs::write(stage.root().join(ID_FILE), "").unwrap();
    assert_eq!(stage.why(&stage.root()), STRANGE);
    // The user named it, so it may be used.
    stage.user.open(&stage.root(), ChosenBy::User).unwrap();
}

#[test]
fn what_a_crash_left_of_a_new_workspace_is_taken_up() {
    let stage = Stage::new();
    std::fs::create_dir_all(stage.root().join("tmp")).unwrap();
    std::fs::write(stage.root().join("tmp/0123456789abcdef"), "half").unwrap();
    stage.user.open(&stage.root(), ChosenBy::Location).unwrap();
    // Only the mark is left.
    for name in [".gitignore", "workspace.toml"] {
        std::fs::remove_file(stage.root().join(name)).unwrap();
    }
    stage.user.open(&stage.root(), ChosenBy::Location).unwrap();
    assert!(stage.root().join("workspace.toml").exists());
}

#[test]
fn a_copy_in_another_place_is_not_trusted() {
    let stage = Stage::new();
    stage.user.open(&stage.root(), ChosenBy::Location).unwrap();
    let moved = stage.dir.path().join("moved");
    std::fs::rename(stage.root(), &moved).unwrap();
    assert!(stage.why(&moved).contains("is not trusted"));
    assert!(stage.user.trust(&moved).unwrap());
    assert!(!stage.user.trust(&moved).unwrap());
    assert_eq!(stage.why(&moved), "trusted");
}

#[test]
fn a_linked_workspace_is_not_trusted_unless_the_user_names_it() {
    let stage = Stage::new();
    let elsewhere = stage.dir.path().join("elsewhere");
    stage.user.open(&elsewhere, ChosenBy::Location).unwrap();
    std::fs::create_dir(stage.dir.path().join("project")).unwrap();
    symlink(&elsewhere, stage.root()).unwrap();
    let link = "the workspace `DIR/project/.spelunk` is not trusted: it is a symbolic link";
    assert_eq!(stage.why(&stage.root()), link);
    assert!(stage.user.trust(&stage.root()).is_err());
    stage.user.open(&stage.root(), ChosenBy::User).unwrap();
    // Nor is one that would be created behind a link.
    std::fs::remove_file(stage.root()).unwrap();
    std::fs::create_dir(stage.dir.path().join("empty")).unwrap();
    symlink(stage.dir.path().join("empty"), stage.root()).unwrap();
    assert_eq!(stage.why(&stage.root()), link);
    std::fs::remove_file(stage.root()).unwrap();
    symlink(stage.dir.path().join("nowhere"), stage.root()).unwrap();
    assert_ne!(stage.why(&stage.root()), "trusted");
    assert!(!stage.dir.path().join("nowhere").exists());
}

#[test]
fn what_holds_a_link_cannot_be_trusted() {
    let stage = Stage::new();
    drop(Workspace::open(&stage.root()).unwrap());
    symlink("/etc", stage.root().join("blobs")).unwrap();
    let refused = stage.user.trust(&stage.root()).unwrap_err().0.to_string();
    assert!(refused.ends_with("`blobs` in it is a symbolic link or a special file"), "{refused}");
}

#[test]
fn without_a_home_a_new_workspace_is_used_and_an_old_one_is_not() {
    let stage = Stage { user: UserState::of(&Environment::default()), ..Stage::new() };
    stage.user.open(&stage.root(), ChosenBy::Location).unwrap();
    assert_eq!(
        stage.why(&stage.root()),
        "the workspace `DIR/project/.spelunk` is not trusted: Spelunk has no place to record that you created it"
    );
}

#[test]
fn keys_are_the_users_and_one_for_each_purpose() {
    let (stage, other) = (Stage::new(), Stage::new());
    let key = |stage: &Stage, purpose| stage.user.key(purpose, &stage.root(), ChosenBy::Location).unwrap();
    assert_eq!(key(&stage, CACHE), key(&stage, CACHE));
    assert_ne!(key(&stage, CACHE), key(&stage, TICKETS));
    assert_ne!(key(&stage, CACHE), key(&other, CACHE));
    let secret = stage.dir.path().join("home/.local/state/spelunk/workspace.secret");
    let mode = std::os::unix::fs::PermissionsExt::mode(&secret.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    // A named workspace keeps its own secret, whichever home directory is set.
    let named = |user: &UserState| user.key(CACHE, &stage.root(), ChosenBy::User).unwrap();
    assert_eq!(named(&stage.user), named(&UserState::of(&Environment::default())));
    assert_ne!(named(&stage.user), key(&stage, CACHE));
}

#[test]
fn many_processes_that_begin_at_once_agree() {
    let stage = Stage::new();
    let keys = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                stage
                    .user
                    .open(&stage.root(), ChosenBy::Location)
                    .map_err(|failure| failure.0.to_string())
                    .unwrap();
                keys.lock().unwrap().push(stage.user.key(CACHE, &stage.root(), ChosenBy::Location).unwrap());
            });
        }
    });
    let keys = keys.into_inner().unwrap();
    assert!(keys.iter().all(|key| key == &keys[0]));
}
