use proptest::prelude::*;

use super::*;

#[track_caller]
fn check_html(html: &str, expected: &str) {
    check(ExtractKind::Html, html.as_bytes(), expected);
}

#[test]
fn a_page_becomes_markdown() {
    check_html(
        "<!DOCTYPE html><html><head><title>The  Title</title><style>p{color:red}</style>\n\
         <script>if (a < b) document.write('<p>no</p>')</script></head>\n\
         <body><h1>One</h1><p>First <b>bold</b>,\n   then <a href=\"x>y\">a link</a>.</p>\
         <ul><li>eggs<li>milk</ul><h3>Three</h3><pre>  keep\n    this</pre>\
         <table><tr><th>a<th>b</tr><tr><td>1</td><td>2</td></tr></table><!-- <p>gone</p> -->end</body></html>",
        "The Title\n\n# One\n\nFirst bold, then a link.\n\n- eggs\n- milk\n\n### Three\n\n  keep\n    this\n\na\tb\n1\t2\n\nend\n",
    );
}

#[test]
fn words_are_joined_and_parted_as_a_browser_would() {
    check_html("a<b>b</b>c <i> d </i> e", "abc d e\n");
    check_html("one<br>two<br/>three", "one\ntwo\nthree\n");
    check_html("1 < 2 && 3 > 2", "1 < 2 && 3 > 2\n");
    check_html("<img src=a.png alt='a cat'>sat", "a cat sat\n");
}

#[test]
fn entities_become_characters_and_unknown_ones_stay() {
    check_html("&lt;p&gt; &amp; &quot;x&quot; &#228;&#x20AC; &mdash;", "<p> & \"x\" ä€ —\n");
    check_html("a&nbsp;b &unknown; &; &#0; &#xFFFFFFFF; AT&T", "a b &unknown; &; &#0; &#xFFFFFFFF; AT&T\n");
}

#[test]
fn broken_pages_end_somewhere() {
    check_html("a<p", "a\n");
    check_html("a<!-- never closed", "a\n");
    check_html("a<script>never closed", "a\n");
    check_html("a<p title=\"never closed>b", "a\n");
    check_html("</p></h1>x</", "x</\n");
}

#[test]
fn a_page_without_words_has_no_text() {
    assert_eq!(extract(ExtractKind::Html, b"<html><body><p> </p></body></html>"), Err(ExtractError::NoText));
}

#[test]
fn a_page_of_nothing_but_openings_takes_no_longer_than_it_is_long() {
    for piece in ["<", "&", "<!--", "</", "<script", "<a b=\"", "</script><script>"] {
        drop(extract(ExtractKind::Html, piece.repeat(300_000).as_bytes()));
    }
}

proptest! {
    #[test]
    fn any_page_is_survived(page in "[<>/!a-c&;#x0-9\"'= \n-]{0,80}") {
        drop(extract(ExtractKind::Html, page.as_bytes()));
    }
}
