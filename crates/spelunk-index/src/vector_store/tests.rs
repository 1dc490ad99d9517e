use super::*;
use crate::testing::scratch;

fn unit(angle: f32) -> Quantised {
    Quantised::of(&[angle.cos(), angle.sin()])
}

#[test]
fn rows_are_found_again_after_a_reopen_and_what_was_not_committed_is_gone() {
    let directory = scratch();
    let rows = Rows::new(directory.path().join("v"), 2, 0);
    let mut appender = rows.append().unwrap();
    for (idx, angle) in [0.0, 1.0, 2.0].into_iter().enumerate() {
        assert_eq!(
            appender.add(&key_of("m", &idx.to_string()), &unit(angle)).unwrap(),
            Some(u32::try_from(idx).unwrap())
        );
    }
    appender.sync().unwrap();
    // The third was not in the commit.
    let rows = Rows::new(directory.path().join("v"), 2, 2);
    assert_eq!(rows.load_keys().unwrap(), HashMap::from([(key_of("m", "0"), 0), (key_of("m", "1"), 1)]));
    let mut appender = rows.append().unwrap();
    assert_eq!(appender.add(&key_of("m", "x"), &unit(-1.0)).unwrap(), Some(2));
    appender.sync().unwrap();
    let rows = appender.rows().clone();
    assert_eq!(rows.read(2).unwrap(), Some(unit(-1.0)));
    assert_eq!(rows.read(3).unwrap(), None);
    let near = rows.scan(&unit(0.9), &|_| true, 2).unwrap();
    assert_eq!(near.iter().map(|near| near.row).collect::<Vec<_>>(), [1, 0]);
    assert!((near[0].similarity - 0.1_f32.cos()).abs() < 0.01);
    let near = rows.scan(&unit(0.9), &|row| row == 2, 2).unwrap();
    assert_eq!(near.iter().map(|near| near.row).collect::<Vec<_>>(), [2]);
}

#[test]
fn equally_near_rows_come_in_the_order_they_were_added() {
    let directory = scratch();
    let mut appender = Rows::new(directory.path().join("v"), 2, 0).append().unwrap();
    for idx in 0..20_u32 {
        appender.add(&key_of("m", &idx.to_string()), &unit(0.5)).unwrap();
    }
    appender.sync().unwrap();
    let near = appender.rows().scan(&unit(0.5), &|_| true, 5).unwrap();
    assert_eq!(near.iter().map(|near| near.row).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn a_file_that_ends_too_soon_is_an_error() {
    let directory = scratch();
    let mut appender = Rows::new(directory.path().join("v"), 2, 0).append().unwrap();
    appender.add(&key_of("m", "a"), &unit(0.5)).unwrap();
    appender.sync().unwrap();
    let rows = Rows::new(directory.path().join("v"), 2, 9);
    assert!(rows.scan(&unit(0.5), &|_| true, 5).is_err());
    assert_eq!(rows.read(5).unwrap(), None);
}
