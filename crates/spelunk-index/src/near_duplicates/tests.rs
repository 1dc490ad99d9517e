use super::*;

#[test]
fn a_changed_date_is_the_same_and_a_changed_subject_is_not() {
    let page = "Copyright 2019 the authors. Permission is hereby granted, free of charge, to any person obtaining a copy \
                of this software and associated documentation files, to deal in the software without restriction";
    let near = |a: &str, b: &str| Gist::of(a).is_near(&Gist::of(b));
    assert!(near(page, &page.replace("2019", "2026")));
    assert!(!near(
        page,
        &page.replace("software", "soap").replace("granted", "refused").replace("files", "fees")
    ));
    assert!(!near(page, page.get(..100).unwrap()));
    assert!(!near("a b c", "a b c"), "too short to tell");
}
