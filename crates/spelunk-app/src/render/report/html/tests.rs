use proptest::prelude::*;

use super::*;
use crate::render::report::html::text::{escaped, prose};

#[test]
fn nothing_of_a_text_becomes_html() {
    let hostile = "<script>alert('1')</script> & \"quoted\" \u{1b}[31m \u{202e}txt.exe";
    assert_eq!(
        escaped(hostile),
        "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;quoted&quot; [31m \u{fffd}txt.exe"
    );
    let anchors = Anchors::from([("a.rs:3".to_owned(), "f1".to_owned())]);
    let written = "# <b>Title</b>\n\nSee (a.rs:3), `a.rs:3` and [x](javascript:alert(1)).\n\n- **<i>**\n\n<img src=x onerror=alert(1)>\n\n```\n</pre><script>\n```\n| <u> |\n";
    expect_test::expect![[r##"
        <h2>&lt;b&gt;Title&lt;/b&gt;</h2>
        <p>See (<a href="#f1">a.rs:3</a>), <code><a href="#f1">a.rs:3</a></code> and [x](javascript:alert(1)).</p>
        <ul class="list">
        <li class="d0"><span class="m">•</span><span><strong>&lt;i&gt;</strong></span></li>
        </ul>
        <p>&lt;img src=x onerror=alert(1)&gt;</p>
        <pre class="code">&lt;/pre&gt;&lt;script&gt;</pre>
        <div class="scroll"><table>
        <tr><th>&lt;u&gt;</th></tr>
        </table></div>
    "##]]
    .assert_eq(&prose(written, &anchors));
}

#[test]
fn the_list_of_findings_is_shown_once() {
    let text = "## Summary\n\nA.\n\n## Per-File Findings\n\n### a.rs (code)\n\n- x\n\n## Coverage\n\n- all\n";
    assert_eq!(without_listing(text), "## Summary\n\nA.\n\n## Coverage\n\n- all\n");
}

/// HTML tags that the renderer itself writes.
const OWN: [&str; 30] = [
    "<p>",
    "</p>",
    "<h2>",
    "</h2>",
    "<h3>",
    "</h3>",
    "<h4>",
    "</h4>",
    "<h5>",
    "</h5>",
    "<ul class=\"list\">",
    "</ul>",
    "<span class=\"m\">",
    "<span>",
    "</span>",
    "</li>",
    "<blockquote>",
    "</blockquote>",
    "<pre class=\"code\">",
    "</pre>",
    "<code>",
    "</code>",
    "<strong>",
    "</strong>",
    "<hr>",
    "<tr>",
    "</tr>",
    "<th>",
    "</th>",
    "<td>",
];

proptest! {
    #[test]
    fn no_text_brings_html_of_its_own(text in "[a-z<>/&\"'=#*`|. \n-]{0,80}") {
        let mut html = prose(&text, &Anchors::new());
        for tag in OWN {
            html = html.replace(tag, "");
        }
        for tag in ["</td>", "<div class=\"scroll\"><table>", "</table></div>"] {
            html = html.replace(tag, "");
        }
        for depth in 0..=4 {
            html = html.replace(&format!("<li class=\"d{depth}\">"), "");
        }
        prop_assert!(!html.contains(['<', '>', '"', '\'']), "{html}");
    }
}
