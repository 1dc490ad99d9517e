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
    let rows = appender.rows.clone();
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
    let near = appender.rows.scan(&unit(0.5), &|_| true, 5).unwrap();
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

/// Sixteen numbers that depend on this one.
fn scattered(seed: u32) -> Quantised {
    let numbers: Vec<f32> = (0..16_u32)
        .map(|idx| {
            let hash = seed.wrapping_mul(0x9e37_79b9).wrapping_add(idx).wrapping_mul(0x85eb_ca6b);
            f32::from(u16::try_from((hash ^ hash >> 15) & 0xffff).unwrap()) - 32_768.0
        })
        .collect();
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    Quantised::of(&numbers.iter().map(|number| number / length).collect::<Vec<_>>())
}

/// A complete file has signs. Without them, as in an index of an earlier version, the rows themselves are compared.
#[test]
fn the_nearest_by_signs_are_the_nearest_by_numbers() {
    let directory = scratch();
    let path = directory.path().join("v");
    let mut appender = Rows::new(path.clone(), 16, 0).append().unwrap();
    for seed in 0..SHARD_ROWS + 100 {
        appender.add(&key_of("m", &seed.to_string()), &scattered(seed)).unwrap();
    }
    appender.sync().unwrap();
    let rows = appender.rows.clone();
    assert_eq!(rows.file_names().filter(|name| path.join(name).exists()).count(), 5);
    let is_even = |row: u32| row.is_multiple_of(2);
    let nearest = |query: u32| rows.scan(&scattered(query), &is_even, 10).unwrap();
    let by_signs: Vec<_> = [7, 65_600, 1_000_000].map(nearest).into_iter().collect();
    files::remove(&path.join("signs-00000.bin")).unwrap();
    let exact: Vec<_> = [7, 65_600, 1_000_000].map(nearest).into_iter().collect();
    assert_eq!(by_signs, exact);
    assert!(exact[1].iter().any(|near| near.row == 65_600), "a row of the file that is not complete");
    // They are written again before anything is added.
    rows.append().unwrap();
    assert!(path.join("signs-00000.bin").exists());
    assert_eq!(nearest(7), exact[0]);
}
